import { expect, test } from 'vitest'
import { client, fiveAm, freshFolder, newToken, run, startServer, runOk, statusOf } from './program.ts'

const eaten = (mealSummary: string, eatenAt: string, calories: number) => ({
  mealSummary,
  eatenAt,
  tz: 'Europe/Berlin',
  calories,
  protein: 10,
  carbs: 20,
  fat: 5,
})

test('a day rule of 5 AM instead of 4 AM is shown item by item before the flip, and then serves', async () => {
  const env = { TRIBUTARY_DATA: freshFolder() }
  const server = await startServer(env)
  const ann = client(server.url, await newToken(env, 'ann'))
  for (const [summary, at, calories] of [
    ['Supper', '2026-11-14T20:00:00+01:00', 650],
    ['Late toast', '2026-11-15T04:30:00+01:00', 180],
    ['Oats', '2026-11-16T04:15:00+01:00', 300],
  ] as const) {
    expect((await ann.post('/v1/meals', eaten(summary, at, calories))).status).toBe(201)
  }

  const nothing = await run(['rebuild', 'meals', '--diff'], env)
  expect(nothing).toMatchObject({ code: 0, stdout: expect.stringContaining('no item and no decision changes') })
  expect((await runOk(['generations', 'meals', '--json'], env)).split('\n')).toHaveLength(1)

  const shown = await run(['rebuild', 'meals', '--diff', '--json'], fiveAm(env))
  expect(shown.code).toBe(3)
  const report = JSON.parse(shown.stdout) as {
    generation: number
    kinds: readonly { kind: string }[]
    sample: readonly unknown[]
  }
  expect(report).toMatchObject({
    generation: 3,
    foldVersion: 2,
    against: { generation: 1, foldVersion: 1 },
    decisions: { changed: 0 },
    moving: 0,
    differs: true,
  })
  expect(report.kinds).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'meal', changed: 2, same: 1, fields: { userDate: 2 } }),
      expect.objectContaining({ kind: 'day summary', added: 0, removed: 1, changed: 2 }),
      expect.objectContaining({ kind: 'token', same: 1, changed: 0 }),
    ]),
  )
  expect(report.sample).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        kind: 'meal',
        change: 'changed',
        fields: [{ field: 'userDate', before: '2026-11-15', after: '2026-11-14' }],
      }),
      expect.objectContaining({ kind: 'day summary', SK: 'SUMMARY#2026-11-16', change: 'removed' }),
    ]),
  )

  // The new generation does not serve yet. It already folds new events.
  expect(await statusOf(env)).toMatchObject({ generation: 1, foldVersion: 1 })
  expect((await ann.get('/v1/summaries?from=2026-11-14&to=2026-11-16')).body['items']).toHaveLength(3)
  expect((await ann.post('/v1/meals', eaten('Brunch', '2026-11-16T11:00:00+01:00', 400))).status).toBe(201)
  const again = await run(['rebuild', 'meals', '--diff', '--sample', '1'], fiveAm(env))
  expect(again).toMatchObject({ code: 3, stdout: expect.stringContaining('a sample of 1') })
  expect(await run(['flip', 'meals', '--to', '3'], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('generation-unfinished'),
  })
  expect(await server.stop()).toBe(0)

  const served = await run(['rebuild', 'meals', '--resume', '--yes', '--json'], fiveAm(env))
  expect(JSON.parse(served.stdout)).toMatchObject({ generation: 3, flipped: true })
  expect(await run(['verify', 'meals'], fiveAm(env))).toMatchObject({ code: 0 })
  const back = await run(['flip', 'meals', '--to', '1'], fiveAm(env))
  expect(back).toMatchObject({ code: 0, stderr: expect.stringMatching(/shows no new events.*fold version 1/) })
}, 240_000)

test('a generation of folds that the running server does not have does not serve, and if it is forced to, every command reports that no processor follows it', async () => {
  const env = { TRIBUTARY_DATA: freshFolder() }
  const server = await startServer(env)
  const ann = client(server.url, await newToken(env, 'ann'))
  expect((await ann.post('/v1/meals', eaten('Late toast', '2026-11-15T04:30:00+01:00', 180))).status).toBe(201)
  expect(await run(['rebuild', 'meals', '--diff'], fiveAm(env))).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('To serve it: stop the server, and run tributary start of this release.'),
  })
  expect(await runOk(['generations', 'meals'], env)).toMatch(/g2 +built, not followed/)
  const refused = {
    code: 1,
    stderr: expect.stringMatching(/generation-unfollowed: .*fold version 1.*version 2.*Stop it/),
  }
  expect(await run(['rebuild', 'meals', '--resume', '--yes'], fiveAm(env))).toMatchObject(refused)
  await runOk(['rebuild', 'meals', '--resume', '--no-flip', '--yes'], fiveAm(env))
  expect(await run(['flip', 'meals', '--to', '2'], fiveAm(env))).toMatchObject(refused)
  expect(await run(['flip', 'meals', '--to', '2'], env)).toMatchObject(refused)
  expect((await ann.post('/v1/meals', eaten('Supper', '2026-11-14T20:00:00+01:00', 650))).status).toBe(201)

  await runOk(['rebuild', 'meals', '--no-flip', '--yes'], fiveAm(env))
  expect(await run(['flip', 'meals', '--to', '3', '--accept-unfollowed'], fiveAm(env))).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('No processor follows generation 3'),
  })
  const nobody = /generation 3 of meals serves, but no processor follows it/
  const ready = await fetch(`${server.admin}/readyz`)
  expect([ready.status, await ready.text()]).toEqual([503, expect.stringMatching(nobody)])
  expect(await (await fetch(`${server.admin}/metrics`)).text()).toContain(
    'tributary_serving_followed{domain="meals"} 0',
  )
  expect(await run(['status'], env)).toMatchObject({ code: 1, stdout: expect.stringMatching(nobody) })
  expect(await run(['doctor'], env)).toMatchObject({ code: 1, stdout: expect.stringMatching(nobody) })
  await runOk(['flip', 'meals', '--to', '1'], env)
  expect((await fetch(`${server.admin}/readyz`)).status).toBe(200)
  expect((await ann.post('/v1/meals', eaten('Oats', '2026-11-16T04:15:00+01:00', 300))).status).toBe(201)
  expect(await server.stop()).toBe(0)
  expect(await run(['status'], env)).toMatchObject({ code: 0 })
}, 240_000)
