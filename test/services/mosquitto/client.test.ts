import { Aedes } from 'aedes'
import { createServer, type AddressInfo } from 'node:net'
import { connect, type IClientOptions } from 'mqtt'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { joinBroker, type JoinOptions } from '../../../producers/mqtt/client.ts'
import { Fault } from '../../../schemas/fault.ts'
import { describeWith } from '../available.ts'
import { mosquittoAvailable, startMosquitto, type Mosquitto } from '../mosquitto.ts'
import { clock, connected, deviceAt, envelope, openBar, scalesOf, type Bar } from '../../producers/mqtt/bar.ts'

let serial = 0

const join = (bar: Bar, url: string, options: Partial<JoinOptions> = {}) => {
  const log = (fields: object, message: string) => void bar.lines.push({ fields, message })
  const joined = joinBroker(
    { domains: [scalesOf(bar)], clock, report: bar.report, logger: { info: log, warn: log } },
    { url, clientId: `tributary-${(serial += 1)}`, retryMs: 100, ...options },
  )
  onTestFinished(() => joined.stop())
  return joined
}

const isJoined = (bar: Bar) =>
  expect.poll(() => bar.lines.some(({ message }) => message.startsWith('joined')), { timeout: 10_000 }).toBe(true)

/** Connects a device with a new name, so that tests can share a broker. */
const scale = async (url: string, options: IClientOptions = {}) => {
  const device = `SCALE-${(serial += 1)}`
  const client = deviceAt(url, device, options)
  await connected(client)
  return {
    device,
    client,
    topic: `scale-sense/loc-001/${device}/reading`,
    status: `scale-sense/loc-001/${device}/status`,
  }
}

const of = (bar: Bar, device: string) =>
  bar.reported().filter(({ data }) => (data as { device_id: string }).device_id === device)
const seqs = (bar: Bar, device: string) => of(bar, device).map(({ data }) => (data as { seq: number }).seq)

const openAt = async (url: string, options: Partial<JoinOptions> = {}) => {
  const bar = openBar()
  const joined = join(bar, url, options)
  await isJoined(bar)
  return { bar, joined }
}

