import { describe, expect, test } from 'vitest'
import { Fault } from '../../../schemas/fault.ts'
import { createFailedLogins } from '../../../producers/mqtt/failed-logins.ts'
import { scaleDevices } from '../../../producers/scales/device-messages.ts'
import { closed, connected, deviceAt, envelope, openBar, scalesOf, serve } from './bar.ts'

const TOPIC = 'scale-sense/loc-001/SCALE-0042/reading'
const DEVICE = 'SCALE-0042'

const openScale = async (options: object = {}, more: object = {}) => {
  const bar = openBar()
  bar.claim(DEVICE, 'loc-001')
  const password = bar.token(DEVICE)
  const broker = await serve(bar, more)
  const client = deviceAt(broker.address, DEVICE, { password, ...options })
  await connected(client)
  return { bar, broker, client, password }
}

test('S-a: a reading becomes an event of the location that owns the device, with the natural key of the device', async () => {
  const { bar, client } = await openScale()
  await client.publishAsync(TOPIC, envelope(7), { qos: 1 })
  const [event] = bar.reported()
  expect(event).toMatchObject({
    type: 'ReadingReported',
    meta: { key: 'loc-001', actorId: DEVICE, source: 'mqtt' },
    data: { device_id: DEVICE, epoch: 1, boot: 'b1', seq: 7, weight_lbs: 107 },
  })
})

test('a login that the store does not answer in time is refused as "server unavailable", not as a wrong token', async () => {
  const bar = openBar()
  const password = bar.token(DEVICE)
  Object.assign(bar.reader, {
    get: () => new Promise(() => {}),
    getMany: () => new Promise(() => {}),
    query: () => new Promise(() => {}),
  })
  const broker = await serve(bar, { readMs: 200 })
  const client = deviceAt(broker.address, DEVICE, { password })
  const error = await connected(client).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 3 })
  expect(bar.counts['refused:token']).toBeUndefined()
})

test('PUBACK comes only after the log has the events', async () => {
  const { bar, client } = await openScale()
  bar.pause()
  const before = bar.appends()
  let acknowledged = false
  const published = client.publishAsync(TOPIC, envelope(1), { qos: 1 }).then(() => (acknowledged = true))
  await expect.poll(() => bar.appends()).toBeGreaterThan(before)
  // Waits for the next packet of the broker. It is the answer to the ping, unless the broker acknowledges the message too early.
  await new Promise<void>((done) => {
    client.once('packetreceive', () => done())
    client.sendPing()
  })
  expect(acknowledged).toBe(false)
  expect(bar.reported()).toEqual([])
  bar.release()
  await published
  expect(bar.reported()).toHaveLength(1)
})

test('if the log is unavailable, there is no PUBACK and the connection ends; the message sent again is the same event', async () => {
  const { bar, client, broker, password } = await openScale()
  bar.fail(new Fault('log-unavailable', 'the log is away', { retriable: true }))
  let acknowledged = false
  client.publish(TOPIC, envelope(1), { qos: 1 }, (error) => (acknowledged = !error))
  await closed(client)
  expect(acknowledged).toBe(false)
  expect(bar.counts['refused:log']).toBe(1)
  bar.fail(undefined)
  const again = deviceAt(broker.address, DEVICE, { password })
  await connected(again)
  await again.publishAsync(TOPIC, envelope(1), { qos: 1 })
  await again.publishAsync(TOPIC, envelope(1), { qos: 1, dup: true })
  const ids = bar.reported().map(({ meta }) => meta.eventId)
  expect(ids).toHaveLength(2)
  expect(new Set(ids).size).toBe(1)
})

test('many failed messages of one connection are one line in the log, and all are counted', async () => {
  const { bar, client } = await openScale()
  bar.pause()
  const before = bar.appends()
  for (let seq = 0; seq < 40; seq += 1) client.publish(TOPIC, envelope(seq), { qos: 1 }, () => {})
  await expect.poll(() => bar.appends()).toBeGreaterThan(before)
  bar.fail(new Fault('log-unavailable', 'the log is away', { retriable: true }))
  const gone = closed(client)
  bar.release()
  await gone
  await expect.poll(() => bar.counts['refused:log']).toBeGreaterThan(1)
  expect(bar.lines.filter(({ fields }) => 'device' in fields)).toHaveLength(1)
})

test('messages of one device are appended in order, many in one append', async () => {
  const { bar, client } = await openScale()
  await Promise.all(Array.from({ length: 300 }, (_, seq) => client.publishAsync(TOPIC, envelope(seq), { qos: 1 })))
  expect(bar.reported().map(({ data }) => (data as { seq: number }).seq)).toEqual(
    Array.from({ length: 300 }, (_, seq) => seq),
  )
  expect(bar.appends()).toBeLessThan(150)
})

