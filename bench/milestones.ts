import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { activityEvents, benchUser, nextActivity, recomputed } from '../domains/activities/benchmark-events.ts'
import { stravaControl } from '../domains/activities/strava-control.ts'
import { stravaLocal } from '../domains/activities/strava-local/service.ts'
import { lmdbLogs } from '../processors/adapters/lmdb/log.ts'
import { lmdbStores } from '../processors/adapters/lmdb/store.ts'
import { activities } from '../processors/activities/domain.ts'
import { tryEvents } from '../processors/engine/proof/trial.ts'
import { build } from '../processors/engine/rebuild/build.ts'
import { openCodec } from '../schemas/codec.ts'
import type { Event } from '../schemas/event.ts'
import { appendAll } from './append.ts'
import { inFolder } from './folder.ts'
import { runPhase } from './rebuild.ts'
import { runTributary, startTributary } from './servers.ts'
import { median, perSecond, printTable, quantile, ratio } from './table.ts'

const [WORKOUTS, ACTIVITIES, REPEATS, ROUNDS] = [20_000, 1_000_000, 20, 3]

/** The milliseconds of each call of `work`, after one call of warm-up. */
const timed = async (work: (nth: number) => Promise<unknown>): Promise<readonly number[]> => {
  const millis: number[] = []
  for (let nth = 0; nth <= REPEATS; nth += 1) {
    const began = performance.now()
    await work(nth)
    if (nth > 0) millis.push(performance.now() - began)
  }
  return millis
}

const cellsOf = (millis: readonly number[]): readonly string[] => [
  median(millis).toFixed(1),
  quantile(millis, 0.99).toFixed(1),
]

/** Measures the folds of one event on the stored items of a person with `workouts` workouts. The items are in the embedded store. */
const measureFolds = (workouts: number) =>
  inFolder(async (folder) => {
    const logs = lmdbLogs({ folder: join(folder, 'log') })
    const log = await logs.open(activities.topic)
    const codec = openCodec()
    const events = workouts + 4
    await appendAll(log, codec, activityEvents({ events, users: 1 }), 4_096)
    const store = await lmdbStores({ folder: join(folder, 'tables') }).create(activities.table, 1)
    await build({
      domain: activities,
      log,
      codec,
      target: store,
      ends: new Map([[0, events]]),
      progress: () => undefined,
    })
    const fold = async (event: Event): Promise<void> => {
      const [outcome] = await tryEvents({ domain: activities, codec, log, store }, [event])
      // A recompute that finds the same progress changes nothing, so its outcome is `duplicate`.
      if (outcome?.kind !== 'applied' && outcome?.kind !== 'duplicate')
        throw new Error(`${event.type}: ${JSON.stringify(outcome)}`)
    }
    const user = benchUser(0)
    const recompute = await timed((nth) => fold(recomputed(events + nth, user)))
    const incremental = await timed((nth) => fold(nextActivity(events + nth, user)))
    await store.close()
    await logs.close()
    return { recompute, incremental }
  })

const workoutRow = (nth: number) => ({
  PK: 'USER#bench',
  SK: `WORKOUT#STRAVA#${10_000_000_000_000_000n + BigInt(nth)}`,
  sportType: nth % 2 === 0 ? 'Ride' : 'Run',
  startDateUtc: new Date(Date.UTC(2006, 0, 1) + nth * 8.7 * 3_600_000).toISOString(),
  distanceMeters: 20_000 + (nth % 1_000),
  totalElevationGain: 100,
})

