import { beforeEach, describe, expect, test } from 'vitest'
import type { Backfill } from '../../../../projections/activities/items.ts'
import type { AskResult } from '../../../../projections/ask.ts'
import type { ActivityFetchedPersonal } from '../../../../schemas/generated/activities.ts'
import { NOON } from '../../../../testing/event.ts'
import { eventsOf, failure, NOW_S, openOutside, result, ride, SUBJECT, type AskOutside } from './outside.ts'

const DAY_S = 86_400
const BODY = { epoch: 1, run: 1, page: 1 }

let outside: AskOutside
beforeEach(async () => {
  outside = await openOutside()
  outside.connect()
})

/** A Strava with these activities, which lists at most 200 of those that began before a time. */
const list = (activities: readonly ActivityFetchedPersonal[]) => {
  outside.strava.activities = async (_, beforeS) =>
    result(
      activities
        .filter(({ startDate }) => startDate < beforeS * 1000)
        .sort((a, b) => b.startDate - a.startDate)
        .slice(0, 200),
    )
}
const pageIn = (answer: AskResult) => ('events' in answer ? answer.events.at(-1) : undefined)
const progress = (more: Partial<Backfill>): Backfill => ({
  run: 1,
  page: 1,
  before: null,
  done: false,
  fetched: 0,
  ...more,
})

describe('the ask backfill', () => {
  test('450 activities are three pages of 200, 200 and 52, which overlap by one (golden case 9)', async () => {
    list(Array.from({ length: 450 }, (_, at) => ride(String(at + 1), NOW_S - at * 3600)))
    let before: number | null = null
    const [sizes, counts]: [number[], number[]] = [[], []]
    for (let page = 1; sizes.length < 9; page += 1) {
      outside.connect({ backfill: progress({ before }) })
      const answer = await outside.call('backfill', { ...BODY, page })
      if ('later' in answer) throw new Error('The budget is not used up')
      for (const { type, personal } of answer.events)
        if (type === 'ActivityFetched') outside.addWorkout(personal as ActivityFetchedPersonal)
      const end = pageIn(answer)
      sizes.push(answer.events.length - 1)
      const { count, done } = end?.data as { count: number; done: boolean }
      counts.push(count)
      before = (end?.personal as { oldest: number }).oldest
      if (done) break
    }
    expect([sizes, counts]).toEqual([
      [200, 200, 52],
      [200, 199, 51],
    ])
    expect(outside.called).toHaveLength(3)
  })

  test('answers the page with refs instead of ids, and leaves half of each window to others', async () => {
    list([ride('7', NOW_S - 5)])
    expect(await outside.call('backfill', BODY)).toEqual({
      events: [
        {
          type: 'ActivityFetched',
          data: { ref: outside.refs.of('activity', '7'), epoch: 1, asked: NOW_S, requestedAt: NOON, via: 'backfill' },
          personal: ride('7', NOW_S - 5),
          subjectId: SUBJECT,
        },
        {
          type: 'BackfillPageFetched',
          data: { ...BODY, count: 1, done: true },
          personal: { oldest: NOW_S - 5 },
          subjectId: SUBJECT,
        },
      ],
    })
    expect(outside.shares).toEqual([{ '15m': 0.5, day: 0.6, 'read-15m': 0.5, 'read-day': 0.6 }])
  })

  test('is done when the list is empty, and when the scope for it is missing', async () => {
    list([])
    const empty = ['BackfillPageFetched', { ...BODY, count: 0, done: true }]
    expect(eventsOf(await outside.call('backfill', BODY))).toEqual([empty])
    outside.strava.activities = async () => failure('scope-missing', 401, 'activity:read')
    expect(eventsOf(await outside.call('backfill', BODY))).toEqual([empty])
  })

  test('goes on after 200 activities in one second, and ends if Strava ignores the time', async () => {
    const full = Array.from({ length: 200 }, (_, at) => ride(String(at + 1), NOW_S))
    outside.strava.activities = async () => result(full)
    outside.connect({ backfill: progress({ before: NOW_S }) })
    expect(pageIn(await outside.call('backfill', BODY))).toMatchObject({
      data: { done: false },
      personal: { oldest: NOW_S - 1 },
    })
    outside.connect({ backfill: progress({ before: NOW_S - 1 }) })
    expect(pageIn(await outside.call('backfill', BODY))).toMatchObject({ data: { done: true } })
  })

  test('a hidden start counts as the end of its day, because Strava may sort by the real start', async () => {
    const midnight = NOW_S - (NOW_S % DAY_S)
    list([ride('1', NOW_S), ride('2', midnight + 1, { hidden: true, utcOffsetS: 7200 })])
    expect(pageIn(await outside.call('backfill', BODY))?.personal).toEqual({
      oldest: Math.min(NOW_S, midnight + DAY_S - 7200),
    })
  })

  test('throws if Strava does not answer, so that the fetcher tries again', async () => {
    await expect(outside.call('backfill', BODY)).rejects.toMatchObject({ code: 'strava-unavailable' })
  })

  test('calls nothing after the link has ended, and waits while it is not connected', async () => {
    outside.connect({ closedEpoch: 1 })
    expect(await outside.call('backfill', BODY)).toEqual({ events: [] })
    outside.connect({ status: 'REAUTH_REQUIRED' })
    expect(await outside.call('backfill', BODY)).toEqual({ later: NOON + 300_000 })
    outside.connect()
    await outside.secrets.drop(SUBJECT, 'strava')
    expect(await outside.call('backfill', BODY)).toEqual({ events: [] })
    expect(outside.called).toEqual([])
  })

  test('reports tokens that Strava refuses, without a page', async () => {
    outside.strava.activities = async () => failure('unauthorized', 401)
    outside.strava.refresh = async () => ({
      failure: { kind: 'refused', status: 400, detail: 'RefreshToken/refresh_token/invalid' },
      use: [],
    })
    expect(eventsOf(await outside.call('backfill', BODY))).toEqual([
      ['StravaTokenLost', { epoch: 1, version: 1, reason: 'refused' }],
    ])
  })
})

