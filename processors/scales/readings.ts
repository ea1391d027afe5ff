import type { ReadingReported, ReadingReportedData, TelemetryReported } from '../../schemas/generated/scales.ts'
import type { Draft } from '../../projections/item.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type {
  DeviceItem,
  DiscrepancyItem,
  Settings,
  TapStateItem,
  TimelineItem,
} from '../../projections/scales/items.ts'
import { discrepancies, isId, locationSettings, tapStates } from '../../projections/scales/keys.ts'
import { settingsOf } from '../../projections/scales/settings.ts'
import type { KegSpan } from '../../projections/scales/spans.ts'
import { startWork, type Work } from '../folding/work.ts'
import { applyValue } from './alerts.ts'
import { attributeReading } from './attribution.ts'
import { isTime, numberOf } from './fit.ts'
import { gallonsOf, isLevelMeasured, levelOf } from '../../projections/scales/gallons.ts'
import { findOrRegisterDevice } from './owned-devices.ts'
import { ended, step, type Poured } from './pours.ts'
import { quarantine } from './quarantine.ts'
import { sequenceUseOf, withReading } from './recent-readings.ts'
import { isFolded, withFolded } from './folded-sequences.ts'
import { putPour, unreadTapState } from './timeline-update.ts'
import { armSilenceTimer, endSilence } from './silence.ts'
import { kegAt, kegNow, tapAt } from './timeline.ts'

/** A reading with its tap, its keg and the state of the tap before the reading. */
interface AttributedReading {
  readonly loc: string
  readonly tap: string
  readonly at: number
  /** The time at which the server received the reading. */
  readonly receivedAt: number
  readonly data: ReadingReportedData
  /** The keg that was on the tap when the reading was measured. */
  readonly keg: KegSpan | undefined
  /** True if this keg is on the tap now. */
  readonly isCurrentKeg: boolean
  /** True if the device is assigned to the tap now. */
  readonly isCurrentDevice: boolean
  readonly state: TapStateItem | undefined
  readonly settings: Settings
}

/** The time at which the server received the measurement. It is never before the time of the measurement, even if the clocks differ. */
const receivedAtOf = ({ data: { at }, meta: { recordedAt } }: ReadingReported | TelemetryReported): number =>
  isTime(recordedAt) ? Math.max(at, recordedAt) : at

/** Folds a reading. The newest becomes the tap's state. Of an older one, only its sequence number is stored (S-i). A repeated one changes nothing. */
export const readingReported = (event: ReadingReported, get: Get): Result => {
  const {
    data,
    meta: { key: loc },
  } = event
  const work = startWork(get)
  const found = attributeReading(work, event)
  if (found.kind === 'unknown-device') return quarantine(work, event, UNKNOWN)
  if (found.kind === 'no-tap') return quarantine(work, event, NO_TAP)
  if (found.kind !== 'read' || found.isGone) return work.result()
  const { device, tap, timeline } = found
  const state = work.get(tapStates.key(loc, tap))
  const use = sequenceUseOf(state?._heard, data)
  if (use === 'reused') return quarantine(work, event, REUSED)
  if (use === 'again') return work.result()
  const isKnown = isFolded(state?._seen ?? [], data)
  if (state !== undefined && isOld(state, data.at)) {
    if (!isKnown)
      work.put({ ...state, _heard: withReading(state._heard, data), _seen: withFolded(state._seen ?? [], data) })
    return work.result()
  }
  if (isKnown) return quarantine(work, event, USED)
  const keg = kegAt(timeline, data.at)
  const settings = settingsOf(work.get(locationSettings.key(loc)))
  const read: AttributedReading = {
    loc,
    tap,
    at: data.at,
    receivedAt: receivedAtOf(event),
    data,
    keg,
    isCurrentKeg: keg !== undefined && keg.keg_id === kegNow(timeline)?.keg_id,
    isCurrentDevice: tap === device.tap,
    state,
    settings,
  }
  work.put(stateAfter(work, read, timeline))
  if (read.isCurrentDevice) deviceAfter(work, device, read)
  return work.result()
}

