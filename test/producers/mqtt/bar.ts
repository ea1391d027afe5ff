import { connect, type IClientOptions, type MqttClient } from 'mqtt'
import { onTestFinished } from 'vitest'
import type { NewRecord, Position } from '../../../processors/engine/ports/log.ts'
import { access } from '../../../producers/access/access.ts'
import { createCommands } from '../../../producers/commands.ts'
import { openBroker, type BrokerParts } from '../../../producers/mqtt/broker.ts'
import type { SessionTotals } from '../../../producers/mqtt/sessions.ts'
import type { DeviceDomain } from '../../../producers/mqtt/spec.ts'
import { scaleDevices } from '../../../producers/scales/device-messages.ts'
import type { DeviceReport } from '../../../producers/mqtt/append-messages.ts'
import { hashToken, mintToken } from '../../../producers/access/pat.ts'
import { tokenHash, tokens } from '../../../projections/access/keys.ts'
import { keyOf } from '../../../projections/item.ts'
import { claims } from '../../../projections/scales/keys.ts'
import { scalesTable } from '../../../projections/scales/table.ts'
import type { Event } from '../../../schemas/event.ts'
import { createMemoryTable } from '../../../testing/edge/table.ts'
import { openCodec } from '../../../schemas/codec.ts'

const codec = openCodec()

/** A log in memory that a test can pause or make fail, and a table in memory with the device claims and tokens that the test creates. */
export const openBar = () => {
  const { items, reader } = createMemoryTable(() => Date.now(), scalesTable)
  const events: Event[] = []
  const state: { pending: Promise<void> | undefined; release: () => void; fault: Error | undefined; appends: number } =
    { pending: undefined, release: () => {}, fault: undefined, appends: 0 }
  const append = async (records: readonly NewRecord[]): Promise<readonly Position[]> => {
    state.appends += 1
    await state.pending
    if (state.fault) throw state.fault
    return records.map(({ value }) => ({ partition: 0, offset: events.push(codec.decode(value)) - 1 }))
  }
  const outcomes = { untilOutcome: async () => 'pending' as const, untilFolded: async () => true }
  const commands = createCommands({ log: { append }, codec, outcomes })
  const lines: { fields: object; message: string }[] = []
  const counts: Record<string, number> = {}
  const count = (name: string) => void (counts[name] = (counts[name] ?? 0) + 1)
  const totals: SessionTotals[] = []
  const report: DeviceReport = {
    appended: () => {},
    message: (kind) => count(`message:${kind}`),
    quarantined: (reason) => count(`quarantined:${reason}`),
    refused: (reason) => count(`refused:${reason}`),
    delayed: () => count('delayed'),
    connections: (open) => void (counts['connections'] = open),
    dropped: (cause) => count(`dropped:${cause}`),
    stored: (now) => void totals.push(now),
  }
  return {
    events,
    items,
    reader,
    commands,
    lines,
    counts,
    totals,
    report,
    serving: async () => ({ reader, generation: 1, outcomes }),
    appends: () => state.appends,
    /** The appended events, without events about the use of tokens. */
    reported: () => events.filter(({ type }) => type !== 'PatUsed'),
    pause: () => void (state.pending = new Promise((done) => (state.release = done))),
    release: () => {
      state.pending = undefined
      state.release()
    },
    fail: (fault: Error | undefined) => void (state.fault = fault),
    claim(device: string, loc: string | null, epoch = 1) {
      const key = claims.key(device)
      items.set(keyOf(key), { ...key, loc_id: loc, epoch, claimed_at: '2026-11-16T00:00:00.000Z' })
    },
    token(user: string, scopes: readonly string[] = ['device'], domain = 'scales'): string {
      const { token } = mintToken(domain, (size) => crypto.getRandomValues(new Uint8Array(size)))
      const key = tokens.key(user, `pat-${items.size}`)
      items.set(keyOf(key), {
        ...key,
        patId: key.SK,
        name: 'scale',
        scopes,
        createdAt: '2026-11-16T00:00:00.000Z',
        GSI1PK: tokenHash(hashToken(token)),
        GSI1SK: 'METADATA',
      })
      return token
    },
    revoke(user: string) {
      for (const [name, item] of items) if (item.PK === `USER#${user}`) items.delete(name)
    },
  }
}

export type Bar = ReturnType<typeof openBar>

export const clock = { now: () => Date.now(), sleep: (ms: number) => new Promise<void>((done) => setTimeout(done, ms)) }

/** The domain scales for the broker, with the commands of the bar. Default of `serving`: the items of the bar. */
export const scalesOf = (bar: Bar, serving: DeviceDomain['serving'] = bar.serving): DeviceDomain => ({
  name: 'scales',
  access,
  commands: bar.commands,
  serving,
  devices: scaleDevices,
})

export const serve = async (bar: Bar, more: Partial<BrokerParts> = {}) => {
  const log = (fields: object, message: string) => void bar.lines.push({ fields, message })
  const broker = await openBroker(
    { domains: [scalesOf(bar)], clock, report: bar.report, checkMs: 60_000, logger: { info: log, warn: log }, ...more },
    { host: '127.0.0.1', port: 0 },
  )
  onTestFinished(() => broker.stop())
  return broker
}

/** Connects a device with the client library mqtt. The client does not reconnect by itself. */
export const deviceAt = (url: string, device: string, options: IClientOptions = {}): MqttClient => {
  const client = connect(url, {
    clientId: device,
    username: device,
    protocolVersion: 4,
    reconnectPeriod: 0,
    connectTimeout: 5_000,
    ...options,
  })
  client.on('error', () => {})
  onTestFinished(() => void client.end(true))
  return client
}

export const connected = (client: MqttClient): Promise<void> =>
  new Promise((resolve, reject) => {
    if (client.connected) resolve()
    client.once('connect', () => resolve())
    client.once('error', reject)
    client.once('close', () => reject(new Error('the connection was closed')))
  })

export const closed = (client: MqttClient): Promise<void> =>
  new Promise((resolve) => (client.disconnected ? resolve() : client.once('close', () => resolve())))

export const envelope = (seq: number, data: object = { weight_lbs: 100 + seq, level_pct: 50 }, more: object = {}) =>
  JSON.stringify({
    v: 1,
    boot: 'b1',
    sent_uptime_ms: 1_000,
    dropped: 0,
    events: [{ seq, type: 'reading', age_ms: 0, data }],
    ...more,
  })