/** Measures `POST /milestones/:id/recompute` of a server with an import of `workouts` workouts. */
const measureRoute = (workouts: number): Promise<readonly number[]> =>
  inFolder(async (folder) => {
    const env = { TRIBUTARY_DATA: join(folder, 'data') }
    const file = join(folder, 'workouts.ndjson')
    writeFileSync(file, Array.from({ length: workouts }, (_, nth) => JSON.stringify(workoutRow(nth))).join('\n'))
    const server = await startTributary(env)
    try {
      await runTributary(env, ['import', activities.name, file])
      const scopes = ['--scopes', 'read,write,admin']
      const created = await runTributary(env, [
        ...['token', 'create', '--user', 'bench', '--domain', activities.name, '--json'],
        ...scopes,
      ])
      const { token } = JSON.parse(created) as { readonly token: string }
      const send = async (path: string, body?: object): Promise<{ readonly id: string }> => {
        const answer = await fetch(`${server.url}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
          ...(body && { body: JSON.stringify(body) }),
        })
        if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`)
        return (await answer.json()) as { readonly id: string }
      }
      const parts = Array.from({ length: 12 }, (_, at) => ({ partName: `P${at}`, meshFile: 'p.glb', attachPoint: 'a' }))
      await send('/models', { modelId: 'rocket', name: 'Rocket', partsTotal: 12, parts })
      const { id } = await send('/milestones', {
        modelId: 'rocket',
        sport: 'RIDE',
        targetType: 'DISTANCE_METERS',
        totalTarget: 500_000_000,
        periodStartAtUtc: '2006-01-01T00:00:00Z',
      })
      return await timed(() => send(`/milestones/${id}/recompute`))
    } finally {
      await server.stop()
    }
  })

/** The number of calls per start of a window, route and status. */
type Windows = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, number>>>>>>

const callsIn = (windows: Windows): number =>
  Object.values(windows)
    .flatMap((routes) => Object.values(routes))
    .flatMap((statuses) => Object.values(statuses))
    .reduce((sum, calls) => sum + calls, 0)

/** Measures rebuilds of activities and of meals alternately, and counts the calls that arrive at the loopback Strava. */
const measureRebuilds = async (events: number) => {
  const strava = await stravaLocal.start({ port: 0 })
  try {
    const seconds: { readonly activities: number; readonly meals: number }[] = []
    for (let round = 0; round < (events > 200_000 ? 1 : ROUNDS); round += 1) {
      const secondsOf = (domain: string) =>
        inFolder(async (folder) => {
          const filled = { folder, events, kind: 'plain', domain } as const
          await runPhase('fill', filled, strava.variables)
          return (await runPhase('rebuild', filled, strava.variables)).seconds
        })
      seconds.push({ activities: await secondsOf('activities'), meals: await secondsOf('meals') })
    }
    const { windows } = (await stravaControl(strava.url)('GET', '/counters')) as { readonly windows: Windows }
    return { seconds, calls: callsIn(windows) }
  } finally {
    await strava.stop()
  }
}

/**
 * Measures how long a recompute of a milestone takes, and how fast activities are rebuilt, as after a change of the sport map.
 * `bench milestones 2000 50000` uses 2,000 workouts and 50,000 activities.
 */
export const milestonesBench = async (rest: readonly string[]): Promise<void> => {
  const [workouts = WORKOUTS, events = ACTIVITIES] = rest.map(Number)
  const { recompute, incremental } = await measureFolds(workouts)
  const route = await measureRoute(workouts)
  printTable(`milestones: a person with ${workouts.toLocaleString('en')} workouts (embedded; ${REPEATS} repeats)`, [
    ['', 'median ms', 'p99 ms'],
    ['recompute: load and fold', ...cellsOf(recompute)],
    ['recompute: POST /milestones/:id/recompute', ...cellsOf(route)],
    ['one more activity: load and fold', ...cellsOf(incremental)],
  ])
  const { seconds, calls } = await measureRebuilds(events)
  const of = (pick: (round: (typeof seconds)[number]) => number) => median(seconds.map(pick))
  printTable(
    `milestones: rebuild of ${events.toLocaleString('en')} events (interleaved; medians of ${seconds.length})`,
    [
      ['activities/s', 'meals/s', 'activities ÷ meals', 'calls to Strava'],
      [
        perSecond(
          events,
          of((round) => round.activities),
        ),
        perSecond(
          events,
          of((round) => round.meals),
        ),
        ratio(of((round) => round.meals / round.activities)),
        calls,
      ],
    ],
  )
}
