import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  createStravaClient,
  type StravaAnswer,
  type StravaClient,
} from '../../../../producers/activities/strava/client.ts'
import { isRefreshTokenInvalid } from '../../../../producers/activities/strava/failure.ts'
import { errorAnswer, json, startAnswers, type Answers } from './answers.ts'

let strava: Answers
let client: StravaClient

beforeEach(async () => {
  strava = await startAnswers()
  client = createStravaClient({
    api: `${strava.url}/api`,
    oauth: `${strava.url}/oauth`,
    clientId: '7',
    clientSecret: 's3',
  })
})
afterEach(() => strava.stop())

const SUMMARY = `{"id":12345678901234567,"name":"Messy","sport_type":"GravelRide","type":"Ride","start_date":"2026-05-01T06:30:00Z",
"start_date_local":"2026-05-01T08:30:00Z","utc_offset":7200.0,"distance":8333.4,"total_elevation_gain":516.04,"moving_time":1200,
"elapsed_time":1300,"visibility":"everyone","private":false}`

const resultOf = <T>(answer: StravaAnswer<T>): T => {
  if ('result' in answer) return answer.result
  throw new Error(`Strava failed: ${JSON.stringify(answer.failure)}`)
}
const failureOf = (answer: StravaAnswer<unknown>) => ('failure' in answer ? answer.failure : undefined)

describe('requests', () => {
  test('read an activity with its token, and keep the digits of its id', async () => {
    strava.next(json(200, SUMMARY))
    expect(resultOf(await client.activity('A1', '12345678901234567'))).toEqual({
      activityId: '12345678901234567',
      name: 'Messy',
      sportType: 'GravelRide',
      startDate: Date.parse('2026-05-01T06:30:00Z'),
      startDateLocal: Date.parse('2026-05-01T08:30:00Z'),
      utcOffsetS: 7200,
      hidden: false,
      distanceDm: 83334,
      elevationDm: 5160,
      movingS: 1200,
      elapsedS: 1300,
      visibility: 'everyone',
    })
    expect(strava.requests).toEqual([
      { target: 'GET /api/activities/12345678901234567', authorization: 'Bearer A1', body: '' },
    ])
  })

  test('read a page of activities before a time', async () => {
    strava.next(
      json(
        200,
        `[${SUMMARY},{"id":2,"start_date":"2026-05-01T00:00:01Z","start_date_local":"2026-05-01T00:00:01Z","type":"Run","distance":null}]`,
      ),
    )
    const [first, second] = resultOf(await client.activities('A1', 1_777_777_777))
    expect(first?.activityId).toBe('12345678901234567')
    expect(second).toMatchObject({ activityId: '2', sportType: 'Run', hidden: true, distanceDm: 0, elevationDm: 0 })
    expect(strava.requests[0]?.target).toBe('GET /api/athlete/activities?before=1777777777&per_page=200')
  })

  test('read the athlete, exchange a code, refresh and revoke', async () => {
    const tokens = { access_token: 'A1', refresh_token: 'R1', expires_at: 1_800_000_000 }
    strava.next(
      json(200, '{"id":98765432109876543,"firstname":"Ada","lastname":"L"}'),
      json(200, { ...tokens, athlete: { id: 5, firstname: 'Ada' }, scope: 'read,activity:read' }),
      json(200, tokens),
      json(200, {}),
    )
    expect(resultOf(await client.athlete('A1'))).toEqual({ athleteId: '98765432109876543', name: 'Ada L' })
    const pair = { access: 'A1', refresh: 'R1', expiresAt: 1_800_000_000_000 }
    expect(resultOf(await client.exchange('c0de'))).toEqual({
      ...pair,
      athlete: { athleteId: '5', name: 'Ada' },
      scope: 'read,activity:read',
    })
    expect(resultOf(await client.refresh('R0'))).toEqual(pair)
    expect(resultOf(await client.revoke('R1'))).toBe(true)
    expect(strava.requests.slice(1)).toEqual([
      {
        target: 'POST /oauth/token',
        authorization: '',
        body: 'client_id=7&client_secret=s3&grant_type=authorization_code&code=c0de',
      },
      {
        target: 'POST /oauth/token',
        authorization: '',
        body: 'client_id=7&client_secret=s3&grant_type=refresh_token&refresh_token=R0',
      },
      { target: 'POST /oauth/revoke', authorization: `Basic ${btoa('7:s3')}`, body: 'token=R1' },
    ])
  })
})

