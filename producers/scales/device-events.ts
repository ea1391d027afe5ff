import type { Event, EventMeta } from '../../schemas/event.ts'
import { isObject } from '../../schemas/object.ts'
import { derivedId } from '../ids.ts'
import type { DeviceOwner } from '../mqtt/spec.ts'
import { mapInParts } from '../run-in-parts.ts'
import { clockOf, type Defect, type Fields } from './device-checks.ts'
import { eventDefect, readEnvelope, statusDefect, type DeviceEvent, type Envelope } from './device-message.ts'

/** The device that sent a message, its owner, and the metadata that the events of the message get. */
export interface Sender {
  readonly device: string
  /** The location that has claimed the device. Undefined if the device is not claimed: the events of the message are then quarantined. */
  readonly owner: DeviceOwner | undefined
  /** The location that the topic names. Absent for HTTP. */
  readonly loc?: string
  readonly actor: string
  readonly source: string
  readonly correlationId: string | null
  /** Epoch milliseconds. */
  readonly received: number
}

interface Quarantined extends Defect {
  /** Index of the event in the message. Null: the whole message. */
  readonly index: number | null
}

export interface MessageEvents {
  /** Ordered by time, then by sequence. A quarantined event keeps its position in the message. All events have the same key. */
  readonly events: readonly Event[]
  readonly quarantined: readonly Quarantined[]
}

/** Returns the events of an envelope (docs/devices.md) with at most `most` events. An event with a defect becomes a quarantined event. */
export const envelopeEvents = (value: unknown, sender: Sender, most: number): MessageEvents => {
  const work = envelopeEventsInParts(value, sender, most)
  for (;;) {
    const part = work.next()
    if (part.done === true) return part.value
  }
}

const PART_EVENTS = 50

/** Like `envelopeEvents`, but yields after each part of a large envelope. */
export function* envelopeEventsInParts(
  value: unknown,
  sender: Sender,
  most: number,
): Generator<undefined, MessageEvents> {
  const envelope = readEnvelope(value, most)
  if ('reason' in envelope) return unreadableEvents(envelope, JSON.stringify(value) ?? '', sender)
  const quarantined: Quarantined[] = []
  const events = yield* mapInParts(envelope.events, PART_EVENTS, (event, index) => {
    const defect = ownerDefect(sender) ?? eventDefect(event, sender.received)
    if (defect === undefined) return acceptedEvent(event as DeviceEvent, envelope, sender)
    quarantined.push({ index, ...defect })
    return quarantinedEvent(defect, { boot: envelope.boot, event }, sender)
  })
  return { events: inOrder(events, envelope.events), quarantined }
}

/**
 * Sorts the events of a message by time, then by sequence. This is necessary, because the fold detects no pour and no alert in a reading that is
 * older than the newest reading. A quarantined event keeps its position.
 */
const inOrder = (events: readonly Event[], sources: readonly unknown[]): readonly Event[] => {
  const sorted = events
    .map((event, index) => ({
      event,
      at: event.meta.occurredAt,
      seq: Number((sources[index] as Partial<DeviceEvent> | null)?.seq),
    }))
    .filter(({ event }) => event.type !== QUARANTINED)
    .sort((a, b) => a.at - b.at || a.seq - b.seq)
    .values()
  return events.map((event) => (event.type === QUARANTINED ? event : (sorted.next().value?.event ?? event)))
}

/** Returns the event of a status message: a birth message or a last will. */
export const statusEvents = (value: unknown, sender: Sender): MessageEvents => {
  const defect = ownerDefect(sender) ?? statusDefect(value)
  if (defect !== undefined) return unreadableEvents(defect, JSON.stringify(value) ?? '', sender)
  const { online, boot, fw, dropped, tare_empty_offset, tare_full_lbs } = value as Fields
  const bootId = boot === undefined || boot === null ? null : String(boot)
  const data = {
    device_id: sender.device,
    epoch: sender.owner?.epoch ?? 0,
    online,
    boot: bootId,
    fw: fw ?? null,
    dropped: dropped ?? null,
    tare_empty_offset: tare_empty_offset ?? null,
    tare_full_lbs: tare_full_lbs ?? null,
  }
  const id = derivedId(
    'device',
    sender.device,
    bootId ?? '',
    String(sender.received),
    'DeviceStatusReported',
    String(online),
  )
  return {
    events: [{ type: 'DeviceStatusReported', meta: metaOf(sender, id, sender.received), data, personal: null }],
    quarantined: [],
  }
}

/** Quarantines a whole message, for example a message that cannot be parsed. `raw`: the message as text. */
export const unreadableEvents = (defect: Defect, raw: string, sender: Sender): MessageEvents => ({
  events: [quarantinedEvent(defect, { boot: null, event: null, raw }, sender)],
  quarantined: [{ index: null, ...defect }],
})

