import type { ReadingReported, ReadingReportedData, TelemetryReported } from '../../schemas/generated/scales.ts'
import type { Draft } from '../../projections/item.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { DeviceItem, DiscrepancyItem, Settings, TapStateItem, TimelineItem } from '../../projections/scales/items.ts'
import { discrepancies, isId, locationSettings, tapStates } from '../../projections/scales/keys.ts'
import { settingsOf } from '../../projections/scales/settings.ts'
import type { KegSpan } from '../../projections/scales/spans.ts'
import { startWork, type Work } from '../access/work.ts'
import { watch } from './alerts.ts'
import { attributed } from './attributed.ts'
import { isTime, numberOf } from './fit.ts'
import { gallonsOf, isLevelMeasured, levelOf } from '../../projections/scales/gallons.ts'
import { deviceSeen } from './held.ts'
import { ended, step, type Poured } from './pours.ts'
import { quarantine } from './quarantine.ts'
import { standingOf, withReading } from './recent.ts'
import { isSeen, withSeen } from './seen.ts'
import { putPour, unread } from './retell.ts'
import { awaitReading, broken } from './silence.ts'
import { kegAt, kegNow, tapAt } from './timeline.ts'

/** A reading of a tap, with what it is judged by. */
interface Read {
  readonly loc: string
  readonly tap: string
  readonly at: number
  /** When the server received it. */
  readonly receivedAt: number
  readonly data: ReadingReportedData
  /** The keg that was on the tap when it was measured. */
  readonly keg: KegSpan | undefined
  /** Whether it is on the tap still. */
  readonly isNow: boolean
  /** Whether its scale is. */
  readonly isHere: boolean
  readonly state: TapStateItem | undefined
  readonly settings: Settings
}

/** When the server received the measurement: never before it was measured, even if the clocks differ. */
const receivedAtOf = ({ data: { at }, meta: { recordedAt } }: ReadingReported | TelemetryReported): number => (isTime(recordedAt) ? Math.max(at, recordedAt) : at)

/** The newest reading is the tap's state; one that came before it is only remembered (S-i), and one that came already, never counts. */
export const readingReported = (event: ReadingReported, get: Get): Result => {
  const { data, meta: { key: loc } } = event
  const work = startWork(get)
  const found = attributed(work, event)
  if (found.what === 'unknown-device') return quarantine(work, event, UNKNOWN)
  if (found.what === 'no-tap') return quarantine(work, event, NO_TAP)
  if (found.what !== 'read' || found.isGone) return work.result()
  const { device, tap, timeline } = found
  const state = work.get(tapStates.key(loc, tap))
  const standing = standingOf(state?._heard, data)
  if (standing === 'reused') return quarantine(work, event, REUSED)
  if (standing === 'again') return work.result()
  const isKnown = isSeen(state?._seen ?? [], data)
  if (state !== undefined && isOld(state, data.at)) {
    if (!isKnown) work.put({ ...state, _heard: withReading(state._heard, data), _seen: withSeen(state._seen ?? [], data) })
    return work.result()
  }
  if (isKnown) return quarantine(work, event, USED)
  const keg = kegAt(timeline, data.at)
  const settings = settingsOf(work.get(locationSettings.key(loc)))
  const read: Read = { loc, tap, at: data.at, receivedAt: receivedAtOf(event), data, keg, isNow: keg !== undefined && keg.keg_id === kegNow(timeline)?.keg_id, isHere: tap === device.tap, state, settings }
  work.put(stateAfter(work, read, timeline))
  if (read.isHere) deviceAfter(work, device, read)
  return work.result()
}

const UNKNOWN = { reason: 'unknown-device', detail: 'The device was not registered here when it said so.' } as const
const NO_TAP = { reason: 'no-tap', detail: 'The device stood under no tap when it measured this. Assign it to one.' } as const
const REUSED = { reason: 'sequence-reused', detail: 'The device said something else under the same boot and sequence.' } as const
const USED = { reason: 'sequence-reused', detail: 'The device used the same boot and sequence before. With another boot whenever it starts, it is believed.' } as const