describe('failures', () => {
  test.each([
    ['gone', errorAnswer(404, 'Activity', '', 'not found'), 404],
    ['unauthorized', errorAnswer(401, 'Athlete', 'access_token', 'invalid'), 401],
    ['inactive', errorAnswer(403, 'Application', 'Status', 'Inactive'), 403],
    ['refused', errorAnswer(403, 'Activity', 'id', 'forbidden'), 403],
    ['refused', errorAnswer(400, 'Application', 'after', 'future'), 400],
    ['rate-limited', json(429, { message: 'Rate Limit Exceeded' }), 429],
    ['unavailable', json(500, 'oops'), 500],
    ['unavailable', json(503, {}), 503],
    ['unavailable', json(200, '<html>'), 200],
    ['unavailable', json(200, '{"id":0}'), 200],
    ['unavailable', 'cut', 0],
  ] as const)('are classified: %s', async (kind, answer, status) => {
    strava.next(answer)
    expect(failureOf(await client.activity('A1', '5'))).toMatchObject({ kind, status })
  })

  test('name the scope that is missing', async () => {
    strava.next(errorAnswer(401, 'AccessToken', 'activity:read_permission', 'missing'))
    expect(failureOf(await client.activity('A1', '5'))).toMatchObject({ kind: 'scope-missing', scope: 'activity:read' })
  })

  test('report a socket that hangs after the timeout', async () => {
    const impatient = createStravaClient(
      { api: strava.url, oauth: strava.url, clientId: '7', clientSecret: 's3' },
      { timeoutMs: 30 },
    )
    strava.next('hang')
    expect(failureOf(await impatient.athlete('A1'))).toMatchObject({ kind: 'unavailable', status: 0 })
  })

  test('end when the caller stops', async () => {
    const stopped = new AbortController()
    strava.next('hang')
    const call = client.athlete('A1', { signal: stopped.signal })
    stopped.abort()
    expect(failureOf(await call)).toMatchObject({ kind: 'unavailable', status: 0 })
  })

  test('distinguish a refresh token that is not valid', async () => {
    strava.next(
      errorAnswer(400, 'RefreshToken', 'refresh_token', 'invalid'),
      errorAnswer(400, 'Application', 'client_id', 'invalid'),
    )
    const [token, application] = [failureOf(await client.refresh('R0')), failureOf(await client.refresh('R0'))]
    expect(token && isRefreshTokenInvalid(token)).toBe(true)
    expect(application && isRefreshTokenInvalid(application)).toBe(false)
  })

  test('contain no list if one activity of the page cannot be read', async () => {
    strava.next(json(200, `[${SUMMARY},{"id":3}]`), json(200, {}))
    expect(failureOf(await client.activities('A1', 1))?.kind).toBe('unavailable')
    expect(failureOf(await client.activities('A1', 1))?.kind).toBe('unavailable')
  })
})

describe('rate limits', () => {
  const use = async (status: number, headers: Readonly<Record<string, string>>) => {
    strava.next(json(status, status === 200 ? SUMMARY : '{}', headers))
    return (await client.activity('A1', '5')).use
  }

  test('are read from the headers of every answer', async () => {
    const headers = {
      'X-RateLimit-Limit': '200,2000',
      'X-RateLimit-Usage': '98,413',
      'X-ReadRateLimit-Limit': '100,1000',
      'X-ReadRateLimit-Usage': '97,412',
    }
    expect(await use(200, headers)).toEqual([
      { window: '15m', limit: 200, used: 98 },
      { window: 'day', limit: 2000, used: 413 },
      { window: 'read-15m', limit: 100, used: 97 },
      { window: 'read-day', limit: 1000, used: 412 },
    ])
    expect(await use(404, headers)).toHaveLength(4)
  })

  test('are used up after 429, even if the headers do not show it', async () => {
    expect(await use(429, {})).toEqual([{ window: '15m', limit: 200, used: 200 }])
    expect(await use(429, { 'X-RateLimit-Limit': '400,4000', 'X-RateLimit-Usage': '3,5' })).toEqual([
      { window: 'day', limit: 4000, used: 5 },
      { window: '15m', limit: 400, used: 400 },
    ])
    const spent = { 'X-ReadRateLimit-Limit': '100,1000', 'X-ReadRateLimit-Usage': '40,1000' }
    expect(await use(429, spent)).toEqual([
      { window: 'read-15m', limit: 100, used: 40 },
      { window: 'read-day', limit: 1000, used: 1000 },
    ])
  })

  test('ignore malformed headers', async () => {
    expect(await use(200, { 'X-RateLimit-Limit': '200', 'X-RateLimit-Usage': 'many' })).toEqual([])
  })
})