describeWith('an external broker (Mosquitto)', mosquittoAvailable(), () => {
  let mosquitto: Mosquitto
  beforeAll(async () => {
    mosquitto = await startMosquitto()
  })
  afterAll(() => mosquitto.stop())

  test.each([4, 5] as const)(
    'the readings of a device with MQTT protocol version %i arrive in order, with its birth message and last will',
    async (protocolVersion) => {
      const { bar } = await openAt(mosquitto.url)
      const { device, client, topic, status } = await scale(mosquitto.url, { protocolVersion })
      bar.claim(device, 'loc-001')
      const withWill = await scale(mosquitto.url, {
        protocolVersion,
        will: { topic: status, payload: Buffer.from('{"online":false}'), qos: 1, retain: true },
      })
      await client.publishAsync(status, '{"online":true,"boot":"b1"}', { qos: 1, retain: true })
      for (let seq = 0; seq < 20; seq += 1) await client.publishAsync(topic, envelope(seq), { qos: 1 })
      await expect.poll(() => seqs(bar, device).length).toBe(21)
      expect(seqs(bar, device).slice(1)).toEqual(Array.from({ length: 20 }, (_, seq) => seq))
      withWill.client.stream.destroy()
      await expect.poll(() => of(bar, device).at(-1)?.data).toMatchObject({ online: false })
      expect(of(bar, device)[0]).toMatchObject({
        type: 'DeviceStatusReported',
        meta: { key: 'loc-001' },
        data: { online: true },
      })
    },
  )

  test('a message that the log did not store is not acknowledged and is delivered again', async () => {
    const { bar } = await openAt(mosquitto.url)
    const { device, client, topic } = await scale(mosquitto.url)
    bar.claim(device, 'loc-001')
    bar.fail(new Fault('log-unavailable', 'the log is away', { retriable: true }))
    await client.publishAsync(topic, envelope(1), { qos: 1 })
    await expect.poll(() => bar.counts['refused:log'] ?? 0).toBeGreaterThan(1)
    expect(of(bar, device)).toEqual([])
    bar.fail(undefined)
    await expect.poll(() => seqs(bar, device), { timeout: 10_000 }).toEqual([1])
  })

  test('the broker stores messages while no process is connected and delivers unacknowledged ones first', async () => {
    const bar = openBar()
    const first = join(bar, mosquitto.url, { clientId: 'steady' })
    await isJoined(bar)
    const { device, client, topic } = await scale(mosquitto.url)
    bar.claim(device, 'loc-001')
    await client.publishAsync(topic, envelope(1), { qos: 1 })
    await expect.poll(() => seqs(bar, device)).toEqual([1])
    await first.stop()
    for (const seq of [2, 3]) await client.publishAsync(topic, envelope(seq), { qos: 1 })
    expect(seqs(bar, device)).toEqual([1])
    join(bar, mosquitto.url, { clientId: 'steady' })
    await expect.poll(() => seqs(bar, device), { timeout: 10_000 }).toEqual([1, 2, 3])
  })

  test('a retained message is not a new reading, and a message of another topic is ignored', async () => {
    const before = await scale(mosquitto.url)
    await before.client.publishAsync(before.topic, envelope(1), { qos: 1, retain: true })
    const { bar } = await openAt(mosquitto.url)
    bar.claim(before.device, 'loc-001')
    await before.client.publishAsync('scale-sense/loc-001/SCALE-0042/cmd', 'hello', { qos: 1 })
    await before.client.publishAsync(before.topic, envelope(2), { qos: 1 })
    await expect.poll(() => seqs(bar, before.device)).toEqual([2])
    expect(bar.counts['refused:topic']).toBe(1)
  })

  test('a reading for another location and a malformed message are quarantined', async () => {
    const { bar } = await openAt(mosquitto.url)
    const { device, client, topic } = await scale(mosquitto.url)
    bar.claim(device, 'loc-002')
    await client.publishAsync(topic, envelope(1), { qos: 1 })
    await client.publishAsync(topic, Buffer.alloc(1_000_000, 'x'), { qos: 1 })
    await expect
      .poll(() => of(bar, device))
      .toMatchObject([
        { type: 'ReadingQuarantined', meta: { key: 'loc-002' }, data: { reason: 'wrong-location', seq: 1 } },
        { type: 'ReadingQuarantined', meta: { key: 'loc-002' }, data: { reason: 'malformed' } },
      ])
  })

  test('two processes with a shared subscription of MQTT 5 receive each message once', async () => {
    const bar = openBar()
    for (const clientId of ['one', 'two']) join(bar, mosquitto.url, { clientId, share: 'bar' })
    await expect.poll(() => bar.lines.filter(({ message }) => message.startsWith('joined')).length).toBe(2)
    const { device, client, topic } = await scale(mosquitto.url)
    bar.claim(device, 'loc-001')
    await Promise.all(Array.from({ length: 50 }, (_, seq) => client.publishAsync(topic, envelope(seq), { qos: 1 })))
    await client.publishAsync(topic, envelope(50), { qos: 1 })
    await expect.poll(() => new Set(seqs(bar, device)).size, { timeout: 10_000 }).toBe(51)
    expect(seqs(bar, device)).toHaveLength(51)
  })

  test('two processes without a shared subscription append the same events', async () => {
    const bar = openBar()
    for (const clientId of ['left', 'right']) join(bar, mosquitto.url, { clientId })
    await expect.poll(() => bar.lines.filter(({ message }) => message.startsWith('joined')).length).toBe(2)
    const { device, client, topic } = await scale(mosquitto.url)
    bar.claim(device, 'loc-001')
    await client.publishAsync(topic, envelope(1), { qos: 1 })
    await expect.poll(() => seqs(bar, device)).toEqual([1, 1])
    expect(new Set(of(bar, device).map(({ meta }) => meta.eventId)).size).toBe(1)
  })

  test('the client connects again after the broker was killed and started again', { timeout: 60_000 }, async () => {
    const own = await startMosquitto()
    onTestFinished(() => own.stop())
    const { bar } = await openAt(own.url)
    const { device, client, topic } = await scale(own.url, { reconnectPeriod: 100, clean: false })
    bar.claim(device, 'loc-001')
    await client.publishAsync(topic, envelope(1), { qos: 1 })
    await expect.poll(() => seqs(bar, device)).toEqual([1])
    await own.kill()
    await expect.poll(() => bar.counts['connections']).toBe(0)
    await own.start()
    await expect.poll(() => bar.counts['connections'], { timeout: 20_000 }).toBe(1)
    await client.publishAsync(topic, envelope(2), { qos: 1 })
    await expect.poll(() => [...new Set(seqs(bar, device))], { timeout: 20_000 }).toEqual([1, 2])
  })

  test('with the access rules of docs/devices.md a device can publish for itself only', async () => {
    const own = await startMosquitto({
      users: { tributary: 'edge-secret', 'SCALE-A': 'a-secret', 'SCALE-B': 'b-secret' },
      acl: [
        'user tributary',
        'topic read scale-sense/#',
        'pattern write scale-sense/+/%u/reading',
        'pattern write scale-sense/+/%u/status',
      ],
    })
    onTestFinished(() => own.stop())
    const { bar } = await openAt(own.url, { username: 'tributary', password: 'edge-secret' })
    for (const device of ['SCALE-A', 'SCALE-B']) bar.claim(device, 'loc-001')
    const client = deviceAt(own.url, 'SCALE-A', { password: 'a-secret' })
    await connected(client)
    await client.publishAsync('scale-sense/loc-001/SCALE-B/reading', envelope(1), { qos: 1 })
    await client.publishAsync('scale-sense/loc-001/SCALE-A/reading', envelope(2), { qos: 1 })
    await expect.poll(() => bar.reported()).toMatchObject([{ data: { device_id: 'SCALE-A', seq: 2 } }])
  })
})

describe('a broker with MQTT 3.1.1 only', () => {
  const plainBroker = async () => {
    const broker = await Aedes.createBroker()
    const server = createServer((socket) => void broker.handle(socket))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    onTestFinished(() => {
      server.close()
      return new Promise<void>((done) => broker.close(done))
    })
    return `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  test('is used with MQTT 3.1.1', async () => {
    const url = await plainBroker()
    const { bar } = await openAt(url)
    expect(bar.lines.at(-1)?.message).toContain('MQTT 3.1.1')
    const { device, client, topic } = await scale(url)
    bar.claim(device, 'loc-001')
    await client.publishAsync(topic, envelope(1), { qos: 1 })
    await expect.poll(() => seqs(bar, device)).toEqual([1])
  })

  test('delivers its retained messages again, and none of them is a new reading', async () => {
    const url = await plainBroker()
    const publisher = connect(url)
    await publisher.publishAsync('scale-sense/loc-001/SCALE-R/reading', envelope(1), { qos: 1, retain: true })
    await publisher.endAsync()
    const { bar } = await openAt(url)
    await expect.poll(() => bar.counts['refused:retained']).toBe(1)
    expect(bar.reported()).toEqual([])
  })
})
