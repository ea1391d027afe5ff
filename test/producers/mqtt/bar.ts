import { connect, type IClientOptions, type MqttClient } from 'mqtt'
import { onTestFinished } from 'vitest'
import type { NewRecord, Position } from '../../../processors/engine/log.ts'
import { access } from '../../../producers/access.ts'
import { createCommands } from '../../../producers/commands.ts'
import { openBroker, type BrokerParts } from '../../../producers/mqtt/broker.ts'
import type { Kept } from '../../../producers/mqtt/sessions.ts'
import type { DeviceReport } from '../../../producers/mqtt/taking.ts'
import { hashToken, mintToken } from '../../../producers/pat.ts'
import { tokenHash, tokens } from '../../../projections/access/keys.ts'
import { keyOf } from '../../../projections/item.ts'
import { claims } from '../../../projections/scales/keys.ts'
import { scalesTable } from '../../../projections/scales/table.ts'
import type { Event } from '../../../schemas/event.ts'
import { codec, createMemoryTable } from '../memory-edge.ts'

/** A log that takes events when it is let, and a table with the claims and tokens that a test wants. */
export const openBar = () => {
  const { items, reader } = createMemoryTable(() => Date.now(), scalesTable)
  const events: Event[] = []
  const state: { held: Promise<void> | undefined; release: () => void; fault: Error | undefined; appends: number } = { held: undefined, release: () => {}, fault: undefined, appends: 0 }
  const append = async (records: readonly NewRecord[]): Promise<readonly Position[]> => {
    state.appends += 1
    await state.held
    if (state.fault) throw state.fault
    return records.map(({ value }) => ({ partition: 0, offset: events.push(codec.decode(value)) - 1 }))
  }
  const outcomes = { after: async () => 'pending' as const, reached: async () => true }
  const commands = createCommands({ log: { append }, codec, outcomes })
  const said: { about: object; message: string }[] = []
  const counts: Record<string, number> = {}
  const count = (name: string) => void (counts[name] = (counts[name] ?? 0) + 1)
  const kept: Kept[] = []
  const report: DeviceReport = {
    appended: () => {},
    message: (kind) => count(`message:${kind}`),
    quarantined: (reason) => count(`quarantined:${reason}`),
    refused: (reason) => count(`refused:${reason}`),
    delayed: () => count('delayed'),
    connections: (open) => void (counts['connections'] = open),
    dropped: (cause) => count(`dropped:${cause}`),
    kept: (now) => void kept.push(now),
  }
  return {
    events, items, reader, commands, said, counts, kept, report,
    questions: async () => ({ reader, generation: 1, outcomes }),
    appends: () => state.appends,
    /** What a device reported, without the news about tokens. */
    heard: () => events.filter(({ type }) => type !== 'PatUsed'),
    hold: () => void (state.held = new Promise((done) => (state.release = done))),
    release: () => {
      state.held = undefined
      state.release()
    },
    fail: (fault: Error | undefined) => void (state.fault = fault),
    claim(device: string, loc: string | null, epoch = 1) {
      const key = claims.key(device)
      items.set(keyOf(key), { ...key, loc_id: loc, epoch, claimed_at: '2026-11-16T00:00:00.000Z' })
    },
    token(user: string, scopes: readonly string[] = ['device']): string {
      const { token } = mintToken('scales', (size) => crypto.getRandomValues(new Uint8Array(size)))
      const key = tokens.key(user, `pat-${items.size}`)
      items.set(keyOf(key), { ...key, patId: key.SK, name: 'scale', scopes, createdAt: '2026-11-16T00:00:00.000Z', GSI1PK: tokenHash(hashToken(token)), GSI1SK: 'METADATA' })
      return token
    },
    revoke(user: string) {
      for (const [name, item] of items) if (item.PK === `USER#${user}`) items.delete(name)
    },
  }
}

export type Bar = ReturnType<typeof openBar>

export const clock = { now: () => Date.now(), sleep: (ms: number) => new Promise<void>((done) => setTimeout(done, ms)) }

export const serve = async (bar: Bar, more: Partial<BrokerParts> = {}) => {
  const says = (about: object, message: string) => void bar.said.push({ about, message })
  const { commands, questions, report } = bar
  const broker = await openBroker({ domain: 'scales', access, commands, questions, clock, report, checkMs: 60_000, logger: { info: says, warn: says }, ...more }, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => broker.stop())
  return broker
}

/** The real client, without its own attempts to come back. */
export const deviceAt = (url: string, device: string, options: IClientOptions = {}): MqttClient => {
  const client = connect(url, { clientId: device, username: device, protocolVersion: 4, reconnectPeriod: 0, connectTimeout: 5_000, ...options })
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

export const closed = (client: MqttClient): Promise<void> => new Promise((resolve) => (client.disconnected ? resolve() : client.once('close', () => resolve())))

export const envelope = (seq: number, data: object = { weight_lbs: 100 + seq, level_pct: 50 }, more: object = {}) =>
  JSON.stringify({ v: 1, boot: 'b1', sent_uptime_ms: 1_000, dropped: 0, events: [{ seq, type: 'reading', age_ms: 0, data }], ...more })
