import type { Event, EventMeta } from '../../schemas/event.ts'
import { isObject } from '../../schemas/object.ts'
import { derivedId } from '../ids.ts'
import { mapInParts } from '../turns.ts'
import { anything, clock, clockOf, doubtOf, malformed, number, text, whole, yesOrNo, type Doubt, type Fields, type Shape } from './doubts.ts'
import { EVENT_TYPES, type EventType } from './envelope.ts'
import type { Holder } from './holder.ts'
import { BOOT, FIRMWARE, LIMITS, TARE_STATUS } from './limits.ts'

/** One message of one device, and what the edge knows about it. */
export interface Sender {
  readonly device: string
  /** Undefined where nobody claimed it: what it says is kept, and believed by nobody. */
  readonly holder: Holder | undefined
  /** The location that the topic names, where there is a topic. */
  readonly loc?: string
  readonly actor: string
  readonly source: string
  readonly correlationId: string | null
  readonly received: number
}

interface Refused extends Doubt {
  /** Which of the events; null: the whole message. */
  readonly index: number | null
}

export interface Taken {
  /** In the order of time, then of sequence; a quarantined event at its position in the message. All have one key. */
  readonly events: readonly Event[]
  readonly refused: readonly Refused[]
}

const MOST = 2 ** 53 - 2
const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS
const MOST_AGE_MS = 30 * DAY_MS
/** Further ahead, the device's clock is not taken for the time; much further, nothing about it is believed. */
const AHEAD_MS = 15 * MINUTE_MS
const EARLIEST = Date.UTC(2020, 0, 1)

const [lbs, volts, percent, calibration] = [number(LIMITS.lbs), number(LIMITS.volts), number(LIMITS.percent), number(LIMITS.calibration)]
const fw = text(FIRMWARE)

const ENVELOPE: Shape = { v: anything, boot: anything, sent_uptime_ms: whole(0, MOST), dropped: whole(0, MOST), events: anything }
const SHORT: Shape = { boot: anything, dropped: whole(0, MOST), readings: anything }
const EVENT: Shape = { seq: whole(0, MOST), type: anything, age_ms: whole(0, MOST_AGE_MS), data: anything }
const STATUS: Shape = { v: anything, online: yesOrNo, boot: anything, fw, dropped: whole(0, MOST), tare_empty_offset: lbs, tare_full_lbs: lbs, sent_uptime_ms: whole(0, MOST) }

const DATA: Readonly<Record<EventType, readonly [shape: Shape, needed: readonly string[]]>> = {
  reading: [{ device_ts: clock, weight_lbs: lbs, level_pct: number(LIMITS.level), battery_v: volts, battery_pct: percent, tare_status: text(TARE_STATUS), fw }, []],
  telemetry: [{ battery_v: volts, battery_pct: percent, tare_empty_offset: lbs, tare_full_lbs: lbs, fw }, []],
  tare: [{ kind: text(/^(empty|full)$/), value_lbs: lbs }, ['kind', 'value_lbs']],
  calibration: [{ factor: calibration, offset: calibration }, ['factor', 'offset']],
}

/** What is the same for all events of a message. */
interface Said {
  readonly boot: string
  readonly dropped: number | null
  readonly events: readonly unknown[]
}

/** The envelope of docs/devices.md as events; each event that is not believed is quarantined by itself. */
export const takeEnvelope = (value: unknown, sender: Sender, most: number): Taken => {
  const work = takeEnvelopeInParts(value, sender, most)
  for (;;) {
    const part = work.next()
    if (part.done === true) return part.value
  }
}

const PART_EVENTS = 50

/** The same for a large envelope, with a `yield` after each part. */
export function* takeEnvelopeInParts(value: unknown, sender: Sender, most: number): Generator<undefined, Taken> {
  const said = saidIn(value, most)
  if ('reason' in said) return takeUnreadable(said, JSON.stringify(value) ?? '', sender)
  const refused: Refused[] = []
  const events = yield* mapInParts(said.events, PART_EVENTS, (event, index) => {
    const doubt = misplaced(sender) ?? eventDoubt(event, sender.received)
    if (doubt === undefined) return believed(event as DeviceEvent, said, sender)
    refused.push({ index, ...doubt })
    return quarantined(doubt, { boot: said.boot, event }, sender)
  })
  return { events: inOrder(events, said.events), refused }
}

/**
 * The fold makes no pour and no alert of a reading that is older than the newest one, so the edge sorts the events of a message before it appends
 * them. A quarantined event keeps its position.
 */
