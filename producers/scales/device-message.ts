import { isObject } from '../../schemas/object.ts'
import {
  anything,
  boolean,
  clock,
  clockOf,
  defectOf,
  malformed,
  number,
  text,
  whole,
  type Defect,
  type Fields,
  type Shape,
} from './device-checks.ts'
import { EVENT_TYPES, type EventType } from './device-envelope.ts'
import { BOOT, FIRMWARE, LIMITS, TARE_STATUS } from './limits.ts'

/** The fields that all events of a message share, and the events, which are not checked yet. */
export interface Envelope {
  readonly boot: string
  readonly dropped: number | null
  readonly events: readonly unknown[]
}

/** A checked event of an envelope. */
export interface DeviceEvent {
  readonly seq: number
  readonly type: EventType
  readonly age_ms?: number | null
  readonly data: Fields
}

const MOST = 2 ** 53 - 2
const DAY_MS = 86_400_000
const MOST_AGE_MS = 30 * DAY_MS
const EARLIEST = Date.UTC(2020, 0, 1)

const [lbs, volts, percent, calibration] = [
  number(LIMITS.lbs),
  number(LIMITS.volts),
  number(LIMITS.percent),
  number(LIMITS.calibration),
]
const fw = text(FIRMWARE)

const ENVELOPE: Shape = {
  v: anything,
  boot: anything,
  sent_uptime_ms: whole(0, MOST),
  dropped: whole(0, MOST),
  events: anything,
}
const SHORT: Shape = { boot: anything, dropped: whole(0, MOST), readings: anything }
const EVENT: Shape = { seq: whole(0, MOST), type: anything, age_ms: whole(0, MOST_AGE_MS), data: anything }
const STATUS: Shape = {
  v: anything,
  online: boolean,
  boot: anything,
  fw,
  dropped: whole(0, MOST),
  tare_empty_offset: lbs,
  tare_full_lbs: lbs,
  sent_uptime_ms: whole(0, MOST),
}

const DATA: Readonly<Record<EventType, readonly [shape: Shape, required: readonly string[]]>> = {
  reading: [
    {
      device_ts: clock,
      weight_lbs: lbs,
      level_pct: number(LIMITS.level),
      battery_v: volts,
      battery_pct: percent,
      tare_status: text(TARE_STATUS),
      fw,
    },
    [],
  ],
  telemetry: [{ battery_v: volts, battery_pct: percent, tare_empty_offset: lbs, tare_full_lbs: lbs, fw }, []],
  tare: [{ kind: text(/^(empty|full)$/), value_lbs: lbs }, ['kind', 'value_lbs']],
  calibration: [{ factor: calibration, offset: calibration }, ['factor', 'offset']],
}

/** Reads an envelope of docs/devices.md, or its short form (`readings`), with 1 to `most` events. Returns a defect if the whole message is wrong. */
export const readEnvelope = (value: unknown, most: number): Envelope | Defect => {
  if (!isObject(value)) return malformed('The message is not an object with v, boot and events.')
  const isShort = value['readings'] !== undefined
  const list = isShort ? value['readings'] : value['events']
  const defect =
    defectOf(value, isShort ? SHORT : ENVELOPE, isShort ? ['boot'] : ['v', 'boot', 'events']) ??
    bootDefect(value['boot'])
  if (defect !== undefined) return defect
  if (!isShort && value['v'] !== 1) return malformed('v must be 1, the only version of the envelope.')
  if (!Array.isArray(list) || list.length < 1 || list.length > most)
    return malformed(`${isShort ? 'readings' : 'events'} must be a list of 1 to ${most} entries.`)
  const dropped = typeof value['dropped'] === 'number' ? value['dropped'] : null
  return { boot: String(value['boot']), dropped, events: isShort ? list.map(fromShortForm) : list }
}

/** Converts an entry of the short form, `{seq, age_ms, …}`, to an event of the envelope. */
const fromShortForm = (reading: unknown): unknown => {
  if (!isObject(reading)) return reading
  const { seq, age_ms, ...data } = reading
  return { seq, type: 'reading', ...(age_ms === undefined ? {} : { age_ms }), data }
}

/** Returns undefined if `boot`, the id of a device's start, is valid: a text, or a whole number, because many devices count their starts. */
const bootDefect = (boot: unknown): Defect | undefined =>
  (typeof boot === 'string' && BOOT.test(boot)) || (Number.isSafeInteger(boot) && Number(boot) >= 0)
    ? undefined
    : malformed(`boot must be a whole number, or text that matches ${String(BOOT)}.`)

export const statusDefect = (value: unknown): Defect | undefined =>
  isObject(value)
    ? (defectOf(value, STATUS, ['online']) ?? bootDefect(value['boot'] ?? 'none'))
    : malformed('A status must be an object.')

/** Returns the defect of an event. Undefined if the value is a valid `DeviceEvent`. */
export const eventDefect = (event: unknown, received: number): Defect | undefined => {
  if (!isObject(event)) return malformed('An event must be an object with seq, type and data.')
  const defect = defectOf(event, EVENT, ['seq', 'type', 'data'])
  if (defect !== undefined) return defect
  const { type, data, age_ms } = event
  const known = EVENT_TYPES.find((each) => each === type)
  if (known === undefined) return malformed(`type must be one of ${EVENT_TYPES.join(', ')}.`)
  if (!isObject(data)) return malformed('data must be an object.')
  return (
    defectOf(data, ...DATA[known]) ?? (known === 'reading' ? readingDefect(data, age_ms ?? null, received) : undefined)
  )
}

const readingDefect = (
  { weight_lbs, level_pct, device_ts }: Fields,
  age: unknown,
  received: number,
): Defect | undefined => {
  if ((weight_lbs ?? null) === null && (level_pct ?? null) === null)
    return malformed('A reading must have weight_lbs, level_pct or both.')
  // `device_ts`, the time by the device's clock, is used only if the reading has no age.
  const deviceTime = age === null ? clockOf(device_ts ?? null) : undefined
  if (deviceTime === undefined) return undefined
  if (deviceTime < EARLIEST)
    return { reason: 'past', detail: 'device_ts is before 2020. If the clock is not set, send age_ms.' }
  return deviceTime > received + DAY_MS
    ? { reason: 'future', detail: 'device_ts is more than a day in the future. If the clock is wrong, send age_ms.' }
    : undefined
}
