import { describe, expect, test } from 'vitest'
import { activities } from '../../../processors/activities/domain.ts'
import { ENGINE_ASKS } from '../../../projections/ask.ts'
import {
  backfillPage,
  backfillRequested,
  claimed,
  created,
  failed,
  fetched,
  idOf,
  MORNING,
  REF,
  resyncDue,
  resyncPage,
  START_S,
  tokenLost,
  tokenRefreshed,
  webhook,
} from './events.ts'
import { createWorld, type Answer, type World } from './world.ts'

const connected = (answer?: Answer): World => {
  const world = createWorld(answer)
  world.append(claimed())
  return world
}
const fetchOf = (world: World) => world.asks.get('ada fetch:r1')
const DAY_MS = 86_400_000

describe('asks', () => {
  test('are declared, and only the revocation changes something outside', () => {
    expect(activities.asks).toEqual({ fetch: {}, backfill: {}, resync: {}, check: {}, revoke: { changes: true } })
    expect(Object.keys(ENGINE_ASKS)).toEqual(['list', 'forget'])
  })

  test('contain no id of Strava, and the calls of one person have one queue', () => {
    const world = connected()
    world.append(webhook(), resyncDue({ at: MORNING + DAY_MS }))
    for (const { body, queue, kind } of world.asks.values()) {
      expect(JSON.stringify(body)).not.toMatch(/134815|100000000/)
      expect(kind === 'forget' ? 'ada' : queue).toBe(kind === 'forget' ? 'ada' : 'strava:ada')
    }
    expect([...world.asks.values()].map(({ kind, priority }) => `${kind} ${priority}`).sort()).toEqual([
      'backfill 7',
      'fetch 3',
      'resync 6',
    ])
  })
})

describe('a fetch', () => {
  test('A-k waits for the end of a burst of webhooks, and asks for the newest', () => {
    const world = connected()
    world.append(webhook({ time: 100 }), webhook({ time: 101, aspect: 'update' }), webhook({ time: 100 }))
    expect(fetchOf(world)).toMatchObject({
      at: MORNING + 103_000,
      body: { ref: 'r1', epoch: 1, asked: START_S + 101, attempt: 1 },
    })
    world.append(fetched({ asked: 101 }))
    expect(fetchOf(world)).toBeUndefined()
  })

  test('A25 A-k is repeated after 404 six times, and then the activity counts as deleted until a newer webhook', () => {
    const world = connected()
    world.append(created(), webhook({ time: 100 }), fetched({ asked: 100 }), webhook({ time: 200, aspect: 'update' }))
    const delays = [10, 30, 120, 600, 3_600, 21_600]
    let now = MORNING + 202_000
    for (const [index, delay] of delays.entries()) {
      world.append(failed({ asked: 200, attempt: index + 1, at: now }))
      now += delay * 1000
      expect(fetchOf(world)).toMatchObject({ at: now, body: { attempt: index + 2 } })
    }
    world.append(failed({ asked: 200, attempt: 7, at: now }))
    expect(fetchOf(world)).toBeUndefined()
    expect(world.items()[`WORKOUT#STRAVA#${idOf('r1')}`]).toMatchObject({ isDeleted: true })
    expect(world.items()['SYNC#r1']).toMatchObject({ gaveUpAtUtc: new Date(now).toISOString() })
    expect(world.items()['MILESTONE#m1']).toMatchObject({ progressValue: 0, highWaterProgress: 10_000 })
    world.append(webhook({ time: 90_000, aspect: 'update' }))
    expect(fetchOf(world)).toMatchObject({ body: { attempt: 1 } })
    world.append(fetched({ asked: 90_000 }))
    expect(world.items()[`WORKOUT#STRAVA#${idOf('r1')}`]).toMatchObject({ isDeleted: false })
  })

  test('is repeated after growing delays if Strava does not answer, and daily after two days', () => {
    const world = connected()
    world.append(webhook({ time: 100 }))
    const delays: number[] = []
    let now = MORNING + 102_000
    for (let attempt = 1; attempt <= 62; attempt += 1) {
      world.append(failed({ asked: 100, attempt, at: now, status: attempt % 2 === 0 ? 503 : 0 }))
      delays.push((fetchOf(world)?.at ?? 0) - now)
      now += delays.at(-1) ?? 0
    }
    expect(delays.slice(0, 4)).toEqual([5_000, 10_000, 20_000, 40_000])
    expect(Math.max(...delays.slice(0, 40))).toBe(3_600_000)
    expect(delays.at(-1)).toBe(DAY_MS)
  })

  test('A25 ignores an answer to an older ask, and a repeated answer', () => {
    const world = connected()
    world.append(webhook({ time: 100 }), webhook({ time: 200, aspect: 'update' }))
    const armed = fetchOf(world)
    world.append(failed({ asked: 100 }), failed({ asked: 200, attempt: 2 }))
    expect(fetchOf(world)).toEqual(armed)
    const first = failed({ asked: 200, attempt: 1, at: MORNING + 300_000 })
    world.append(first, first)
    expect(fetchOf(world)).toMatchObject({ body: { attempt: 2 } })
  })

  test('ends if a scope is missing, and the connection names the scope', () => {
    const world = connected()
    world.append(webhook(), failed({ status: 403, scope: 'activity:read_all' }))
    expect(fetchOf(world)).toBeUndefined()
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({
      status: 'CONNECTED',
      missingScopes: ['activity:read_all'],
    })
  })

  test('of a link that has ended is withdrawn', () => {
    const world = connected()
    world.append(webhook())
    world.forget('ada~strava~1')
    world.append(failed({ status: 410 }))
    expect(fetchOf(world)).toBeUndefined()
  })
})

