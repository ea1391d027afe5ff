import fc from 'fast-check'
import type { MqttClient } from 'mqtt'
import { describe, expect, test } from 'vitest'
import { createPersistence } from '../../../producers/mqtt/persistence.ts'
import {
  createSessions,
  SESSION_BOUNDS,
  type StoredMessage,
  type SessionBounds,
} from '../../../producers/mqtt/sessions.ts'
import { findTopic } from '../../../producers/mqtt/spec.ts'
import { scaleDevices } from '../../../producers/scales/device-messages.ts'
import { closed, connected, deviceAt, openBar, serve } from './bar.ts'

const KIB = 1024
const BOUNDS: SessionBounds = {
  retainedBytes: 4 * KIB,
  queuedMessages: 10,
  queuedBytes: 16 * KIB,
  totalBytes: 64 * KIB,
  sessions: 20,
  expiryMs: 1_000,
}

const message = (topic: string, bytes: number, more: Partial<StoredMessage> = {}): StoredMessage => ({
  cmd: 'publish',
  topic,
  payload: Buffer.alloc(bytes, 'x'),
  qos: 1,
  retain: false,
  brokerId: 'b',
  brokerCounter: 1,
  ...more,
})

const statusOf = (device: string, loc = 'loc-001') => `scale-sense/${loc}/${device}/status`

const open = (bounds = BOUNDS) => {
  const drops: Record<string, number> = {}
  const state = { now: 0, connected: new Set<string>() }
  const sessions = createSessions({
    bounds,
    now: () => state.now,
    isConnected: (device) => state.connected.has(device),
    dropped: (cause) => void (drops[cause] = (drops[cause] ?? 0) + 1),
  })
  return {
    sessions,
    persistence: createPersistence(sessions, (topic) => findTopic([{ devices: scaleDevices }], topic)?.device),
    drops,
    state,
  }
}

const listed = async (stream: AsyncIterable<StoredMessage>) => {
  const messages: StoredMessage[] = []
  for await (const each of stream) messages.push(each)
  return messages
}

