import { expect, test } from 'vitest'
import { metricOf } from './processes-under-load.ts'
import { expectedDays, progress, progressOnEveryKey, startLoad } from './load.ts'
import { describeOnOwnServices } from './on-services.ts'
import { longTest } from '../services/available.ts'
import { client, fiveAm, meal, newToken, run, startServer, runOk, until, statusOf } from './program.ts'
import { createSharedExpenses, readAnswers } from './shared-expenses.ts'

const SETTINGS = { TRIBUTARY_KAFKA_PARTITIONS: '4', TRIBUTARY_KAFKA_SESSION_MS: '6000' }

describeOnOwnServices('on Kafka and DynamoDB Local, with two processor processes', (services) => {
  longTest(
    'one killed and one paused for longer than its session: no acknowledged event is lost or doubled, and every item equals its fold',
    async () => {
      const env = services.env(SETTINGS)
      const edge = await startServer(env, ['--roles', 'edge'])
      const first = await startServer(env, ['--roles', 'processor,sender'])
      const second = await startServer(env, ['--roles', 'processor,sender'])
      const tokens: string[] = []
      for (const user of ['ann', 'bob', 'cyd', 'dan', 'eve', 'fay']) tokens.push(await newToken(env, user))
      const load = startLoad({ url: () => edge.url, tokens, connections: 6 })
      await progress(load, edge, 40)

      first.kill('SIGKILL')
      await first.ended
      await progress(load, edge, 40)
      const third = await startServer(env, ['--roles', 'processor,sender'])
      await progress(load, edge, 40)

      second.kill('SIGSTOP')
      // The other processor takes over the partitions after the session of the paused one. Progress on every key shows that this has happened.
      await progressOnEveryKey(load, edge, tokens.length)
      second.kill('SIGCONT')
      await progress(load, edge, 60)
      await load.stop()
      await load.settle(() => edge.url)
      expect(load.unexpected).toEqual([])

      for (const [user, expected] of expectedDays(load, { tokens }).entries()) {
        const summaries = await client(edge.url, tokens[user] ?? '').get('/v1/summaries?from=2026-11-16&to=2026-11-16')
        const [day] = summaries.body['items'] as readonly { mealCount: number; totalCalories: number }[]
        expect({ meals: day?.mealCount, milliCalories: Math.round((day?.totalCalories ?? 0) * 1000) }).toEqual(expected)
      }
      expect(await run(['verify'], env)).toMatchObject({ code: 0 })
      expect(await statusOf(env)).toMatchObject({ domain: 'meals', lagEvents: 0, parked: 0 })
      expect(
        (await metricOf(second, 'tributary_write_units_total')) +
          (await metricOf(third, 'tributary_write_units_total')),
      ).toBeGreaterThan(0)
      expect(await Promise.all([edge.stop(), second.stop(), third.stop()])).toEqual([0, 0, 0])
    },
    300_000,
  )

  longTest(
    'a rebuild is listed next to the serving generation, followed by the running processors, and then serves',
    async () => {
      const env = services.env(SETTINGS)
      const server = await startServer(env)
      const gil = client(server.url, await newToken(env, 'gil'))
      for (let index = 0; index < 5; index += 1)
        expect(
          (
            await gil.post('/v1/meals', {
              mealSummary: `M ${index}`,
              eatenAt: '2026-11-16T12:00:00Z',
              tz: 'UTC',
              calories: index,
              protein: 0,
              carbs: 0,
              fat: 0,
            })
          ).status,
        ).toBe(201)
      expect((await gil.post('/v1/meals', { ...meal(0), eatenAt: '2026-11-16T04:30:00Z' })).status).toBe(201)
      const before = await gil.get('/v1/summaries?from=2026-11-16&to=2026-11-16')

      expect(await run(['rebuild', 'meals', '--diff'], env)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('no item and no decision changes'),
      })
      const changed = await run(['rebuild', 'meals', '--diff', '--json'], fiveAm(env))
      expect(changed.code).toBe(3)
      const report = JSON.parse(changed.stdout) as { readonly generation: number; readonly kinds: readonly unknown[] }
      expect(report.kinds).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ kind: 'meal', changed: 1, fields: { userDate: 1 } }),
          expect.objectContaining({ kind: 'day summary', added: 1, removed: 0, changed: 1 }),
        ]),
      )
      await runOk(['generations', 'meals', '--drop', String(report.generation), '--yes'], env)

      const { generation } = JSON.parse(await runOk(['rebuild', 'meals', '--yes', '--json'], env)) as {
        generation: number
      }
      await until(
        async () =>
          ((await (await fetch(`${server.admin}/v1/tables`)).json()) as { meals: { generation: number } }).meals
            .generation === generation,
        () => server.stderr(),
      )
      expect((await gil.get('/v1/summaries?from=2026-11-16&to=2026-11-16')).body).toEqual(before.body)
      expect(
        (
          await gil.post('/v1/meals', {
            mealSummary: 'after',
            eatenAt: '2026-11-17T12:00:00Z',
            tz: 'UTC',
            calories: 1,
            protein: 0,
            carbs: 0,
            fat: 0,
          })
        ).status,
      ).toBe(201)
      expect(await run(['verify'], env)).toMatchObject({ code: 0 })
      expect(await server.stop()).toBe(0)
    },
    180_000,
  )

  test('E44 shared expenses are the same after a killed processor, a rebuild and a flip, and exact beyond the range of a double', async () => {
    const env = services.env(SETTINGS)
    const edge = await startServer(env, ['--roles', 'edge'])
    const first = await startServer(env, ['--roles', 'processor,sender'])
    const shared = await createSharedExpenses(env, edge.url)
    const before = await readAnswers(shared, edge.url)
    first.kill('SIGKILL')
    await first.ended
    const second = await startServer(env, ['--roles', 'processor,sender'])
    const { generation } = JSON.parse(await runOk(['rebuild', 'expenses', '--yes', '--json'], env)) as {
      generation: number
    }
    await until(
      async () =>
        ((await (await fetch(`${edge.admin}/v1/tables`)).json()) as { expenses: { generation: number } }).expenses
          .generation === generation,
      () => edge.stderr(),
    )
    expect(await readAnswers(shared, edge.url)).toEqual(before)
    expect(await run(['verify', 'expenses'], env)).toMatchObject({ code: 0 })
    expect(await Promise.all([edge.stop(), second.stop()])).toEqual([0, 0])
  }, 300_000)

  test('an outage of Kafka is reported, and ends without a restart of the program', async () => {
    const env = services.env(SETTINGS)
    const server = await startServer(env)
    const token = await newToken(env, 'hal')
    const load = startLoad({ url: () => server.url, tokens: [token], connections: 2 })
    await progress(load, server, 10)
    await services.kafka.node(0).kill()
    await until(
      async () => (await fetch(`${server.admin}/readyz`)).status === 503,
      () => 'it went on being ready without a log',
    )
    await services.kafka.node(0).start()
    await progress(load, server, 20)
    await until(
      async () => (await fetch(`${server.admin}/readyz`)).ok,
      () => `not ready again: ${server.stderr()}`,
    )
    await load.stop()
    await load.settle(() => server.url)
    expect(load.unexpected).toEqual([])
    const summaries = await client(server.url, token).get('/v1/summaries?from=2026-11-16&to=2026-11-16')
    expect(summaries.body['items']).toMatchObject([{ mealCount: load.acked.size }])
    expect(await server.stop()).toBe(0)
  }, 240_000)
})