const inOrder = (events: readonly Event[], sources: readonly unknown[]): readonly Event[] => {
  const sorted = events.map((event, index) => ({ event, at: event.meta.occurredAt, seq: Number((sources[index] as Partial<DeviceEvent> | null)?.seq) }))
    .filter(({ event }) => event.type !== QUARANTINED)
    .sort((a, b) => a.at - b.at || a.seq - b.seq)
    .values()
  return events.map((event) => (event.type === QUARANTINED ? event : (sorted.next().value?.event ?? event)))
}

/** A birth, or a last will. */
export const takeStatus = (value: unknown, sender: Sender): Taken => {
  const doubt = misplaced(sender) ?? (isObject(value) ? (doubtOf(value, STATUS, ['online']) ?? bootDoubt(value['boot'] ?? 'none')) : malformed('A status is an object.'))
  if (doubt !== undefined) return takeUnreadable(doubt, JSON.stringify(value) ?? '', sender)
  const { online, boot, fw: version, dropped, tare_empty_offset, tare_full_lbs } = value as Fields
  const bootId = boot === undefined || boot === null ? null : String(boot)
  const data = {
    device_id: sender.device, epoch: sender.holder?.epoch ?? 0, online, boot: bootId,
    fw: version ?? null, dropped: dropped ?? null, tare_empty_offset: tare_empty_offset ?? null, tare_full_lbs: tare_full_lbs ?? null,
  }
  const id = derivedId('device', sender.device, bootId ?? '', String(sender.received), 'DeviceStatusReported', String(online))
  return { events: [{ type: 'DeviceStatusReported', meta: metaOf(sender, id, sender.received), data, personal: null }], refused: [] }
}

/** A message that could not be read at all, quarantined whole. */
export const takeUnreadable = (doubt: Doubt, raw: string, sender: Sender): Taken =>
  ({ events: [quarantined(doubt, { boot: null, event: null, raw }, sender)], refused: [{ index: null, ...doubt }] })

const misplaced = ({ device, holder, loc }: Sender): Doubt | undefined => {
  if (holder === undefined) return { reason: 'unknown-device', detail: `No location holds the device ${device}: register it at one.` }
  if (loc !== undefined && loc !== holder.loc) return { reason: 'wrong-location', detail: `The topic names ${loc}, and the device belongs to another location.` }
  return undefined
}

const saidIn = (value: unknown, most: number): Said | Doubt => {
  if (!isObject(value)) return malformed('The message is not an object with v, boot and events.')
  const short = value['readings'] !== undefined
  const list = short ? value['readings'] : value['events']
  const doubt = doubtOf(value, short ? SHORT : ENVELOPE, short ? ['boot'] : ['v', 'boot', 'events']) ?? bootDoubt(value['boot'])
  if (doubt !== undefined) return doubt
  if (!short && value['v'] !== 1) return malformed('v must be 1, the only version of the envelope.')
  if (!Array.isArray(list) || list.length < 1 || list.length > most) return malformed(`${short ? 'readings' : 'events'} must be a list of 1 to ${most}.`)
  const dropped = typeof value['dropped'] === 'number' ? value['dropped'] : null
  return { boot: String(value['boot']), dropped, events: short ? list.map(spelledOut) : list }
}

/** `{seq, age_ms, …}` of the short form, as the envelope has it. */
const spelledOut = (reading: unknown): unknown => {
  if (!isObject(reading)) return reading
  const { seq, age_ms, ...data } = reading
  return { seq, type: 'reading', ...(age_ms === undefined ? {} : { age_ms }), data }
}

/** Text, or the count that many devices keep. */
const bootDoubt = (boot: unknown): Doubt | undefined =>
  (typeof boot === 'string' && BOOT.test(boot)) || (Number.isSafeInteger(boot) && Number(boot) >= 0) ? undefined : malformed(`boot must be a whole number or text like ${String(BOOT)}.`)

interface DeviceEvent {
  readonly seq: number
  readonly type: EventType
  readonly age_ms?: number | null
  readonly data: Fields
}

const eventDoubt = (event: unknown, received: number): Doubt | undefined => {
  if (!isObject(event)) return malformed('An event is an object with seq, type and data.')
  const doubt = doubtOf(event, EVENT, ['seq', 'type', 'data'])
  if (doubt !== undefined) return doubt
  const { type, data, age_ms } = event
  const known = EVENT_TYPES.find((each) => each === type)
  if (known === undefined) return malformed(`type must be one of ${EVENT_TYPES.join(', ')}.`)
  if (!isObject(data)) return malformed('data must be an object.')
  return doubtOf(data, ...DATA[known]) ?? (known === 'reading' ? readingDoubt(data, age_ms ?? null, received) : undefined)
}

