import { afterEach, beforeEach, expect, test } from 'vitest'
import { expectError, startLoopback, type Answered, type Loopback } from './loopback.ts'

let strava: Loopback
let access: string
beforeEach(async () => {
  strava = await startLoopback()
  access = (await strava.grant(await strava.athlete())).access
})
afterEach(() => strava.stop())

const headersOf = ({ headers }: Answered) => ({
  limit: headers.get('X-RateLimit-Limit'),
  usage: headers.get('X-RateLimit-Usage'),
  readLimit: headers.get('X-ReadRateLimit-Limit'),
  readUsage: headers.get('X-ReadRateLimit-Usage'),
})

const limits = (overall: [number, number], read: [number, number]) =>
  strava.control('PUT', '/settings', { limits: { overall, read } })

test("every call has the headers of both limits, with Strava's default limits", async () => {
  expect(headersOf(await strava.api('/athlete', access))).toEqual({
    limit: '200,2000',
    usage: '1,1',
    readLimit: '100,1000',
    readUsage: '1,1',
  })
})

test('the read limit ends the window at its quarter of an hour', async () => {
  await limits([200, 2_000], [2, 1_000])
  await strava.api('/athlete', access)
  expect((await strava.api('/athlete', access)).status).toBe(200)
  const refused = await strava.api('/athlete', access)
  expectError(refused, 429, 'Rate Limit Exceeded', ['Application', 'read rate limit', 'exceeded'])
  expect(headersOf(refused).readUsage).toBe('3,3')
  await strava.setClock('2026-05-01T10:14:59Z')
  expect((await strava.api('/athlete', access)).status).toBe(429)
  await strava.setClock('2026-05-01T10:15:00Z')
  const next = await strava.api('/athlete', access)
  expect({ status: next.status, ...headersOf(next) }).toMatchObject({ status: 200, readUsage: '1,5' })
})

test('a test can set the usage: three of 100 reads are left, and then none until the next window', async () => {
  await strava.control('PUT', '/usage', { quarter: 97, day: 412 })
  const first = await strava.api('/athlete', access)
  expect(headersOf(first)).toMatchObject({ readLimit: '100,1000', readUsage: '98,413' })
  const statuses: number[] = []
  for (let call = 0; call < 3; call++) statuses.push((await strava.api('/athlete', access)).status)
  expect(statuses).toEqual([200, 200, 429])
  await strava.setClock('2026-05-01T10:15:00Z')
  expect((await strava.api('/athlete', access)).status).toBe(200)
})

test('the overall limit has an error of its own', async () => {
  await limits([1, 2_000], [100, 1_000])
  await strava.api('/athlete', access)
  const refused = await strava.api('/athlete', access)
  expectError(refused, 429, 'Rate Limit Exceeded', ['Application', 'overall rate limit', 'exceeded'])
})

test('refused calls count for the day, which begins at 00:00 UTC', async () => {
  await limits([200, 2_000], [1, 3])
  for (let call = 0; call < 3; call++) await strava.api('/athlete', access)
  await strava.setClock('2026-05-01T10:15:00Z')
  expect((await strava.api('/athlete', access)).status).toBe(429)
  await strava.setClock('2026-05-01T23:59:59Z')
  const { access: late } = await strava.grant(await strava.athlete())
  expect((await strava.api('/athlete', late)).status).toBe(429)
  await strava.setClock('2026-05-02T00:00:00Z')
  expect(headersOf(await strava.api('/athlete', late)).readUsage).toBe('1,1')
})

test('a call without a token that works counts for no application', async () => {
  await strava.api('/athlete', 'unknown')
  expect(headersOf(await strava.api('/athlete', access)).usage).toBe('1,1')
})

test('calls of /oauth count only if the settings say so, and then have the headers', async () => {
  const { access: token, refresh } = await strava.grant(await strava.athlete())
  expect(headersOf(await strava.refresh(refresh)).usage).toBeNull()
  await strava.control('PUT', '/settings', { oauthCounts: true })
  expect(headersOf(await strava.refresh(refresh)).usage).toBe('1,1')
  expect(headersOf(await strava.api('/athlete', token)).usage).toBe('2,2')
})

test('a call of /oauth that exceeds a limit does nothing', async () => {
  const { refresh } = await strava.grant(await strava.athlete())
  await strava.advance(6 * 3_600_000)
  await strava.control('PUT', '/settings', { oauthCounts: true })
  await limits([200, 2_000], [0, 1_000])
  expect((await strava.refresh(refresh)).status).toBe(429)
  await limits([200, 2_000], [100, 1_000])
  expect((await strava.refresh(refresh)).status).toBe(200)
})

test('calls of the subscription count too', async () => {
  const query = new URLSearchParams({ client_id: strava.client.id, client_secret: strava.client.secret }).toString()
  const response = await fetch(`${strava.url}/push_subscriptions?${query}`)
  expect(response.headers.get('X-RateLimit-Usage')).toBe('1,1')
})

test('the counters contain the calls of each window, route and status', async () => {
  const { refresh } = await strava.grant(await strava.athlete())
  await strava.refresh(refresh)
  await strava.refresh('unknown')
  await strava.api('/activities/12345678901234567', access)
  await strava.setClock('2026-05-01T10:15:00Z')
  await strava.api('/athlete/activities', access)
  const { body } = await strava.control('GET', '/counters')
  expect(body).toEqual({
    usage: { quarter: 1, day: 2 },
    windows: {
      '2026-05-01T10:00:00.000Z': { 'POST /oauth/token': { '200': 1, '400': 1 }, 'GET /activities/{id}': { '404': 1 } },
      '2026-05-01T10:15:00.000Z': { 'GET /athlete/activities': { '200': 1 } },
    },
  })
})