const UNKNOWN = {
  reason: 'unknown-device',
  detail: 'The device was not registered at this location at the time of the reading. Claim it for the location.',
} as const
const NO_TAP = {
  reason: 'no-tap',
  detail: 'The device had no tap at the time of the reading. Assign the device to a tap.',
} as const
const REUSED = {
  reason: 'sequence-reused',
  detail: 'Another reading of the device has the same boot and sequence, but other values.',
} as const
const USED = {
  reason: 'sequence-reused',
  detail: 'The device used the same boot and sequence before. Send another boot value after each start of the device.',
} as const

export const isOld = (state: TapStateItem | undefined, at: number): boolean =>
  state !== undefined && state.updated_at !== null && isoOf(at) <= state.updated_at

/** The tap's state after a reading. Lists each field, because every reading builds this object, and a spread takes several times as long. */
const stateAfter = (work: Work, read: AttributedReading, timeline: TimelineItem): TapStateItem => {
  const { loc, tap, at, data, keg, state, settings } = read
  const { PK, SK } = tapStates.key(loc, tap)
  const weight_lbs = numberOf(data.weight_lbs)
  const gallons = keg === undefined ? null : gallonsOf({ weight_lbs, empty_lbs: keg.empty_lbs, sg: keg.sg })
  const deviceLevel = numberOf(data.level_pct)
  const { detector, pouring } = pour(work, { loc, tap, at, keg, state, settings, gallons, timeline })
  const level_pct = deviceLevel ?? levelOf(weight_lbs, keg)
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
    // A reading of a previous keg, or of a device that is no longer assigned to the tap, does not show a pour that is under way now.
    pouring: pouring && read.isCurrentKeg && read.isCurrentDevice,
    _device: data.device_id,
    _heard: withReading(state?._heard, data),
    _seen: withFolded(state?._seen ?? [], data),
  }
  if (deviceLevel === null) after._weighed = true
  if (detector !== undefined) after._pour = detector
  // The time of the last telemetry message shows if a later message is older. If a reading is later, its time shows that, so only one is kept.
  if (state?._battery_at !== undefined && state._battery_at > at) {
    after._battery_at = state._battery_at
    if (state._battery_seen !== undefined) after._battery_seen = state._battery_seen
  }
  if (watchLevel(work, read)) after._low = true
  if (compareLevels(work, read)) after._off = true
  return after
}

export interface Pouring extends Pick<AttributedReading, 'loc' | 'tap' | 'at' | 'keg' | 'state' | 'settings'> {
  readonly gallons: number | null
  readonly timeline: TimelineItem
}

/** Detects pours and stores them. After a change of the keg, the pour under way belongs to the old keg, and the detection starts again. */
export const pour = (work: Work, { state, keg, at, gallons, settings, timeline, loc, tap }: Pouring) => {
  const record = (pouredKeg: KegSpan | undefined, poured: Poured | undefined): void => {
    if (pouredKeg !== undefined && poured !== undefined)
      putPour(work, { loc, tap }, { keg_id: pouredKeg.keg_id, sg: pouredKeg.sg, poured })
  }
  const isSame = (state?.keg_id ?? null) === (keg?.keg_id ?? null)
  if (!isSame)
    record(
      timeline.kegs.findLast(({ keg_id }) => keg_id === state?.keg_id),
      ended(state?._pour, settings).poured,
    )
  const before = isSame ? state?._pour : undefined
  if (gallons === null) return { detector: before, unseen: undefined, pouring: false }
  const { detector, poured, unseen, pouring } = step(before, { at, gallons }, settings)
  record(keg, poured)
  return { detector, unseen, pouring }
}

/** Applies the level to the low-keg alert (S12). Returns true if an alert is open afterwards. Ignores a reading of no keg or of a previous keg. */
const watchLevel = (
  work: Work,
  { loc, tap, at, receivedAt, data, keg, isCurrentKeg, state, settings }: AttributedReading,
): boolean => {
  const value = numberOf(data.level_pct) ?? levelOf(numberOf(data.weight_lbs), keg)
  const wasOpen = state?._low === true
  if (!isCurrentKeg || value === null) return wasOpen
  return applyValue(
    work,
    {
      loc,
      type: 'low_keg',
      entity: `TAP#${tap}`,
      value,
      threshold: settings.low_keg_pct,
      at,
      receivedAt,
      grace_secs: settings.grace_period_secs,
    },
    wasOpen,
  )
}

