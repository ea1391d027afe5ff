import { beforeEach, describe, expect, test } from 'vitest'
import { NOON } from '../../../../testing/event.ts'
import { eventsOf, failure, NOW_S, openOutside, result, ride, SUBJECT, type AskOutside } from './outside.ts'

const BODY = { ref: 'abc', epoch: 1, asked: 100, attempt: 2 }
const failed = (status: number, scope: string | null = null) => ['ActivityFetchFailed', { ...BODY, status, scope }]
const PAIR = { access: 'A2', refresh: 'R2', expiresAt: NOON + 21_600_000 }

let outside: AskOutside
beforeEach(async () => {
  outside = await openOutside()
  outside.connect()
  outside.addSync('abc', '12345678901234567')
})
const fetchIt = () => outside.call('fetch', BODY)

describe('the ask fetch', () => {
  test('answers the activity, sealed for the link', async () => {
    const activity = ride('12345678901234567', NOW_S)
    outside.strava.activity = async () => result(activity)
    expect(await fetchIt()).toEqual({
      events: [
        {
          type: 'ActivityFetched',
          data: { ref: 'abc', epoch: 1, asked: 100, requestedAt: NOON, via: 'webhook' },
          personal: activity,
          subjectId: SUBJECT,
        },
      ],
    })
    expect(outside.called).toEqual([['activity', 'A1', '12345678901234567']])
  })

  test.each([
    ['gone', 404, 404],
    ['unavailable', 0, 0],
    ['unavailable', 200, 0],
    ['unavailable', 503, 503],
    ['refused', 400, 400],
  ] as const)('answers the failure %s %s with status %s', async (kind, status, stored) => {
    outside.strava.activity = async () => failure(kind, status)
    expect(eventsOf(await fetchIt())).toEqual([failed(stored)])
  })

  test('names a missing scope', async () => {
    outside.strava.activity = async () => failure('scope-missing', 401, 'activity:read')
    expect(eventsOf(await fetchIt())).toEqual([failed(403, 'activity:read')])
  })

  test('does not accept another activity than the requested one', async () => {
    outside.strava.activity = async () => result(ride('6', NOW_S))
    expect(eventsOf(await fetchIt())).toEqual([failed(0)])
  })

  test('reports a refresh of the token first, with an id that does not depend on the ask', async () => {
    outside.strava.activity = async (access) => (access === 'A1' ? failure('unauthorized', 401) : failure('gone', 404))
    outside.strava.refresh = async () => result(PAIR)
    const answer = await fetchIt()
    const refreshed = { epoch: 1, secretRef: `${SUBJECT}/strava`, version: 2, expiresAt: PAIR.expiresAt }
    expect(eventsOf(answer)).toEqual([['StravaTokenRefreshed', refreshed], failed(404)])
    // The event is not folded yet: the next answer has it again, with the same id.
    const again = await outside.call('fetch', { ...BODY, ref: 'abc', attempt: 3 })
    const idIn = (each: typeof answer) => ('events' in each ? each.events[0]?.eventId : undefined)
    expect(idIn(again)).toBe(idIn(answer))
    expect(outside.called.filter(([name]) => name === 'refresh')).toHaveLength(1)
    outside.connect({ secretVersion: 2 })
    expect(eventsOf(await fetchIt())).toEqual([failed(404)])
  })

  test('reports tokens that Strava refuses', async () => {
    outside.strava.activity = async () => failure('unauthorized', 401)
    outside.strava.refresh = async () => ({
      failure: { kind: 'refused', status: 400, detail: 'RefreshToken/refresh_token/invalid' },
      use: [],
    })
    expect(eventsOf(await fetchIt())).toEqual([
      ['StravaTokenLost', { epoch: 1, version: 1, reason: 'refused' }],
      failed(401),
    ])
  })

  test('waits for the budget', async () => {
    outside.hold(NOON + 7)
    expect(await fetchIt()).toEqual({ later: NOON + 7 })
  })

  test('calls nothing while the connection is not connected, and ends with the link', async () => {
    for (const status of ['REAUTH_REQUIRED', 'REVOKING'] as const) {
      outside.connect({ status })
      expect(await fetchIt()).toEqual({ later: NOON + 300_000 })
    }
    outside.connect({ epoch: 2 })
    expect(eventsOf(await fetchIt())).toEqual([failed(410)])
    outside.connect({ closedEpoch: 1 })
    expect(eventsOf(await fetchIt())).toEqual([failed(410)])
    outside.connect()
    outside.addSync('abc', null)
    expect(eventsOf(await fetchIt())).toEqual([failed(410)])
    outside.addSync('abc', '5')
    await outside.secrets.drop(SUBJECT, 'strava')
    expect(eventsOf(await fetchIt())).toEqual([failed(410)])
    expect(outside.called).toEqual([])
  })
})