test.each([
  ['the topic of another device', 'scale-sense/loc-001/SCALE-0043/reading', {}, 'topic'],
  ['another location', 'scale-sense/loc-002/SCALE-0042/reading', {}, 'topic'],
  ['a topic outside', 'weather/today', {}, 'topic'],
  ['a reserved topic', '$SYS/broker/log', {}, 'topic'],
  ['a kind that is none', 'scale-sense/loc-001/SCALE-0042/cmd', {}, 'topic'],
  ['a retained reading', TOPIC, { retain: true }, 'retained'],
])('S-a: publishing to %s ends the connection, and appends nothing', async (_, topic, options, reason) => {
  const { bar, client } = await openScale()
  client.publish(topic, envelope(1), { qos: 1, ...options })
  await closed(client)
  expect(bar.reported()).toEqual([])
  expect(bar.counts[`refused:${reason}`]).toBe(1)
  expect(bar.lines.some(({ message }) => message.startsWith('a device is refused'))).toBe(true)
})

test.each([
  '#',
  'scale-sense/#',
  'scale-sense/+/+/reading',
  '$SYS/#',
  'scale-sense/loc-001/SCALE-0043/status',
  '$share/g/scale-sense/#',
])('subscribing to %s is refused', async (filter) => {
  const { bar, client } = await openScale()
  client.subscribe(filter, () => {})
  await closed(client)
  expect(bar.counts['refused:subscription']).toBe(1)
})

test('a device can subscribe to its own status', async () => {
  const { client } = await openScale()
  await expect(client.subscribeAsync('scale-sense/loc-001/SCALE-0042/status')).resolves.toHaveLength(1)
})

test.each([
  ['a token of another device', (bar: ReturnType<typeof openBar>) => ({ password: bar.token('SCALE-0043') })],
  ["a person's token", (bar: ReturnType<typeof openBar>) => ({ password: bar.token(DEVICE, ['read', 'write']) })],
  ['no token', () => ({})],
  ['a made-up token', () => ({ password: 'trib_scales_nonsense' })],
  ['another client id', (bar: ReturnType<typeof openBar>) => ({ password: bar.token(DEVICE), clientId: 'SCALE-0043' })],
  [
    'a will for another device',
    (bar: ReturnType<typeof openBar>) => ({
      password: bar.token(DEVICE),
      will: { topic: 'scale-sense/loc-001/SCALE-0043/status', payload: '{"online":false}' },
    }),
  ],
  [
    'a will at another location',
    (bar: ReturnType<typeof openBar>) => ({
      password: bar.token(DEVICE),
      will: { topic: 'scale-sense/loc-002/SCALE-0042/status', payload: '{"online":false}' },
    }),
  ],
  [
    'a will that is a reading',
    (bar: ReturnType<typeof openBar>) => ({
      password: bar.token(DEVICE),
      will: { topic: TOPIC, payload: envelope(1) },
    }),
  ],
  ['no keepalive', (bar: ReturnType<typeof openBar>) => ({ password: bar.token(DEVICE), keepalive: 0 })],
])('a device with %s cannot log in', async (_, options) => {
  const bar = openBar()
  bar.claim(DEVICE, 'loc-001')
  const { address } = await serve(bar)
  await expect(connected(deviceAt(address, DEVICE, options(bar)))).rejects.toThrow()
  expect(bar.reported()).toEqual([])
})

test('a failed login under the id of a connected device does not disturb the device', async () => {
  const { bar, client, broker } = await openScale()
  await expect(connected(deviceAt(broker.address, DEVICE, { password: bar.token('SCALE-0043') }))).rejects.toThrow()
  await client.publishAsync(TOPIC, envelope(1), { qos: 1 })
  expect(bar.reported()).toHaveLength(1)
})

test('a token that is revoked ends its silent connection, and no other', async () => {
  const { bar, client, broker } = await openScale({}, { checkMs: 20 })
  const other = deviceAt(broker.address, 'SCALE-0043', { password: bar.token('SCALE-0043') })
  await connected(other)
  bar.revoke(DEVICE)
  await closed(client)
  expect(bar.counts['refused:token']).toBe(1)
  await other.publishAsync('scale-sense/loc-001/SCALE-0043/reading', envelope(1), { qos: 1 })
})

test('a store that does not answer ends no silent connection', async () => {
  const bar = openBar()
  let isDown = false
  let reads = 0
  const serving = async () => {
    if (!isDown) return bar.serving()
    reads += 1
    throw new Fault('store-unavailable', 'the store is away', { retriable: true })
  }
  bar.claim(DEVICE, 'loc-001')
  const { address } = await serve(bar, { checkMs: 20, domains: [scalesOf(bar, serving)] })
  const client = deviceAt(address, DEVICE, { password: bar.token(DEVICE) })
  await connected(client)
  isDown = true
  await expect.poll(() => reads).toBeGreaterThan(2)
  isDown = false
  await client.publishAsync(TOPIC, envelope(1), { qos: 1 })
  expect(bar.reported()).toHaveLength(1)
})

