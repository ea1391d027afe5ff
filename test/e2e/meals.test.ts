import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { client, freshFolder, meal, newToken, run, sharedServer, startServer, runOk, statusOf } from './program.ts'

/** Writes rows of an older table to a file, and returns the path. */
const olderRows = (): string => {
  const file = join(freshFolder(), 'old.ndjson')
  const rows = [
    {
      PK: 'USER#old',
      SK: 'MEAL#2024-03-01T12:00:00.000Z#a1',
      MealSummary: 'Soup',
      Calories: 300,
      Protein: 10,
      Carbs: 20,
      Fat: 5,
      UserDate: '2024-03-01',
    },
    {
      Item: {
        PK: { S: 'USER#old' },
        SK: { S: 'MEAL#2024-03-01T18:00:00.000Z#a2' },
        mealSummary: { S: 'Stew' },
        calories: { N: '500.5' },
        protein: { N: '30' },
        carbs: { N: '40' },
        fat: { N: '15' },
        userDate: { S: '2024-03-01' },
      },
    },
    { PK: 'USER#old', SK: 'SUMMARY#2024-03-01', totalCalories: 1 },
  ]
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  return file
}

/** A server for the tests that only send requests and run commands. `made` contains the results of commands that ran before the server started. */
const shared = sharedServer(async (env) => ({
  token: await newToken(env, 'dan'),
  imported: await runOk(['import', 'meals', olderRows(), '--json'], env),
}))

describe('from a request to a day summary, embedded', { timeout: 120_000 }, () => {
  test('a posted meal is in the log, in its item and in the day', async () => {
    const { env, server } = await shared()
    const ann = client(server.url, await newToken(env, 'ann'))

    const posted = await ann.post('/v1/meals', meal(1))
    expect(posted.status).toBe(201)
    const event = posted.headers.get('tributary-event') ?? ''
    expect(event).toMatch(/^0:\d+:/)

    const read = await ann.get(`/v1/meals/${String(posted.body['id'])}`, { 'tributary-after': event })
    expect(read.body).toMatchObject({ mealSummary: 'Meal 1', calories: 100.125, protein: 10.125 })
    const summaries = await ann.get('/v1/summaries?from=2026-11-16&to=2026-11-16')
    expect(summaries.body['items']).toMatchObject([{ totalCalories: 100.125, mealCount: 1 }])

    const events = (await runOk(['events', '--json', '--key', 'ann'], env))
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string })
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['PatIssued', 'MealLogged']))
    expect(await statusOf(env)).toMatchObject({ domain: 'meals', generation: 1, parked: 0 })
  })

  test('all items exist after a stop and a start, and equal the fold of the log', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const first = await startServer(env)
    const token = await newToken(env, 'bob')
    for (let index = 0; index < 20; index += 1)
      expect((await client(first.url, token).post('/v1/meals', meal(index))).status).toBe(201)
    expect(await first.stop()).toBe(0)

    const verified = await run(['verify', 'meals', '--json'], env)
    expect(verified).toMatchObject({ code: 0 })
    expect(JSON.parse(verified.stdout)).toMatchObject({ domain: 'meals', differences: [] })

    const second = await startServer(env)
    const summaries = await client(second.url, token).get('/v1/summaries?from=2026-11-16&to=2026-11-16')
    expect(summaries.body['items']).toMatchObject([{ mealCount: 20 }])
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
    expect(await second.stop()).toBe(0)
  })

  test('a token works at once, is listed without its secret, and is rejected at once after its revocation', async () => {
    const { env, server } = await shared()
    const made = JSON.parse(await runOk(['token', 'create', '--user', 'cyd', '--name', 'phone', '--json'], env)) as {
      id: string
      token: string
    }
    const cyd = client(server.url, made.token)
    expect((await cyd.get('/v1/meals?day=2026-11-16')).status).toBe(200)
    const listed = await runOk(['token', 'list', '--json'], env)
    expect(listed).toContain(made.id)
    expect(listed).not.toContain(made.token)
    await runOk(['token', 'revoke', made.id], env)
    expect((await cyd.get('/v1/meals?day=2026-11-16')).status).toBe(401)
    expect(await run(['token', 'revoke', made.id], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('token-not-found'),
    })
  })

  test('commands work without a server, too', async () => {
    const { server, made } = await shared()
    expect((await client(server.url, made.token).post('/v1/meals', meal(3))).status).toBe(201)
  })

  test('the demo sends requests to the real edge, and the items equal the fold of its events', async () => {
    expect(await run(['demo'], { TRIBUTARY_DATA: freshFolder() })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no-server'),
    })
    const { env } = await shared()
    const demo = JSON.parse(await runOk(['demo', '--seconds', '2', '--rate', '60', '--json'], env)) as {
      requests: number
      failed: number
      statuses: Record<string, number>
    }
    expect(demo).toMatchObject({ requests: 120, failed: 0 })
    expect(demo.statuses['400'] ?? 0).toBe(0)
    expect(await run(['verify', '--key', 'demo-1-1'], env)).toMatchObject({ code: 0 })
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
  })

  test('rows of an older table become events, and a second import of the file changes nothing', async () => {
    const { env, server, made } = await shared()
    expect(JSON.parse(made.imported)).toMatchObject({ rows: 3, derived: 1, unreadable: [], visible: true })
    const old = client(server.url, await newToken(env, 'old'))
    const before = await old.get('/v1/summaries?from=2024-03-01&to=2024-03-01')
    expect(before.body['items']).toMatchObject([{ totalCalories: 800.5, mealCount: 2 }])
    await runOk(['import', 'meals', olderRows()], env)
    expect((await old.get('/v1/summaries?from=2024-03-01&to=2024-03-01')).body).toEqual(before.body)
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
  })

  test('a rebuild next to a running server serves when it is complete', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const server = await startServer(env)
    const eve = client(server.url, await newToken(env, 'eve'))
    for (let index = 0; index < 10; index += 1) await eve.post('/v1/meals', meal(index))
    const before = await eve.get('/v1/summaries?from=2026-11-01&to=2026-11-30')
    await runOk(['rebuild', 'meals', '--yes'], env)
    expect(await statusOf(env)).toMatchObject({ generation: 2, table: 'chatkcal.g2' })
    expect((await eve.post('/v1/meals', meal(10, '2026-12-01'))).status).toBe(201)
    expect((await eve.get('/v1/summaries?from=2026-11-01&to=2026-11-30')).body).toEqual(before.body)
    expect((await eve.get('/v1/meals?day=2026-12-01')).body['items']).toHaveLength(1)
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
    expect(await server.stop()).toBe(0)
  })
})