export const isOld = (state: TapStateItem | undefined, at: number): boolean => state !== undefined && state.updated_at !== null && isoOf(at) <= state.updated_at

/** Built field by field: this is made of every reading, and spreading is several times dearer. */
const stateAfter = (work: Work, read: Read, timeline: TimelineItem): TapStateItem => {
  const { loc, tap, at, data, keg, state, settings } = read
  const { PK, SK } = tapStates.key(loc, tap)
  const weight_lbs = numberOf(data.weight_lbs)
  const gallons = keg === undefined ? null : gallonsOf({ weight_lbs, empty_lbs: keg.empty_lbs, sg: keg.sg })
  const told = numberOf(data.level_pct)
  const { detector, pouring } = pour(work, { loc, tap, at, keg, state, settings, gallons, timeline })
  const level_pct = told ?? levelOf(weight_lbs, keg)
  const keg_id = keg?.keg_id ?? null
  const after: Draft<TapStateItem> = {
    PK,
    SK,
    level_pct,
    gallons,
    weight_lbs,
    updated_at: isoOf(at),
    tare_status: data.tare_status ?? state?.tare_status ?? null,
    keg_id,
    level_measured: isLevelMeasured({ level_pct, keg_id }, kegNow(timeline)?.keg_id ?? null),
    // A late reading, or one of a device that is no longer under the tap, does not show a pour of now.
    pouring: pouring && read.isNow && read.isHere,
    _device: data.device_id,
    _heard: withReading(state?._heard, data),
    _seen: withSeen(state?._seen ?? [], data),
  }
  if (told === null) after._weighed = true
  if (detector !== undefined) after._pour = detector
  // Once a reading is as new as the last telemetry message, its time decides, and the message need not be remembered.
  if (state?._battery_at !== undefined && state._battery_at > at) {
    after._battery_at = state._battery_at
    if (state._battery_seen !== undefined) after._battery_seen = state._battery_seen
  }
  if (watchLevel(work, read)) after._low = true
  if (compareLevels(work, read)) after._off = true
  return after
}

export interface Pouring extends Pick<Read, 'loc' | 'tap' | 'at' | 'keg' | 'state' | 'settings'> {
  readonly gallons: number | null
  readonly timeline: TimelineItem
}

/** What was poured is the keg's that was on the tap; another keg begins anew. */
export const pour = (work: Work, { state, keg, at, gallons, settings, timeline, loc, tap }: Pouring) => {
  const tell = (of: KegSpan | undefined, poured: Poured | undefined): void => {
    if (of !== undefined && poured !== undefined) putPour(work, { loc, tap }, { keg_id: of.keg_id, sg: of.sg, poured })
  }
  const isSame = (state?.keg_id ?? null) === (keg?.keg_id ?? null)
  if (!isSame) tell(timeline.kegs.findLast(({ keg_id }) => keg_id === state?.keg_id), ended(state?._pour, settings).poured)
  const before = isSame ? state?._pour : undefined
  if (gallons === null) return { detector: before, unseen: undefined, pouring: false }
  const { detector, poured, unseen, pouring } = step(before, { at, gallons }, settings)
  tell(keg, poured)
  return { detector, unseen, pouring }
}

/** A tap without a keg, and a keg that is gone, are not low (S12). */
const watchLevel = (work: Work, { loc, tap, at, receivedAt, data, keg, isNow, state, settings }: Read): boolean => {
  const value = numberOf(data.level_pct) ?? levelOf(numberOf(data.weight_lbs), keg)
  const alarmed = state?._low === true
  if (!isNow || value === null) return alarmed
  return watch(work, { loc, type: 'low_keg', entity: `TAP#${tap}`, value, threshold: settings.low_keg_pct, at, receivedAt, grace_secs: settings.grace_period_secs }, alarmed)
}

