import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeOnServices } from './on-services.ts'
import { client, withFailingFold, freshFolder, meal, newToken, run, startServer, until } from './program.ts'
import type { Client, Env, Server } from './program.ts'

const ROLES = ['--roles', 'processor,sender'] as const

const eat = async (who: Client, calories: readonly number[]): Promise<void> => {
  for (const [index, each] of calories.entries()) {
    const { status } = await who.post(
      '/v1/meals',
      { ...meal(1), eatenAt: `2026-11-16T12:${String(index).padStart(2, '0')}:00Z`, calories: each },
      { prefer: 'respond-async' },
    )
    expect(status).toBe(202)
  }
}
const day = async (who: Client): Promise<unknown> =>
  ((await who.get('/v1/summaries?from=2026-11-16&to=2026-11-16')).body['items'] as readonly object[])[0]
const codes = async (env: Env): Promise<readonly string[]> =>
  (await run(['parked', '--json'], env)).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { code: string }).code)

describeOnServices(
  'parked keys on Kafka and DynamoDB Local, with two processors',
  (services) => {
    test('healed once although a processor is killed in the middle; discarded on the record; an event that kills a process is parked by the next one', async () => {
      const env = services.env({ TRIBUTARY_KAFKA_PARTITIONS: '2', TRIBUTARY_KAFKA_SESSION_MS: '6000' })
      const edge = await startServer(env, ['--roles', 'edge'])
      let processors = [
        await startServer(withFailingFold(env, 'throw'), ROLES),
        await startServer(withFailingFold(env, 'throw'), ROLES),
      ]
      const [ann, bob, cyd] = [
        client(edge.url, await newToken(env, 'ann')),
        client(edge.url, await newToken(env, 'bob')),
        client(edge.url, await newToken(env, 'cyd')),
      ]
      await eat(ann, [50, 666, 100, 667, 200])
      await eat(bob, [10, 666, 20])
      await until(
        async () => (await codes(env)).length === 2,
        () => 'nothing is parked',
        120_000,
      )
      expect(await run(['parked', 'discard', 'bob', '--reason', 'a test', '--by', 'Ruth'], env)).toMatchObject({
        code: 0,
        stdout: '1 of 1 healed\n',
      })
      expect(await day(bob)).toMatchObject({ mealCount: 2, totalCalories: 30 })

      for (const each of processors) expect(await each.stop()).toBe(0)
      const dying = withFailingFold(env, `die ${join(freshFolder(), 'died')}`)
      processors = [await startServer(dying, ROLES), await startServer(dying, ROLES)]
      await until(
        async () => (await run(['parked', 'retry', 'ann'], env)).code === 0 || (await codes(env)).length === 0,
        () => 'not healed',
        120_000,
      )
      expect(await day(ann)).toMatchObject({ mealCount: 5, totalCalories: 50 + 666 + 100 + 667 + 200 })
      expect(await run(['verify'], env)).toMatchObject({ code: 0 })

      for (const each of processors) each.kill('SIGKILL')
      const killing = withFailingFold(env, 'kill')
      await eat(cyd, [5, 666, 7])
      let lives = 0
      const server = await (async (): Promise<Server> => {
        for (; lives < 8; lives += 1) {
          const next = await startServer(killing, ROLES).catch(() => undefined)
          if (next === undefined) continue
          const how = await Promise.race([
            next.ended,
            until(
              async () => (await codes(env)).length > 0,
              () => 'nothing is parked',
              90_000,
            ).then(
              () => 'parked',
              () => 'still',
            ),
          ])
          if (how === 'parked') return next
        }
        throw new Error(`it died ${lives} times`)
      })()
      expect(lives).toBeLessThanOrEqual(5)
      expect(await codes(env)).toEqual(['killed-the-process'])
      expect(await run(['verify'], env)).toMatchObject({ code: 0 })
      expect(await run(['parked', 'discard', 'cyd', '--reason', 'it kills', '--by', 'Ruth'], env)).toMatchObject({
        code: 0,
      })
      expect(await day(cyd)).toMatchObject({ mealCount: 2, totalCalories: 12 })
      expect(await run(['verify'], env)).toMatchObject({ code: 0 })
      expect(await server.stop()).toBe(0)
    }, 600_000)
  },
  { long: true },
)
