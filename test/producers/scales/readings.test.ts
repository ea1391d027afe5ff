import { expect, test } from 'vitest'
import { createMetrics } from '../../../host/serving/metrics.ts'
import { createEdge } from '../../../producers/http/server.ts'
import { scalesEdge } from '../../../producers/scales/edge.ts'
import { keyOf } from '../../../projections/item.ts'
import { members, owners } from '../../../projections/scales/keys.ts'
import { Fault } from '../../../schemas/fault.ts'
import { NOON } from '../../../testing/event.ts'
import { OPEN_LIMITS } from '../../../testing/edge/edge.ts'
import { send } from '../../../testing/edge/request.ts'
import { openBar } from '../mqtt/bar.ts'

const DEVICE = 'SCALE-0042'
const URL = `/v1/devices/${DEVICE}/readings`

const openReadings = async () => {
  const bar = openBar()
  bar.claim(DEVICE, 'loc-001', 3)
  const own = (key: { PK: string; SK: string }, user_id: string) => bar.items.set(keyOf(key), { ...key, user_id })
  own(owners.key('loc-001'), 'ann')
  own(members.key('loc-001', 'bob'), 'bob')
  const metrics = createMetrics(() => NOON, { log: 'embedded', items: 'embedded', roles: 'edge' })
  const app = createEdge({
    domains: [{ ...scalesEdge, commands: bar.commands, serving: bar.serving }],
    clock: { now: () => NOON },
    ids: { uuidv7: () => crypto.randomUUID() },
    randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
    limits: OPEN_LIMITS,
    version: '0',
    report: metrics.report,
  })
  await app.ready()
  const post = (token: string, body: unknown, url = URL) => send(app, { method: 'POST', url, token, body })
  return { bar, app, post, metrics }
}

const reading = (seq: number, more: object = {}) => ({ seq, age_ms: 60_000, weight_lbs: 100, level_pct: 50, ...more })
const batch = (...readings: object[]) => ({ boot: 'b1', readings })

test('a batch of a device is one append, and the answer lists quarantined events by their index', async () => {
  const { bar, post, metrics } = await openReadings()
  const token = bar.token(DEVICE)
  const before = bar.appends()
  const { status, body, headers } = await post(
    token,
    batch(reading(1), reading(2, { level_pct: 140 }), reading(3), reading(4, { weight_lbs: '12' })),
  )
  expect(status).toBe(202)
  expect(body).toMatchObject({
    accepted: 2,
    quarantined: [
      { index: 1, reason: 'range' },
      { index: 3, reason: 'malformed' },
    ],
  })
  expect(headers['tributary-event']).toBe(body.event)
  expect(body.event).toBe(`0:3:${bar.reported()[3]?.meta.eventId}`)
  expect(bar.reported().map(({ type, meta }) => [type, meta.key, meta.actorId])).toEqual(
    ['ReadingReported', 'ReadingQuarantined', 'ReadingReported', 'ReadingQuarantined'].map((type) => [
      type,
      'loc-001',
      DEVICE,
    ]),
  )
  expect(bar.reported()[0]?.data).toMatchObject({ epoch: 3, at: NOON - 60_000 })
  const counted = (await metrics.text([]))
    .split('\n')
    .filter((line) => line.startsWith('tributary_device_events_quarantined_total{'))
  expect(counted.sort()).toEqual([
    'tributary_device_events_quarantined_total{reason="malformed"} 1',
    'tributary_device_events_quarantined_total{reason="range"} 1',
  ])
  // One append for the batch, and one for the day on which the token was used.
  await expect.poll(() => bar.appends() - before).toBe(2)
})