/** A discrepancy begins if the scale's level and the level by weight differ by more than DIFFERENT_POINTS, and ends at EQUAL_POINTS (percent). */
const DIFFERENT_POINTS = 2
const EQUAL_POINTS = 1

/** Compares the level that the scale computed from its own tare with the level by weight (S-j). Returns true if the two levels differ. */
const compareLevels = (work: Work, { loc, tap, at, data, keg, isCurrentKeg, state }: AttributedReading): boolean => {
  const [device, weight] = [numberOf(data.level_pct), levelOf(numberOf(data.weight_lbs), keg)]
  const differs = state?._off === true
  if (!isCurrentKeg || device === null || weight === null) return differs
  const apart = Math.abs(device - weight)
  if (!differs && apart > DIFFERENT_POINTS) {
    work.put({
      ...discrepancies.key(loc, tap),
      since: isoOf(at),
      device_level_pct: device,
      weight_level_pct: weight,
    } satisfies DiscrepancyItem)
    return true
  }
  if (differs && apart <= EQUAL_POINTS) work.remove(discrepancies.key(loc, tap))
  return differs && apart > EQUAL_POINTS
}

/** Updates the device after a reading. Writes the item of the device only if something changed. */
const deviceAfter = (
  work: Work,
  device: DeviceItem,
  { loc, at, receivedAt, data, state, settings }: AttributedReading,
): void => {
  // A silence ends when the server receives something, however old the reading is.
  if (device._silent) armSilenceTimer(work, loc, device.device_id, receivedAt)
  const afterSilence = endSilence(work, device, receivedAt)
  const isOlder = at <= (state?._battery_at ?? -1)
  const charged = isOlder
    ? afterSilence
    : watchBattery(work, afterSilence, { value: numberOf(data.battery_pct), at, receivedAt, settings })
  const iso = isoOf(at)
  const after: DeviceItem =
    charged.status === 'online' || iso <= charged.status_at ? charged : { ...charged, status: 'online', status_at: iso }
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
  const wasOpen = _low_battery === true
  const entity = `DEVICE#${device_id}`
  const low = applyValue(
    work,
    {
      loc,
      type: 'low_battery',
      entity,
      value,
      threshold: settings.low_battery_pct,
      at,
      receivedAt,
      grace_secs: settings.grace_period_secs,
    },
    wasOpen,
  )
  return low === wasOpen ? device : { loc_id: loc, device_id, ...rest, ...(low && { _low_battery: true }) }
}

/** Applies the battery charge in a telemetry message to the battery alert. Ignores a repeated message, and one that is out of date. */
export const telemetryReported = (event: TelemetryReported, get: Get): Result => {
  const {
    data,
    meta: { key: loc },
  } = event
  if (!isId(data.device_id) || !isTime(data.at)) return NOTHING
  const work = startWork(get)
  const device = findOrRegisterDevice(work, { loc, device: data.device_id, epoch: data.epoch, at: data.at })
  const tap = device === undefined ? null : tapAt(device._places, data.at)
  const value = numberOf(data.battery_pct)
  if (device === undefined || tap === null || tap !== device.tap || value === null) return work.result()
  const state = work.get(tapStates.key(loc, tap)) ?? unreadTapState(loc, tap)
  const { _battery_at = -1, _battery_seen = [] } = state
  if (isOld(state, data.at) || data.at < _battery_at || (data.at === _battery_at && isFolded(_battery_seen, data)))
    return work.result()
  const after = watchBattery(work, device, {
    value,
    at: data.at,
    receivedAt: receivedAtOf(event),
    settings: settingsOf(work.get(locationSettings.key(loc))),
  })
  if (after !== device) work.put(after)
  work.put({
    ...state,
    _battery_at: data.at,
    _battery_seen: withFolded(data.at === _battery_at ? _battery_seen : [], data),
  } satisfies TapStateItem)
  return work.result()
}
