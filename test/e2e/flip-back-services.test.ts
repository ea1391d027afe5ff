import { expect, test } from 'vitest'
import { differencesOf, progress, startLoad } from './load.ts'
import { describeOnServices } from './on-services.ts'
import { client, fiveAm, newToken, run, startServer, runOk, until } from './program.ts'
import type { Env } from './program.ts'

interface Row {
  readonly generation: number
  readonly state: string
  readonly lag: number
}

const generation = async (env: Env, number: number): Promise<Row | undefined> =>
  (await runOk(['generations', 'meals', '--json'], env))
    .split('\n')
    .map((line) => JSON.parse(line) as Row)
    .find((row) => row.generation === number)

const PROCESSOR = ['--roles', 'processor,sender,timers']

describeOnServices(
  'back to an older release on Kafka and DynamoDB Local',
  (services) => {
    test('under load a newer release serves, the older one is stopped, started again, catches up and serves after a flip back', async () => {
      const env = services.env({ TRIBUTARY_KAFKA_PARTITIONS: '2' })
      const older = { edge: await startServer(env, ['--roles', 'edge']), processor: await startServer(env, PROCESSOR) }
      const tokens = [await newToken(env, 'ann'), await newToken(env, 'bob')]
      let edge = older.edge
      const load = startLoad({ url: () => edge.url, tokens, connections: 3 })
      const more = (acks: number) => progress(load, edge, acks)
      await more(20)

      const newer = {
        edge: await startServer(fiveAm(env), ['--roles', 'edge']),
        processor: await startServer(fiveAm(env), PROCESSOR),
      }
      expect(newer.processor.stderr()).toContain('To build its generation and serve it: tributary rebuild meals')
      await runOk(['rebuild', 'meals', '--yes'], fiveAm(env))
      await more(20)
      edge = newer.edge
      expect(await Promise.all([older.edge.stop(), older.processor.stop()]), older.edge.stderr()).toEqual([0, 0])
      await more(40)
      expect(await generation(fiveAm(env), 1)).toMatchObject({ state: 'standing' })
      expect(await run(['flip', 'meals', '--to', '1'], fiveAm(env))).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /generation-unfollowed: .*Run tributary start \(role processor\) of the release with fold version 1, then repeat this command/,
        ),
      })

      const again = await startServer(env)
      expect(again.stderr()).toContain(
        'meals: generation 2 serves with fold version 2; this release has version 1, and its processors follow generation 1. To serve that one: tributary flip meals --to 1',
      )
      const sharer = client(
        again.url,
        await runOk(['token', 'create', '--user', 'ann', '--domain', 'expenses', '--scopes', 'read,write'], env),
      )
      expect((await sharer.get('/api/groups')).status).toBe(200)
      await until(async () => (await generation(fiveAm(env), 1))?.state === 'following', again.stderr, 120_000)
      expect(await runOk(['flip', 'meals', '--to', '1'], fiveAm(env))).toContain('generation 1 of meals serves')
      await more(20)
      edge = again
      expect(await Promise.all([newer.edge.stop(), newer.processor.stop()])).toEqual([0, 0])
      await more(20)

      await load.stop()
      await load.settle(() => edge.url)
      expect(load.unexpected).toEqual([])
      expect(await differencesOf(load, { url: () => edge.url, tokens })).toEqual([])
      expect(await generation(env, 1)).toMatchObject({ state: 'serving' })
      expect(await run(['verify', 'meals', '--json'], env)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('"differences":[]'),
      })
      expect(await again.stop()).toBe(0)
    }, 600_000)
  },
  { long: true },
)
