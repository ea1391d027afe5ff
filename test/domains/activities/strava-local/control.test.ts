import { afterEach, beforeEach, expect, test } from 'vitest'
import { START, startLoopback, type Loopback } from './loopback.ts'

let strava: Loopback
beforeEach(async () => {
  strava = await startLoopback()
})
afterEach(() => strava.stop())

test('the variables configure a server that uses the service', () => {
  expect(strava.variables).toEqual({
    TRIBUTARY_STRAVA_CLIENT_ID: '98765',
    TRIBUTARY_STRAVA_CLIENT_SECRET: 'loopback-client-secret',
    TRIBUTARY_STRAVA_WEBHOOK_SECRET: 'loopback-webhook-path',
    TRIBUTARY_STRAVA_VERIFY_TOKEN: 'loopback-verify-token',
    TRIBUTARY_STRAVA_SUBSCRIPTION_ID: '120475',
    TRIBUTARY_STRAVA_API: `${strava.url}/api/v3`,
    TRIBUTARY_STRAVA_OAUTH: `${strava.url}/oauth`,
  })
})

test('the clock stands, advances and is set', async () => {
  const now = async () => (await strava.control('GET', '/clock')).body
  expect(await now()).toEqual({ now: START.replace('Z', '.000Z'), isRunning: false })
  await strava.advance(1_500)
  expect(await now()).toEqual({ now: '2026-05-01T10:07:01.500Z', isRunning: false })
  const { body } = await strava.control('PUT', '/clock', { isRunning: true })
  expect(body['isRunning']).toBe(true)
})

test('settings keep the values that a change does not name', async () => {
  await strava.control('PUT', '/settings', { rotation: 'lenient', webhooks: { copies: 2 } })
  const { body } = await strava.control('PUT', '/settings', { limits: { read: [5, 50] } })
  expect(body).toEqual({
    rotation: 'lenient',
    application: 'active',
    limits: { overall: [200, 2_000], read: [5, 50] },
    oauthCounts: false,
    athleteLimit: 1_000_000,
    hiddenOrder: 'shown',
    webhooks: { timeoutMs: 2_000, retryMs: 60_000, concurrency: 1, copies: 2, isPaused: false, onAppRevocation: true },
  })
})

test('an athlete describes itself and its link', async () => {
  const id = await strava.athlete({ id: '42', firstname: 'Grace', lastname: 'Hopper', generated: { count: 2 } })
  const describe = async () => (await strava.control('GET', `/athletes/${id}`)).body
  const athlete = { id: '42', firstname: 'Grace', lastname: 'Hopper', generated: 2 }
  expect(await describe()).toEqual({ ...athlete, isLinked: false, scopes: [] })
  await strava.grant(id, 'read', 'activity:read')
  expect(await describe()).toEqual({ ...athlete, isLinked: true, scopes: ['read', 'activity:read'] })
  expect(JSON.parse((await strava.control('GET', '/athletes')).text)).toEqual([await describe()])
})

test.each([
  ['PUT', '/settings', { rotaton: 'strict' }, 'There is no setting "rotaton".'],
  ['PUT', '/settings', { rotation: 'none' }, '"rotation" must be one of strict, lenient, same, not "none".'],
  ['PUT', '/settings', { limits: { read: 5 } }, '"read" must be a list of two numbers, not 5.'],
  ['PUT', '/clock', { now: 'soon' }, '"now" must be an ISO instant, not "soon".'],
  ['PUT', '/consent', { athlete: '9' }, 'There is no athlete "9".'],
  ['PUT', '/subscription', { callback_url: 'x' }, '"callback_url" must be an http:// URL, not "x".'],
  ['PUT', '/subscription', { callback_url: 'https://a.b' }, 'must be an http:// URL'],
  ['POST', '/faults', { kind: 'explode' }, '"kind" must be one of status, hang, reset, delay, lost, not "explode".'],
  ['POST', '/athletes', { id: 42 }, '"id" must be a string of 1 to 19 digits, not 42.'],
  ['POST', '/athletes', { generated: { count: 1_000_001 } }, 'at most 1000000 generated activities'],
  ['POST', '/athletes', [], 'The body must be a JSON object.'],
  ['POST', '/athletes/9/activities', {}, 'There is no athlete 9.'],
  ['POST', '/webhooks', { object_id: 'x' }, '"object_id" must be a string of 1 to 19 digits, not "x".'],
])('%s %s with %j is refused, with the reason', async (method, path, body, reason) => {
  await expect(strava.control(method, path, body)).rejects.toThrow(reason)
})

test('an athlete and an activity are created once', async () => {
  const id = await strava.athlete({ id: '42' })
  await expect(strava.athlete({ id: '42' })).rejects.toThrow('The athlete 42 exists already.')
  const activity = await strava.activity(id, { id: '12345678901234567' })
  await expect(strava.activity(id, { id: activity })).rejects.toThrow('The activity 12345678901234567 exists already.')
  await expect(strava.control('POST', '/athletes/42/revoke')).rejects.toThrow('has not authorized the application')
})

test('changing or deleting an unknown activity answers 404, as does an unknown control route', async () => {
  for (const method of ['PATCH', 'DELETE'])
    await expect(strava.control(method, '/activities/5', {})).rejects.toThrow('404')
  await expect(strava.control('GET', '/nothing')).rejects.toThrow('404')
})
