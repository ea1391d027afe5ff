import { afterEach, beforeEach, expect, test } from 'vitest'
import { START, startLoopback, type Loopback } from './loopback.ts'
import { startReceiver } from './receiver.ts'

const EVENT_TIME = Date.parse(START) / 1000
const RETRY_MS = 60_000

let strava: Loopback
let receiver: Awaited<ReturnType<typeof startReceiver>>
beforeEach(async () => {
  strava = await startLoopback()
  receiver = await startReceiver()
  await strava.control('PUT', '/subscription', { callback_url: receiver.url })
})
afterEach(async () => {
  await strava.stop()
  await receiver.stop()
})

const settled = () => strava.control('GET', '/webhooks/settled')
const linked = async (...scopes: string[]): Promise<string> => {
  const athlete = await strava.athlete()
  await strava.grant(athlete, ...scopes)
  return athlete
}
/** The aspect and the updates of each received event. */
const changes = async (): Promise<readonly unknown[]> => {
  await settled()
  return receiver.events().map((text) => {
    const event: unknown = JSON.parse(text)
    if (typeof event !== 'object' || event === null) return event
    return [Reflect.get(event, 'aspect_type'), Reflect.get(event, 'updates')]
  })
}
const deliveries = async (): Promise<readonly { state: string; attempts: readonly Record<string, unknown>[] }[]> => {
  await settled()
  const { body } = await strava.control('GET', '/webhooks')
  return body['deliveries'] as readonly { state: string; attempts: readonly Record<string, unknown>[] }[]
}

test('a new activity sends a create event with ids of 17 digits as numbers, and no signature', async () => {
  const athlete = await linked()
  const id = await strava.activity(athlete)
  await settled()
  expect(receiver.events()).toEqual([
    `{"aspect_type":"create","event_time":${EVENT_TIME},"object_id":${id},"object_type":"activity",` +
      `"owner_id":${athlete},"subscription_id":120475,"updates":{}}`,
  ])
  expect(receiver.received[0]?.path).toBe('/webhooks/strava/secret')
  expect(Object.keys(receiver.received[0]?.headers ?? {}).sort()).toEqual([
    'connection',
    'content-length',
    'content-type',
    'host',
  ])
})

test('updates announce title and type, as strings, and no other change', async () => {
  const id = await strava.activity(await linked())
  await strava.control('PATCH', `/activities/${id}`, { distance: 5 })
  await strava.control('PATCH', `/activities/${id}`, { name: 'Messy', sport_type: 'Run' })
  expect(await changes()).toEqual([
    ['create', {}],
    ['update', { title: 'Messy', type: 'Run' }],
  ])
})

test('with activity:read_all a change of privacy is an update with the string true or false', async () => {
  const id = await strava.activity(await linked('activity:read', 'activity:read_all'))
  await strava.control('PATCH', `/activities/${id}`, { visibility: 'followers_only' })
  await strava.control('PATCH', `/activities/${id}`, { visibility: 'only_me' })
  await strava.control('PATCH', `/activities/${id}`, { visibility: 'everyone' })
  await strava.control('DELETE', `/activities/${id}`)
  expect(await changes()).toEqual([
    ['create', {}],
    ['update', { private: 'true' }],
    ['update', { private: 'false' }],
    ['delete', {}],
  ])
})

test('with activity:read alone, hiding sends delete and showing sends create', async () => {
  const id = await strava.activity(await linked('activity:read'))
  await strava.control('PATCH', `/activities/${id}`, { visibility: 'only_me' })
  await strava.control('PATCH', `/activities/${id}`, { name: 'hidden' })
  await strava.control('PATCH', `/activities/${id}`, { visibility: 'everyone' })
  await strava.control('PATCH', `/activities/${id}`, { visibility: 'only_me' })
  await strava.control('DELETE', `/activities/${id}`)
  expect(await changes()).toEqual([
    ['create', {}],
    ['delete', {}],
    ['create', {}],
    ['delete', {}],
  ])
})

test('athletes without a scope of activities, or without a link, send no events of activities', async () => {
  await strava.activity(await linked('read'))
  await strava.activity(await strava.athlete())
  expect(await changes()).toEqual([])
})

test('an athlete who removes the application sends authorized "false", and the tokens end', async () => {
  const athlete = await strava.athlete()
  const { access } = await strava.grant(athlete)
  await strava.control('POST', `/athletes/${athlete}/revoke`)
  await settled()
  expect(receiver.events()).toEqual([
    `{"aspect_type":"update","event_time":${EVENT_TIME},"object_id":${athlete},"object_type":"athlete",` +
      `"owner_id":${athlete},"subscription_id":120475,"updates":{"authorized":"false"}}`,
  ])
  expect((await strava.api('/athlete', access)).status).toBe(401)
})