test('the envelope of MQTT is accepted, too, with up to 1,000 events; sent again, they are the same events', async () => {
  const { bar, post } = await openReadings()
  const token = bar.token(DEVICE)
  const events = Array.from({ length: 1_000 }, (_, seq) => ({
    seq,
    type: 'reading',
    age_ms: 1_000 - seq,
    data: { weight_lbs: 100, level_pct: 50 },
  }))
  for (const attempt of ['first', 'again'])
    expect((await post(token, { v: 1, boot: 7, events })).body, attempt).toMatchObject({
      accepted: 1_000,
      quarantined: [],
    })
  expect(new Set(bar.reported().map(({ meta }) => meta.eventId)).size).toBe(1_000)
  expect((await post(token, { v: 1, boot: 7, events: [...events, events[0]] })).status).toBe(400)
})

test('a member of the location that owns the device can report for it, and a stranger gets device-not-found', async () => {
  const { bar, post } = await openReadings()
  for (const user of ['ann', 'bob'])
    expect((await post(bar.token(user, ['read', 'write']), batch(reading(1)))).status, user).toBe(202)
  expect(bar.reported().map(({ meta }) => meta.actorId)).toEqual(['ann', 'bob'])
  const answers = [
    await post(bar.token('eve', ['read', 'write']), batch(reading(1))),
    await post(bar.token('ann', ['read', 'write']), batch(reading(1)), '/v1/devices/SCALE-0099/readings'),
    await post(bar.token('ann', ['read']), batch(reading(1))),
    await post(bar.token('SCALE-0043'), batch(reading(1))),
  ]
  expect(answers.map(({ status, body }) => [status, body['code']])).toEqual([
    [404, 'device-not-found'],
    [404, 'device-not-found'],
    [403, 'scope-missing'],
    [403, 'wrong-device'],
  ])
  expect(bar.reported()).toHaveLength(2)
})

test("a device's token opens nothing else", async () => {
  const { bar, app } = await openReadings()
  const token = bar.token(DEVICE)
  for (const url of ['/v1/locations/loc-001/taps', '/v1/beers'])
    expect((await send(app, { url, token })).status, url).toBe(403)
})

test('events of a device without an owner are quarantined under the id of the device', async () => {
  const { bar, post } = await openReadings()
  const { status, body } = await post(bar.token('SCALE-0099'), batch(reading(1)), '/v1/devices/SCALE-0099/readings')
  expect([status, body['accepted'], body['quarantined']]).toMatchObject([
    202,
    0,
    [{ index: 0, reason: 'unknown-device' }],
  ])
  expect(bar.reported()).toMatchObject([{ type: 'ReadingQuarantined', meta: { key: 'SCALE-0099' } }])
})

test.each([
  ['no readings', {}],
  ['an empty list', batch()],
  ['both lists', { v: 1, ...batch(reading(1)), events: [] }],
  ['an unknown field', { ...batch(reading(1)), hello: 1 }],
  ['another version', { v: 2, boot: 'b', events: [{}] }],
  ['no boot', { readings: [reading(1)] }],
  ['a list', [1]],
  ['a boot like a key', { ...batch(reading(1)), boot: 'a#b' }],
])('a batch with %s is refused whole', async (_, body) => {
  const { bar, post } = await openReadings()
  expect((await post(bar.token(DEVICE), body)).status).toBe(400)
  expect(bar.reported()).toEqual([])
})

test('a body may have 1 MiB, and a byte more is too much', async () => {
  const { bar, app } = await openReadings()
  const token = bar.token(DEVICE)
  const text = JSON.stringify(batch(reading(1)))
  const answers = [1024 * 1024, 1024 * 1024 + 1].map((size) =>
    send(app, { method: 'POST', url: URL, token, raw: text.padEnd(size) }),
  )
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([202, 413])
})

test('an unavailable log is reported, and after an unknown append the answer names the event', async () => {
  const { bar, post } = await openReadings()
  const token = bar.token(DEVICE)
  bar.fail(new Fault('log-unavailable', 'away', { retriable: true }))
  expect((await post(token, batch(reading(1)))).status).toBe(503)
  bar.fail(new Fault('append-unknown', 'perhaps', { retriable: true }))
  const { status, headers } = await post(token, batch(reading(1)))
  expect([status, headers['tributary-event']]).toEqual([503, expect.stringMatching(/^unknown:/)])
})