describe('the state that the broker keeps for devices', () => {
  test('a device has one retained message, whatever locations its topics name', async () => {
    const { sessions, persistence } = open()
    for (let loc = 0; loc < 1_000; loc += 1)
      await persistence.storeRetained(message(statusOf('d1', `loc-${loc}`), 100, { retain: true }))
    expect(sessions.totals()).toMatchObject({ sessions: 1, messages: 1 })
    expect(
      await listed(persistence.createRetainedStreamCombi([statusOf('d1', 'loc-0'), statusOf('d1', 'loc-999')])),
    ).toMatchObject([{ topic: statusOf('d1', 'loc-999') }])
    await persistence.storeRetained(message(statusOf('d1', 'loc-999'), 0, { retain: true }))
    expect(sessions.totals()).toEqual({ sessions: 0, messages: 0, bytes: 0 })
  })

  test('a status that is too large is not retained', async () => {
    const { sessions, persistence, drops } = open()
    await persistence.storeRetained(message(statusOf('d1'), 4 * KIB + 1, { retain: true }))
    expect(sessions.totals()).toEqual({ sessions: 0, messages: 0, bytes: 0 })
    expect(drops).toEqual({ 'retained-too-large': 1 })
  })

  test('a full queue drops its oldest messages, by number and by size', async () => {
    const { sessions, persistence, drops } = open()
    for (let counter = 1; counter <= 25; counter += 1)
      await persistence.outgoingEnqueue({ clientId: 'd1' }, message(statusOf('d1'), 10, { brokerCounter: counter }))
    expect((await listed(persistence.outgoingStream({ id: 'd1' }))).map(({ brokerCounter }) => brokerCounter)).toEqual([
      16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    ])
    expect(drops).toEqual({ 'queue-full': 15 })
    for (let counter = 26; counter <= 40; counter += 1)
      await persistence.outgoingEnqueue(
        { clientId: 'd1' },
        message(statusOf('d1'), 5 * KIB, { brokerCounter: counter }),
      )
    expect((await listed(persistence.outgoingStream({ id: 'd1' }))).map(({ brokerCounter }) => brokerCounter)).toEqual([
      38, 39, 40,
    ])
    expect(sessions.totals().bytes).toBeLessThanOrEqual(BOUNDS.queuedBytes)
  })

  test('an acknowledged message leaves the queue, and an empty session is removed', async () => {
    const { sessions, persistence } = open()
    await persistence.outgoingEnqueue({ clientId: 'd1' }, message(statusOf('d1'), 10))
    await persistence.outgoingUpdate({ id: 'd1' }, message(statusOf('d1'), 10, { messageId: 7 }))
    expect(await persistence.outgoingClearMessageId({ id: 'd1' }, { messageId: 7 })).toMatchObject({ messageId: 7 })
    expect(sessions.totals()).toEqual({ sessions: 0, messages: 0, bytes: 0 })
  })

  test('a payload is copied, so that the chunk of the socket is not kept in memory', async () => {
    const { persistence } = open()
    const chunk = Buffer.alloc(64 * KIB)
    await persistence.storeRetained({ ...message(statusOf('d1'), 0), payload: chunk.subarray(10, 20), retain: true })
    const [stored] = await listed(persistence.createRetainedStreamCombi([statusOf('d1')]))
    expect(stored?.payload.buffer).not.toBe(chunk.buffer)
  })

  test("a refused subscription to another device's topic is not stored, although aedes passes it with a granted one", async () => {
    const { persistence } = open()
    await persistence.addSubscriptions({ id: 'd1' }, [
      { topic: statusOf('d1'), qos: 1 },
      { topic: statusOf('d2'), qos: 1 },
      { topic: '#', qos: 1 },
    ])
    expect(await persistence.subscriptionsByClient({ id: 'd1' })).toEqual([{ topic: statusOf('d1'), qos: 1 }])
    expect(await persistence.subscriptionsByTopic(statusOf('d2'))).toEqual([])
  })

  test('a session expires after its device disconnects, not while it is connected', async () => {
    const { sessions, persistence, state, drops } = open()
    for (const id of ['d1', 'd2']) await persistence.addSubscriptions({ id }, [{ topic: statusOf(id), qos: 1 }])
    state.connected.add('d1')
    state.now = 5_000
    sessions.expire()
    expect([sessions.find('d1'), sessions.find('d2'), drops]).toMatchObject([
      { device: 'd1' },
      undefined,
      { 'session-expired': 1 },
    ])
    state.connected.clear()
    state.now += BOUNDS.expiryMs
    sessions.expire()
    expect(sessions.totals().sessions).toBe(0)
  })

  test('the sessions stay within their bounds for any messages of devices with and without an owner', async () => {
    const device = fc.integer({ min: 0, max: 40 }).map((number) => `d${number}`)
    const act = fc.oneof(
      fc.record({ do: fc.constant('retain' as const), device, bytes: fc.integer({ min: 0, max: 5 * KIB }) }),
      fc.record({ do: fc.constant('queue' as const), device, bytes: fc.integer({ min: 0, max: 8 * KIB }) }),
      fc.record({ do: fc.constant('receive' as const), device, bytes: fc.integer({ min: 1, max: 65_535 }) }),
      fc.record({ do: fc.constant('clean' as const), device, bytes: fc.constant(0) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 300 }), async (acts) => {
        const { sessions, persistence } = open()
        for (const { do: what, device: id, bytes } of acts) {
          if (what === 'retain') await persistence.storeRetained(message(statusOf(id), bytes, { retain: true }))
          else if (what === 'queue')
            await persistence.outgoingEnqueueCombi([{ clientId: id }], message(statusOf(id), bytes))
          else if (what === 'receive') await persistence.incomingStorePacket({ id }, { messageId: bytes })
          else await persistence.cleanSubscriptions({ id })
          const stored = sessions.totals()
          expect(stored.bytes).toBeLessThanOrEqual(BOUNDS.totalBytes)
          expect(stored.sessions).toBeLessThanOrEqual(BOUNDS.sessions)
          expect(stored.messages).toBeGreaterThanOrEqual(0)
          expect(sessions.find(id)?.queue.length ?? 0).toBeLessThanOrEqual(BOUNDS.queuedMessages)
          expect(sessions.find(id)?.received.size ?? 0).toBeLessThanOrEqual(100)
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('a flood at the broker', () => {
  const status = (filler: number) => JSON.stringify({ online: true, fw: 'x'.repeat(filler) })

  /** Changes the client so that it sends no PUBACK from now on. */
  const acknowledgeNothing = (client: MqttClient) => {
    const send = (
      Reflect.get(client, '_sendPacket') as (packet: { cmd: string }, done?: () => void, ...rest: unknown[]) => void
    ).bind(client)
    Reflect.set(client, '_sendPacket', (packet: { cmd: string }, done?: () => void, ...rest: unknown[]) =>
      packet.cmd === 'puback' ? done?.() : send(packet, done, ...rest),
    )
  }

  test('of one device that acknowledges nothing keeps its queue within its bound, with one line in the log', async () => {
    const bar = openBar()
    bar.claim('SCALE-0042', 'loc-001')
    const { address } = await serve(bar, { checkMs: 20, rate: { perSecond: 1e6, burst: 1e6 } })
    const device = deviceAt(address, 'SCALE-0042', { password: bar.token('SCALE-0042'), clean: false })
    await connected(device)
    await device.subscribeAsync(statusOf('SCALE-0042'), { qos: 1 })
    acknowledgeNothing(device)
    for (let count = 0; count < 300; count += 1)
      await device.publishAsync(statusOf('SCALE-0042'), status(10), { qos: 1, retain: true })
    await expect.poll(() => bar.counts['dropped:queue-full'] ?? 0).toBe(300 - SESSION_BOUNDS.queuedMessages)
    await expect
      .poll(() => bar.totals.at(-1))
      .toMatchObject({ sessions: 1, messages: SESSION_BOUNDS.queuedMessages + 1 })
    expect(bar.lines.filter(({ fields }) => 'cause' in fields)).toHaveLength(1)
  })

  test('of many devices without an owner, at ever new locations, stays within the total', async () => {
    const bar = openBar()
    const bounds = { ...SESSION_BOUNDS, totalBytes: 4 * KIB, sessions: 10 }
    const { address } = await serve(bar, { checkMs: 5, bounds, rate: { perSecond: 1e6, burst: 1e6 } })
    for (let number = 0; number < 30; number += 1) {
      const name = `STRAY-${number}`
      const device = deviceAt(address, name, { password: bar.token(name), clean: false })
      await connected(device)
      for (let loc = 0; loc < 20; loc += 1)
        await device.publishAsync(statusOf(name, `loc-${loc}`), status(200), { qos: 1, retain: true })
      await device.endAsync()
    }
    expect(bar.counts['dropped:total-full'] ?? 0).toBeGreaterThan(0)
    await expect.poll(() => bar.totals.at(-1)?.sessions ?? 0).toBeGreaterThan(0)
    for (const { bytes, sessions } of bar.totals) {
      expect(bytes).toBeLessThanOrEqual(bounds.totalBytes)
      expect(sessions).toBeLessThanOrEqual(bounds.sessions)
    }
  })

  test('a device may subscribe to a few topics in one connection, and its last will is small', async () => {
    const bar = openBar()
    const { address } = await serve(bar)
    const password = bar.token('STRAY-1')
    const device = deviceAt(address, 'STRAY-1', { password })
    await connected(device)
    device.subscribe(
      Array.from({ length: 17 }, (_, loc) => statusOf('STRAY-1', `loc-${loc}`)),
      () => {},
    )
    await closed(device)
    expect(bar.counts['refused:subscription']).toBe(1)
    const will = { topic: statusOf('STRAY-1'), payload: Buffer.alloc(4 * KIB + 1, 'x') }
    await expect(connected(deviceAt(address, 'STRAY-1', { password, will }))).rejects.toThrow()
    expect(bar.counts['refused:will']).toBe(1)
  })

  test('a device that reconnects receives its unacknowledged messages and its retained status', async () => {
    const bar = openBar()
    bar.claim('SCALE-0042', 'loc-001')
    const { address } = await serve(bar)
    const password = bar.token('SCALE-0042')
    const first = deviceAt(address, 'SCALE-0042', { password, clean: false })
    await connected(first)
    await first.subscribeAsync(statusOf('SCALE-0042'), { qos: 1 })
    acknowledgeNothing(first)
    await first.publishAsync(statusOf('SCALE-0042'), status(1), { qos: 1, retain: true })
    first.stream.destroy()
    await expect.poll(() => bar.counts['connections']).toBe(0)
    const again = deviceAt(address, 'SCALE-0042', { password, clean: false })
    const texts: string[] = []
    again.on(
      'message',
      (_topic, payload, { retain }) => void texts.push(`${retain ? 'retained' : 'queued'} ${String(payload)}`),
    )
    await connected(again)
    await expect.poll(() => texts).toEqual([`queued ${status(1)}`])
    await again.subscribeAsync(statusOf('SCALE-0042'), { qos: 1 })
    await expect.poll(() => texts).toContain(`retained ${status(1)}`)
  })
})