/** A clock that does not advance, so that no failed login expires. */
const STILL = { now: () => 1_800_000_000_000, sleep: () => new Promise<void>(() => {}) }

const guess = async (address: string, device: string, times: number) => {
  for (let count = 0; count < times; count += 1)
    await connected(deviceAt(address, device, { password: `guess-${count}` })).catch(() => {})
}

test('too many failed logins under one name are refused without a read of the store, and other names at the same address are not', async () => {
  const bar = openBar()
  const { address } = await serve(bar, { clock: STILL })
  await guess(address, DEVICE, 60)
  expect(bar.counts['refused:guessing']).toBe(9)
  bar.claim('SCALE-0043', 'loc-001')
  await connected(deviceAt(address, 'SCALE-0043', { password: bar.token('SCALE-0043') }))
  await expect(connected(deviceAt(address, DEVICE, { password: bar.token(DEVICE) }))).rejects.toThrow()
})

test('failed logins under the id of a device do not lock it out when it reconnects', async () => {
  const { bar, client, broker, password } = await openScale({}, { clock: STILL })
  await client.endAsync()
  await guess(broker.address, DEVICE, 60)
  expect(bar.counts['refused:guessing']).toBe(9)
  await connected(deviceAt(broker.address, DEVICE, { password }))
})

test('the table of failed logins is bounded, and removes the name that failed longest ago', () => {
  const failures = createFailedLogins(() => 0, 100)
  for (let count = 0; count < 60; count += 1) failures.add('guessed')
  for (let name = 0; name < 99; name += 1) failures.add(`name-${name}`)
  expect([failures.size(), failures.isTooFast('guessed')]).toEqual([100, true])
  failures.add('guessed')
  for (let name = 0; name < 10_000; name += 1) {
    failures.add(`other-${name}`)
    if (name % 50 === 0) failures.add('guessed')
  }
  expect([failures.size(), failures.isTooFast('guessed')]).toEqual([100, true])
})

test('a token that is revoked ends its connection with the next message', async () => {
  const { bar, client } = await openScale()
  await client.publishAsync(TOPIC, envelope(1), { qos: 1 })
  bar.revoke(DEVICE)
  client.publish(TOPIC, envelope(2), { qos: 1 })
  await closed(client)
  expect(bar.reported()).toHaveLength(1)
})

test('messages of a device without an owner are quarantined under the id of the device', async () => {
  const bar = openBar()
  const { address } = await serve(bar)
  const stranger = deviceAt(address, 'SCALE-0099', { password: bar.token('SCALE-0099') })
  await connected(stranger)
  await stranger.publishAsync('scale-sense/loc-001/SCALE-0099/reading', envelope(3), { qos: 1 })
  expect(bar.reported()).toMatchObject([
    { type: 'ReadingQuarantined', meta: { key: 'SCALE-0099' }, data: { reason: 'unknown-device', boot: 'b1', seq: 3 } },
  ])
  expect(bar.counts['quarantined:unknown-device']).toBe(1)
})

test('the birth message and the last will report whether the device is online', async () => {
  const status = 'scale-sense/loc-001/SCALE-0042/status'
  const { bar, client } = await openScale({
    will: { topic: status, payload: '{"online":false}', qos: 1, retain: true },
  })
  await client.publishAsync(
    status,
    JSON.stringify({
      v: 1,
      online: true,
      boot: 'b1',
      fw: '1.4.2',
      dropped: 3,
      tare_empty_offset: 1.5,
      tare_full_lbs: 161.5,
    }),
    { qos: 1, retain: true },
  )
  client.stream.destroy()
  await expect.poll(() => bar.reported().length).toBe(2)
  expect(bar.reported()).toMatchObject([
    {
      type: 'DeviceStatusReported',
      data: { online: true, boot: 'b1', fw: '1.4.2', dropped: 3, tare_empty_offset: 1.5, tare_full_lbs: 161.5 },
    },
    { type: 'DeviceStatusReported', data: { online: false, boot: null } },
  ])
})

test('a device that disconnects properly has no last will', async () => {
  const status = 'scale-sense/loc-001/SCALE-0042/status'
  const { bar, client } = await openScale({ will: { topic: status, payload: '{"online":false}', qos: 1 } })
  await client.endAsync()
  await expect.poll(() => bar.counts['connections']).toBe(0)
  expect(bar.reported()).toEqual([])
})