describe('the tokens', () => {
  test('golden case 11: a lost token erases nothing, keeps the calls armed, and a new link continues', () => {
    const world = connected()
    world.append(webhook(), fetched(), webhook({ time: 200, aspect: 'update' }))
    world.append(tokenLost(), failed({ asked: 200, status: 401 }))
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'REAUTH_REQUIRED' })
    expect(world.items()[`WORKOUT#STRAVA#${idOf('r1')}`]).toMatchObject({ isDeleted: false })
    expect([...world.asks.keys()].sort()).toEqual(['ada backfill', 'ada fetch:r1'])
    expect(fetchOf(world)).toMatchObject({ body: { attempt: 1 } })
    world.append(claimed({ version: 2, at: MORNING + 60_000 }))
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'CONNECTED', epoch: 1, secretVersion: 2 })
    expect(world.timers.has('ada presumed')).toBe(false)
    world.expectRebuilt()
  })

  test('golden case 11: A-i a refreshed token is recorded once, without the token', () => {
    const world = connected()
    const refreshed = tokenRefreshed()
    world.append(refreshed, refreshed, tokenRefreshed({ data: { version: 1, expiresAt: MORNING } }))
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({
      secretVersion: 2,
      expiresAtUtc: '2026-05-20T20:00:00.000Z',
    })
    expect(JSON.stringify(refreshed.data)).not.toMatch(/access|refresh_token/)
  })

  test('a token that stays lost for seven days counts as a revocation', () => {
    const world = connected()
    world.append(fetched(), tokenLost())
    world.runUntil(MORNING + 6 * DAY_MS)
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'REAUTH_REQUIRED' })
    world.runUntil(MORNING + 8 * DAY_MS)
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ status: 'REVOKED' })
    expect(world.items()).not.toHaveProperty([`WORKOUT#STRAVA#${idOf('r1')}`])
    expect(world.items()).toHaveProperty([`STRAVA#CLAIM#${REF} CLAIM`, 'userId'], null)
    world.expectRebuilt()
  })
})

describe('a list of activities', () => {
  test('golden case 9: 450 activities in three pages, each with one of the page before', () => {
    const page = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => fetched({ ref: `old-${from + index}`, asked: 10, via: 'backfill' }))
    const world = connected()
    const arm = () => world.asks.get('ada backfill')?.body
    const listed = (number: number, count: number, done: boolean, oldest: number) =>
      backfillPage({ data: { page: number, count, done }, personal: { oldest } })
    expect(arm()).toEqual({ epoch: 1, run: 1, page: 1 })
    world.append(...page(0, 200), listed(1, 200, false, 1_000))
    expect(arm()).toEqual({ epoch: 1, run: 1, page: 2 })
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ backfill: { before: 1_000, fetched: 200, done: false } })
    const second = [...page(199, 200), listed(2, 199, false, 500)]
    world.append(...second, ...second)
    world.append(...page(398, 52), listed(3, 51, true, 100))
    expect(arm()).toBeUndefined()
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({ backfill: { run: 1, fetched: 450, done: true } })
    expect(Object.keys(world.items()).filter((name) => name.startsWith('WORKOUT#'))).toHaveLength(450)
    expect(world.items()['LEDGER#2026-05']?.['entries']).toHaveLength(450)
    world.append(backfillRequested(), backfillRequested())
    expect(arm()).toEqual({ epoch: 1, run: 2, page: 1 })
  })

  test('is compared every day, and activities that it lacks are fetched one by one', () => {
    const world = connected((ask) =>
      ask.kind === 'resync'
        ? [resyncPage({ at: ask.at, data: { run: 1, missing: Array.from({ length: 45 }, (_, n) => `r-${n}`) } })]
        : [],
    )
    world.append(...Array.from({ length: 45 }, (_, n) => fetched({ ref: `r-${n}` })))
    world.runUntil(MORNING + DAY_MS + 1_000)
    const asked = [...world.asks.values()].filter(({ kind }) => kind === 'fetch')
    expect(asked).toHaveLength(45)
    expect(world.log.filter(({ type }) => type === 'ResyncDue')).toHaveLength(3)
    expect(world.items()['STRAVA#CONNECTION']).toMatchObject({
      resync: { run: 1, done: true, missing: [], handled: 45 },
    })
    expect(world.timers.get('ada resync')).toMatchObject({ at: MORNING + 2 * DAY_MS })
    world.expectRebuilt()
  })
})