const readingDoubt = ({ weight_lbs, level_pct, device_ts }: Fields, age: unknown, received: number): Doubt | undefined => {
  if ((weight_lbs ?? null) === null && (level_pct ?? null) === null) return malformed('A reading has weight_lbs, level_pct or both.')
  const told = age === null ? clockOf(device_ts ?? null) : undefined
  if (told === undefined) return undefined
  if (told < EARLIEST) return { reason: 'past', detail: 'device_ts lies before 2020: send age_ms where the clock is not set.' }
  return told > received + DAY_MS ? { reason: 'future', detail: 'device_ts lies more than a day ahead: send age_ms where the clock is wrong.' } : undefined
}

const believed = ({ seq, type, age_ms, data }: DeviceEvent, { boot, dropped }: Said, sender: Sender): Event => {
  const told = clockOf(data['device_ts'] ?? null) ?? null
  const age = age_ms ?? null
  const clamped = age === null && told !== null && told > sender.received + AHEAD_MS
  const at = age !== null ? sender.received - age : told === null || clamped ? sender.received : told
  const from = { device_id: sender.device, epoch: sender.holder?.epoch ?? 0, boot, seq, at }
  const say = (name: string, fields: Fields): Event =>
    ({ type: name, meta: metaOf(sender, naturalId(sender.device, { boot, seq, type: name }), at), data: fields, personal: null })
  switch (type) {
    case 'reading':
      return say('ReadingReported', { ...from, device_ts: told, age_ms: age, clamped, ...measuresOf(data), ...batteryOf(data), dropped })
    case 'telemetry':
      return say('TelemetryReported', { ...from, ...batteryOf(data), ...taresOf(data), dropped })
    case 'tare':
      return say('TareRecorded', { kind: data['kind'], tap: null, device_id: sender.device, value_lbs: data['value_lbs'], at })
    case 'calibration':
      return say('DeviceCalibrated', { device_id: sender.device, factor: data['factor'], offset: data['offset'], at })
  }
}

const said = (data: Fields, name: string): unknown => data[name] ?? null
const batteryOf = (data: Fields): Fields => ({ battery_v: said(data, 'battery_v'), battery_pct: said(data, 'battery_pct'), fw: said(data, 'fw') })
const taresOf = (data: Fields): Fields => ({ tare_empty_offset: said(data, 'tare_empty_offset'), tare_full_lbs: said(data, 'tare_full_lbs') })
const measuresOf = (data: Fields): Fields => ({ weight_lbs: said(data, 'weight_lbs'), level_pct: said(data, 'level_pct'), tare_status: said(data, 'tare_status') })

/** The same event sent again has the same id. */
const naturalId = (device: string, { boot, seq, type }: { boot: string; seq: number; type: string }): string => derivedId('device', device, boot, String(seq), type)

interface Doubted {
  readonly boot: string | null
  readonly event: unknown
  /** As it came, where it was no event. */
  readonly raw?: string
}

const MOST_KEPT = 2_000
const QUARANTINED = 'ReadingQuarantined'

const quarantined = ({ reason, detail }: Doubt, { boot, event, raw = JSON.stringify(event) ?? '' }: Doubted, sender: Sender): Event => {
  const seq = isObject(event) && Number.isSafeInteger(event['seq']) && Number(event['seq']) >= 0 ? Number(event['seq']) : null
  const type = QUARANTINED
  const id = boot !== null && seq !== null ? naturalId(sender.device, { boot, seq, type }) : derivedId('device', sender.device, type, String(sender.received), raw)
  const data = { device_id: sender.device, boot, seq, at: sender.received, reason, detail, reading: cut(raw) }
  return { type, meta: metaOf(sender, id, sender.received), data, personal: null }
}

/** No half characters, and none that a key or a terminal would stumble over. */
const cut = (raw: string): string => raw.slice(0, MOST_KEPT).replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd')

const metaOf = ({ device, holder, actor, source, correlationId, received }: Sender, eventId: string, at: number): EventMeta => ({
  eventId, key: holder?.loc ?? device, occurredAt: at, recordedAt: received, source, correlationId,
  causationId: null, actorId: actor, subjectId: null, request: null,
})
