import { afterEach, beforeEach, expect, test } from 'vitest'
import { startLoopback, type Loopback } from './loopback.ts'
import { startReceiver, type Received } from './receiver.ts'

let strava: Loopback
let receiver: Awaited<ReturnType<typeof startReceiver>>
beforeEach(async () => {
  strava = await startLoopback()
  receiver = await startReceiver()
  receiver.answer((received, response) => void response.end(JSON.stringify(challengeOf(received))))
})
afterEach(async () => {
  await strava.stop()
  await receiver.stop()
})

const challengeOf = ({ query }: Received) => ({ 'hub.challenge': query.get('hub.challenge') })

const call = async (method: string, path: string, fields: Record<string, string> = {}) => {
  const all = new URLSearchParams({ client_id: strava.client.id, client_secret: strava.client.secret, ...fields })
  const url = `${strava.variables['TRIBUTARY_STRAVA_API']}/push_subscriptions${path}`
  const response =
    method === 'POST' ? await fetch(url, { method, body: all }) : await fetch(`${url}?${all.toString()}`, { method })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
}
const subscribe = () => call('POST', '', { callback_url: receiver.url, verify_token: 'mine' })
const callbackError = (code: string) => ({
  status: 400,
  body: { message: 'Bad Request', errors: [{ resource: 'PushSubscription', field: 'callback url', code }] },
})

test('a subscription is created after the callback has returned the challenge', async () => {
  expect(await subscribe()).toEqual({ status: 201, body: { id: 120475 } })
  const [received] = receiver.received
  expect(received?.method).toBe('GET')
  expect(received?.query.get('hub.mode')).toBe('subscribe')
  expect(received?.query.get('hub.verify_token')).toBe('mine')
  expect((await call('GET', '')).body).toMatchObject([{ id: 120475, callback_url: receiver.url }])
})

test('the subscription of an application is the only one, until it is deleted', async () => {
  await subscribe()
  expect(await subscribe()).toEqual({
    status: 400,
    body: { message: 'Bad Request', errors: [{ resource: 'PushSubscription', field: '', code: 'already exists' }] },
  })
  expect((await call('DELETE', '/1')).status).toBe(404)
  expect((await call('DELETE', '/120475')).status).toBe(204)
  expect((await call('GET', '')).body).toEqual([])
  expect((await subscribe()).status).toBe(201)
})

test('a callback that does not answer 200 is refused', async () => {
  receiver.answer((_received, response) => void response.writeHead(403).end())
  expect(await subscribe()).toEqual(callbackError('GET to callback URL does not return 200'))
})

test('a callback that returns another challenge, or no JSON, is refused', async () => {
  for (const body of ['{"hub.challenge":"other"}', 'hello']) {
    receiver.answer((_received, response) => void response.end(body))
    expect(await subscribe()).toEqual(callbackError('not verifiable'))
  }
})

test('a callback that does not answer in time, or is not there, is refused', async () => {
  await strava.control('PUT', '/settings', { webhooks: { timeoutMs: 20 } })
  receiver.answer(() => {})
  expect(await subscribe()).toEqual(callbackError('not verifiable'))
  await receiver.stop()
  expect(await subscribe()).toEqual(callbackError('not verifiable'))
  for (const callbackUrl of ['nowhere', 'https://127.0.0.1/'])
    expect(await call('POST', '', { callback_url: callbackUrl })).toEqual(callbackError('not verifiable'))
})

test('the endpoints need the credentials of the application', async () => {
  expect((await call('GET', '', { client_id: '1' })).status).toBe(400)
  expect((await call('POST', '', { client_secret: 'no' })).status).toBe(401)
  expect((await call('DELETE', '/120475', { client_secret: 'no' })).status).toBe(401)
})