const ownerDefect = ({ device, owner, loc }: Sender): Defect | undefined => {
  if (owner === undefined)
    return {
      reason: 'unknown-device',
      detail: `No location has claimed the device ${device}. Claim it for a location.`,
    }
  if (loc !== undefined && loc !== owner.id)
    return { reason: 'wrong-location', detail: `The topic names ${loc}, but the device belongs to another location.` }
  return undefined
}

/** If the device's clock is further ahead than this, the event gets the time of receipt. */
const AHEAD_MS = 15 * 60_000

const acceptedEvent = (
  { seq, type, age_ms, data }: DeviceEvent,
  { boot, dropped }: Envelope,
  sender: Sender,
): Event => {
  const deviceTime = clockOf(data['device_ts'] ?? null) ?? null
  const age = age_ms ?? null
  const clamped = age === null && deviceTime !== null && deviceTime > sender.received + AHEAD_MS
  const at = age !== null ? sender.received - age : deviceTime === null || clamped ? sender.received : deviceTime
  const source = { device_id: sender.device, epoch: sender.owner?.epoch ?? 0, boot, seq, at }
  const eventOf = (name: string, fields: Fields): Event => ({
    type: name,
    meta: metaOf(sender, naturalId(sender.device, { boot, seq, type: name }), at),
    data: fields,
    personal: null,
  })
  switch (type) {
    case 'reading':
      return eventOf('ReadingReported', {
        ...source,
        device_ts: deviceTime,
        age_ms: age,
        clamped,
        ...measuresOf(data),
        ...batteryOf(data),
        dropped,
      })
    case 'telemetry':
      return eventOf('TelemetryReported', { ...source, ...batteryOf(data), ...taresOf(data), dropped })
    case 'tare':
      return eventOf('TareRecorded', {
        kind: data['kind'],
        tap: null,
        device_id: sender.device,
        value_lbs: data['value_lbs'],
        at,
      })
    case 'calibration':
      return eventOf('DeviceCalibrated', {
        device_id: sender.device,
        factor: data['factor'],
        offset: data['offset'],
        at,
      })
  }
}

const valueOrNull = (data: Fields, name: string): unknown => data[name] ?? null
const batteryOf = (data: Fields): Fields => ({
  battery_v: valueOrNull(data, 'battery_v'),
  battery_pct: valueOrNull(data, 'battery_pct'),
  fw: valueOrNull(data, 'fw'),
})
const taresOf = (data: Fields): Fields => ({
  tare_empty_offset: valueOrNull(data, 'tare_empty_offset'),
  tare_full_lbs: valueOrNull(data, 'tare_full_lbs'),
})
const measuresOf = (data: Fields): Fields => ({
  weight_lbs: valueOrNull(data, 'weight_lbs'),
  level_pct: valueOrNull(data, 'level_pct'),
  tare_status: valueOrNull(data, 'tare_status'),
})

/** The id of an event. If the device sends the event again, the id is the same. */
const naturalId = (device: string, { boot, seq, type }: { boot: string; seq: number; type: string }): string =>
  derivedId('device', device, boot, String(seq), type)

interface Rejected {
  readonly boot: string | null
  readonly event: unknown
  /** The text that the quarantine stores. Default: the event as JSON. */
  readonly raw?: string
}

const MOST_STORED = 2_000
const QUARANTINED = 'ReadingQuarantined'

const quarantinedEvent = (
  { reason, detail }: Defect,
  { boot, event, raw = JSON.stringify(event) ?? '' }: Rejected,
  sender: Sender,
): Event => {
  const seq =
    isObject(event) && Number.isSafeInteger(event['seq']) && Number(event['seq']) >= 0 ? Number(event['seq']) : null
  const type = QUARANTINED
  const id =
    boot !== null && seq !== null
      ? naturalId(sender.device, { boot, seq, type })
      : derivedId('device', sender.device, type, String(sender.received), raw)
  const data = { device_id: sender.device, boot, seq, at: sender.received, reason, detail, reading: storedText(raw) }
  return { type, meta: metaOf(sender, id, sender.received), data, personal: null }
}

/** The first 2,000 characters of the text. Control characters and lone surrogates are replaced. */
const storedText = (raw: string): string => raw.slice(0, MOST_STORED).replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd')

const metaOf = (
  { device, owner, actor, source, correlationId, received }: Sender,
  eventId: string,
  at: number,
): EventMeta => ({
  eventId,
  key: owner?.id ?? device,
  occurredAt: at,
  recordedAt: received,
  source,
  correlationId,
  causationId: null,
  actorId: actor,
  subjectId: null,
  request: null,
})