test('a packet of 1 MB ends the connection before it is collected', async () => {
  const { bar, client } = await openScale()
  client.publish(TOPIC, Buffer.alloc(1_000_000, 'x'), { qos: 1 })
  await closed(client)
  expect(bar.counts['refused:packet-too-large']).toBe(1)
  expect(bar.reported()).toEqual([])
})

test('a half-open connection ends by its keepalive', async () => {
  const { bar, client } = await openScale({ keepalive: 1, reschedulePings: false })
  client.stream.pause()
  client.sendPing = () => {}
  const status = new Promise<void>((done) => client.stream.once('close', () => done()))
  await expect.poll(() => bar.counts['connections'], { timeout: 10_000 }).toBe(0)
  client.stream.resume()
  await status
})

test('10,000 messages in a second from one device are appended at its rate, and other devices do not wait', async () => {
  const waits: (() => void)[] = []
  const { bar, client, broker } = await openScale(
    {},
    {
      rate: { perSecond: 10, burst: 20 },
      clock: { now: () => 1_800_000_000_000, sleep: () => new Promise<void>((done) => waits.push(done)) },
    },
  )
  for (let seq = 0; seq < 10_000; seq += 1) client.publish(TOPIC, envelope(seq), { qos: 1 })
  await expect.poll(() => bar.counts['delayed'] ?? 0).toBeGreaterThan(0)
  bar.claim('SCALE-0043', 'loc-001')
  const other = deviceAt(broker.address, 'SCALE-0043', { password: bar.token('SCALE-0043') })
  await connected(other)
  await other.publishAsync('scale-sense/loc-001/SCALE-0043/reading', envelope(1), { qos: 1 })
  expect(bar.reported().filter(({ data }) => (data as { device_id: string }).device_id === DEVICE).length).toBeLessThan(
    1_000,
  )
  const drain = setInterval(() => waits.splice(0).forEach((done) => done()), 5)
  client.end(true)
  await expect.poll(() => bar.counts['connections']).toBe(1)
  await broker.stop()
  clearInterval(drain)
})

test('stopping acknowledges the messages under way, and publishes no last wills', async () => {
  const { bar, broker, client } = await openScale({
    will: { topic: 'scale-sense/loc-001/SCALE-0042/status', payload: '{"online":false}', qos: 1 },
  })
  bar.pause()
  const before = bar.appends()
  const published = client.publishAsync(TOPIC, envelope(1), { qos: 1 })
  await expect.poll(() => bar.appends()).toBeGreaterThan(before)
  const stopped = broker.stop()
  bar.release()
  await Promise.all([stopped, published])
  expect(bar.reported().map(({ type }) => type)).toEqual(['ReadingReported'])
})

describe('a broker with the devices of two domains', () => {
  const TOYS = 'toys'
  const open = async () => {
    const [bar, shop] = [openBar(), openBar()]
    const toys = { ...scalesOf(shop), name: TOYS, devices: { ...scaleDevices, root: TOYS } }
    const { address } = await serve(bar, { domains: [scalesOf(bar), toys] })
    return { bar, shop, address }
  }

  test('appends each message to the log of the domain that the topic and the token name', async () => {
    const { bar, shop, address } = await open()
    bar.claim(DEVICE, 'loc-001')
    shop.claim('TOY-1', 'shop-1')
    const scale = deviceAt(address, DEVICE, { password: bar.token(DEVICE) })
    const toy = deviceAt(address, 'TOY-1', { password: shop.token('TOY-1', ['device'], TOYS) })
    await Promise.all([connected(scale), connected(toy)])
    await scale.publishAsync(TOPIC, envelope(1), { qos: 1 })
    await toy.publishAsync('toys/shop-1/TOY-1/reading', envelope(2), { qos: 1 })
    expect(bar.reported().map(({ meta }) => meta.key)).toEqual(['loc-001'])
    expect(shop.reported().map(({ meta }) => meta.key)).toEqual(['shop-1'])
    toy.publish('scale-sense/shop-1/TOY-1/reading', envelope(3), { qos: 1 })
    await closed(toy)
    expect(bar.reported()).toHaveLength(1)
  })

  test('refuses a device with the id of a device of the other domain', async () => {
    const { bar, shop, address } = await open()
    bar.claim(DEVICE, 'loc-001')
    shop.claim(DEVICE, 'shop-1')
    const scale = deviceAt(address, DEVICE, { password: bar.token(DEVICE) })
    await connected(scale)
    const toy = deviceAt(address, DEVICE, { password: shop.token(DEVICE, ['device'], TOYS) })
    await expect(connected(toy)).rejects.toThrow()
    await scale.publishAsync(TOPIC, envelope(1), { qos: 1 })
    expect(bar.reported()).toHaveLength(1)
    expect(bar.counts['refused:client-id']).toBe(1)
  })
})