describe('the ask resync', () => {
  const entry = (id: string, startS: number) => [id, startS, '2026-11-16', 0, false, 'Ride', 100, 0] as const

  test('answers new and changed activities, and names those that the list lacks', async () => {
    const [same, changed, hiddenNow, older] = [
      ride('1', NOW_S - 10),
      ride('2', NOW_S - 20),
      ride('3', NOW_S - 30),
      ride('4', NOW_S - 40 * DAY_S),
    ]
    for (const each of [same, changed, hiddenNow]) outside.addWorkout(each)
    outside.addWorkout(ride('8', NOW_S - 35), { epoch: 0 })
    outside.addLedger(
      '2026-11',
      entry('8', NOW_S - 35),
      entry('3', NOW_S - 30),
      entry('2', NOW_S - 20),
      entry('1', NOW_S - 10),
    )
    list([same, { ...changed, name: 'Renamed' }, ride('9', NOW_S - 25), older])
    const answer = await outside.call('resync', BODY)
    expect('events' in answer && answer.events.map(({ personal }) => personal)).toEqual([
      { ...changed, name: 'Renamed' },
      ride('9', NOW_S - 25),
      { oldest: NOW_S - 40 * DAY_S },
    ])
    expect(pageIn(answer)?.data).toEqual({ ...BODY, done: true, missing: [outside.refs.of('activity', '3')] })
  })

  test('is not done after a full page of the last 35 days, and names only what the page should contain', async () => {
    const listed = Array.from({ length: 201 }, (_, at) => ride(String(at + 1), NOW_S - at * 60))
    list(listed)
    outside.addWorkout(ride('777', NOW_S - 90))
    outside.addWorkout(ride('888', NOW_S - 300 * 60))
    outside.addLedger('2026-11', entry('888', NOW_S - 300 * 60), entry('777', NOW_S - 90))
    expect(pageIn(await outside.call('resync', BODY))?.data).toEqual({
      ...BODY,
      done: false,
      missing: [outside.refs.of('activity', '777')],
    })
  })

  test('is done after 35 days', async () => {
    list(Array.from({ length: 400 }, (_, at) => ride(String(at + 1), NOW_S - at * DAY_S)))
    const answer = await outside.call('resync', BODY)
    expect(pageIn(answer)?.data).toMatchObject({ done: true })
    expect('events' in answer && answer.events).toHaveLength(37)
  })
})