/** Points apart at which the scale's level and the weight's are said to differ, and at which they agree again. */
const APART = 2
const AGREED = 1

/** S-j: the scale reckons its level by the tare that it has. */
const compareLevels = (work: Work, { loc, tap, at, data, keg, isNow, state }: Read): boolean => {
  const [device, weight] = [numberOf(data.level_pct), levelOf(numberOf(data.weight_lbs), keg)]
  const differs = state?._off === true
  if (!isNow || device === null || weight === null) return differs
  const apart = Math.abs(device - weight)
  if (!differs && apart > APART) {
    work.put({ ...discrepancies.key(loc, tap), since: isoOf(at), device_level_pct: device, weight_level_pct: weight } satisfies DiscrepancyItem)
    return true
  }
  if (differs && apart <= AGREED) work.remove(discrepancies.key(loc, tap))
  return differs && apart > AGREED
}

/** The device is written only when something about it changed. */
const deviceAfter = (work: Work, device: DeviceItem, { loc, at, receivedAt, data, state, settings }: Read): void => {
  // A silence ends when the server receives something, however old the reading is.
  if (device._silent) awaitReading(work, loc, device.device_id, receivedAt)
  const heard = broken(work, device, receivedAt)
  const isOlder = at <= (state?._battery_at ?? -1)
  const charged = isOlder ? heard : watchBattery(work, heard, { value: numberOf(data.battery_pct), at, receivedAt, settings })
  const iso = isoOf(at)
  const after: DeviceItem = charged.status === 'online' || iso <= charged.status_at ? charged : { ...charged, status: 'online', status_at: iso }
  if (after !== device) work.put(after)
}

interface Charge {
  readonly value: number | null
  readonly at: number
  readonly receivedAt: number
  readonly settings: Settings
}

const watchBattery = (work: Work, device: DeviceItem, { value, at, receivedAt, settings }: Charge): DeviceItem => {
  if (value === null) return device
  const { loc_id: loc, device_id, _low_battery, ...rest } = device
  const alarmed = _low_battery === true
  const entity = `DEVICE#${device_id}`
  const low = watch(work, { loc, type: 'low_battery', entity, value, threshold: settings.low_battery_pct, at, receivedAt, grace_secs: settings.grace_period_secs }, alarmed)
  return low === alarmed ? device : { loc_id: loc, device_id, ...rest, ...(low && { _low_battery: true }) }
}

/** Applies the battery of a telemetry message to its alert, in the order of time. If two messages have the same time, the later one in the log counts; a repeated one changes nothing. */
export const telemetryReported = (event: TelemetryReported, get: Get): Result => {
  const { data, meta: { key: loc } } = event
  if (!isId(data.device_id) || !isTime(data.at)) return NOTHING
  const work = startWork(get)
  const device = deviceSeen(work, { loc, device: data.device_id, epoch: data.epoch, at: data.at })
  const tap = device === undefined ? null : tapAt(device._places, data.at)
  const value = numberOf(data.battery_pct)
  if (device === undefined || tap === null || tap !== device.tap || value === null) return work.result()
  const state = work.get(tapStates.key(loc, tap)) ?? unread(loc, tap)
  const { _battery_at = -1, _battery_seen = [] } = state
  if (isOld(state, data.at) || data.at < _battery_at || (data.at === _battery_at && isSeen(_battery_seen, data))) return work.result()
  const after = watchBattery(work, device, { value, at: data.at, receivedAt: receivedAtOf(event), settings: settingsOf(work.get(locationSettings.key(loc))) })
  if (after !== device) work.put(after)
  work.put({ ...state, _battery_at: data.at, _battery_seen: withSeen(data.at === _battery_at ? _battery_seen : [], data) } satisfies TapStateItem)
  return work.result()
}
