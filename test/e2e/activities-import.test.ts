import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stravaLocal } from '../../domains/activities/strava-local/service.ts'
import { client, freshFolder, run, runOk, startServer } from './program.ts'

const CSV = `Activity ID,Activity Date,Activity Name,Activity Type,Activity Description,Elapsed Time,Distance,Elapsed Time,Moving Time,Distance,Elevation Gain
101,"Nov 18, 2026, 7:03:12 AM",Morning,Ride,"two
lines",2000,8.33,2000.0,1900.0,8333.4,12.5
102,"18.11.2026, 07:03:12",Bad,Ride,,2000,8.33,2000.0,1900.0,8333.4,12.5
103,"Nov 17, 2026, 7:03:12 PM",Evening,E-Bike Ride,,2000,8.33,2000.0,1900.0,10000,
`

const rowsOf = (text: string): readonly Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('import and export of activities', { timeout: 120_000 }, () => {
  test("Strava's archive: bad rows are reported with line and column, and a second import appends nothing", async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const file = join(freshFolder(), 'activities.csv')
    writeFileSync(file, CSV)
    expect(await run(['import', 'activities', file], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Add --user ID') as string,
    })
    const first = await run(['import', 'activities', file, '--user', 'ann', '--json'], env)
    expect(first.code).toBe(1)
    expect(JSON.parse(first.stdout)).toMatchObject({
      rows: 3,
      events: 2,
      unreadable: [{ line: 4, reason: expect.stringContaining('column "Activity Date"') as string }],
    })
    const second = await run(['import', 'activities', file, '--user', 'ann', '--json'], env)
    expect(JSON.parse(second.stdout)).toMatchObject({ events: 0, known: 2 })
    const workouts = rowsOf(await runOk(['export', 'activities', 'ann'], env)).filter(({ kind }) => kind === 'workout')
    expect(workouts).toMatchObject([
      { activityId: '101', sportType: 'Ride', distanceMeters: 8333.4 },
      { activityId: '103', sportType: 'EBikeRide', distanceMeters: 10_000 },
    ])
    expect(await run(['verify', 'activities'], env)).toMatchObject({ code: 0 })
  })

  test('the demo connects a club, and its export gives another person the same workouts and awards', async () => {
    const strava = await stravaLocal.start({ port: 0 })
    onTestFinished(() => strava.stop())
    const env = { ...strava.variables, TRIBUTARY_DATA: freshFolder() }
    const server = await startServer(env)
    const demo = await runOk(['demo', '--domain', 'activities', '--seconds', '2', '--rate', '3', '--json'], env)
    expect(JSON.parse(demo)).toMatchObject({ failed: 0 })
    const token = await runOk(['token', 'create', '--user', 'demo-1-1', '--domain', 'activities'], env)
    const { body } = await client(server.url, token).get('/milestones')
    expect(body['items']).toEqual([expect.objectContaining({ progressValue: expect.any(Number) as number })])
    const file = join(freshFolder(), 'export.ndjson')
    const exported = await runOk(['export', 'activities', 'demo-1-1'], env)
    writeFileSync(file, exported.replaceAll('demo-1-1', 'zoe'))
    expect(await run(['import', 'activities', file], env)).toMatchObject({ code: 0 })
    const copied = rowsOf(await runOk(['export', 'activities', 'zoe'], env))
    const comparable = (rows: readonly Record<string, unknown>[]) =>
      rows
        .filter(({ kind, isDeleted }) => kind === 'award' || (kind === 'workout' && isDeleted === false))
        .map(({ SK, name, distanceMeters, awardedAtUtc, progressValueAtAward }) => ({
          SK,
          name,
          distanceMeters,
          awardedAtUtc,
          progressValueAtAward,
        }))
    expect(comparable(copied)).toEqual(comparable(rowsOf(exported)))
    expect(comparable(copied).length).toBeGreaterThan(0)
  })

  test('without the loopback Strava, the demo prints the two steps', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    await startServer(env)
    const { code, stderr } = await run(['demo', '--domain', 'activities', '--seconds', '1'], env)
    expect(code).toBe(2)
    expect(stderr).toMatch(/1\. In a terminal: .* strava-local\n.*2\. In another terminal/)
  })
})