test('a revocation by the application sends the same event, unless the settings say no', async () => {
  const deauthorize = async () => {
    const { access } = await strava.grant(await strava.athlete())
    await strava.oauth('/deauthorize', { access_token: access })
  }
  await deauthorize()
  await strava.control('PUT', '/settings', { webhooks: { onAppRevocation: false } })
  await deauthorize()
  expect(await changes()).toEqual([['update', { authorized: 'false' }]])
})

test.each([201, 302, 500])('an answer %i is not a success: three attempts, then no more', async (status) => {
  receiver.answer((_received, response) => void response.writeHead(status).end())
  await strava.activity(await linked())
  expect(await deliveries()).toMatchObject([{ state: 'pending', attempts: [{ status }] }])
  for (let later = 0; later < 5; later++) {
    await strava.advance(RETRY_MS)
    await settled()
  }
  expect(await deliveries()).toMatchObject([{ state: 'failed', attempts: [{ status }, { status }, { status }] }])
  expect(new Set(receiver.events()).size).toBe(1)
  expect(receiver.events()).toHaveLength(3)
})

test('a receiver that does not answer in time gets the event again', async () => {
  await strava.control('PUT', '/settings', { webhooks: { timeoutMs: 20 } })
  receiver.answer(() => {})
  await strava.activity(await linked())
  expect(await deliveries()).toMatchObject([{ state: 'pending', attempts: [{ error: 'no answer within 20 ms' }] }])
  receiver.answer((_received, response) => void response.end())
  await strava.control('PUT', '/settings', { webhooks: { timeoutMs: 2_000 } })
  await strava.advance(RETRY_MS - 1)
  expect(await deliveries()).toMatchObject([{ state: 'pending', attempts: [{}] }])
  await strava.advance(1)
  expect(await deliveries()).toMatchObject([{ state: 'delivered', attempts: [{}, { status: 200 }] }])
})

test('a receiver that is not there gets the event again', async () => {
  await receiver.stop()
  await strava.activity(await linked())
  const [delivery] = await deliveries()
  expect(delivery?.attempts[0]?.['error']).toContain('ECONNREFUSED')
})

test('without a subscription events are dropped', async () => {
  await strava.control('DELETE', '/subscription')
  await strava.activity(await linked())
  expect(await deliveries()).toMatchObject([{ state: 'dropped', attempts: [] }])
})

test('events can be delivered several times', async () => {
  await strava.control('PUT', '/settings', { webhooks: { copies: 3 } })
  await strava.activity(await linked())
  expect(await changes()).toEqual([
    ['create', {}],
    ['create', {}],
    ['create', {}],
  ])
})

test('paused events wait, and are released in another order and several times', async () => {
  await strava.control('PUT', '/settings', { webhooks: { isPaused: true } })
  const id = await strava.activity(await linked())
  await strava.control('PATCH', `/activities/${id}`, { name: 'second' })
  await strava.control('DELETE', `/activities/${id}`)
  expect(await changes()).toEqual([])
  const { body } = await strava.control('POST', '/webhooks/release', { order: 'reversed', copies: 2 })
  expect(body).toEqual({ released: 6 })
  const aspects = (await changes()).map((change) => (Array.isArray(change) ? change[0] : undefined) as unknown)
  expect(aspects).toEqual(['delete', 'update', 'create', 'delete', 'update', 'create'])
})

test('a shuffled release is decided by the seed', async () => {
  await strava.control('PUT', '/settings', { webhooks: { isPaused: true } })
  const athlete = await linked()
  const orderOf = async (seed: number) => {
    const before = receiver.events().length
    for (let n = 0; n < 10; n++) await strava.control('POST', '/webhooks', { object_id: String(n), owner_id: athlete })
    await strava.control('POST', '/webhooks/release', { order: 'shuffled', seed })
    await settled()
    return receiver.events().slice(before)
  }
  const first = await orderOf(1)
  expect(await orderOf(1)).toEqual(first)
  expect(await orderOf(2)).not.toEqual(first)
  expect(first.toSorted()).toEqual((await orderOf(3)).toSorted())
})

test('a test can send an event that no activity caused', async () => {
  await strava.control('POST', '/webhooks', {
    object_id: '12345678901234567',
    owner_id: '987654321',
    aspect_type: 'update',
    event_time: 9_999_999_999,
    subscription_id: '5',
    updates: { private: 'true' },
  })
  await settled()
  expect(receiver.events()).toEqual([
    '{"aspect_type":"update","event_time":9999999999,"object_id":12345678901234567,"object_type":"activity",' +
      '"owner_id":987654321,"subscription_id":5,"updates":{"private":"true"}}',
  ])
})

test('the log can be read by owner', async () => {
  const [first, second] = [await linked(), await linked()]
  await strava.activity(first)
  await strava.activity(second)
  await settled()
  const { body } = await strava.control('GET', `/webhooks?owner=${second}`)
  expect(body['deliveries']).toMatchObject([{ event: { owner_id: second }, state: 'delivered' }])
  expect(body['totals']).toEqual({ events: 2, attempts: 2, delivered: 2, failed: 0, dropped: 0, held: 0, waiting: 0 })
})
