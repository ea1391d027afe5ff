import { isoOf, msOf } from '../../projections/instant.ts'
import { projection, type Change, type Domain, type Get, type Result } from '../../projections/projection.ts'
import { gallonsOf, levelOf } from '../../projections/scales/gallons.ts'
import type { PourItem, Seen, TapStateItem } from '../../projections/scales/items.ts'
import { devicePointers, devices, kegs, locationSettings, pours, tapIdOf, taps, tapStates, timelines } from '../../projections/scales/keys.ts'
import { kegReadings, seriesTable } from '../../projections/scales/series.ts'
import { settingsOf } from '../../projections/scales/settings.ts'
import type { KegSpan } from '../../projections/scales/spans.ts'
import type { Point } from '../../projections/series.ts'
import type { Event } from '../../schemas/event.ts'
import type { ReadingReported, ReadingReportedData, ScalesEvent, TelemetryReported } from '../../schemas/generated/scales.ts'
import { startWork } from '../access/work.ts'
import { attributed } from './attributed.ts'
import { deviceRegistered, deviceReleased } from './devices.ts'
import { numberOf } from './fit.ts'
import { kegAssignmentCorrected, kegFinished, kegTapped, pourVoided } from './kegs.ts'
import type { Unseen } from './pours.ts'
import { isOld, pour, type Pouring } from './readings.ts'
import { silenceMeasured } from './silence.ts'
import { unread } from './retell.ts'
import { isSeen, withSeen } from './seen.ts'
import { locationSettingsChanged } from './settings.ts'
import { deviceAssigned, deviceUnassigned, tapRemoved } from './taps.ts'
import { kegAt } from './timeline.ts'

/** Of the events that the series go by, none is ever refused. */
type Heard = Extract<ScalesEvent, {
  type: 'DeviceRegistered' | 'DeviceReleased' | 'DeviceAssigned' | 'DeviceUnassigned' | 'TapRemoved' | 'KegTapped' | 'KegFinished' | 'KegAssignmentCorrected' | 'PourVoided' | 'LocationSettingsChanged' | 'SilenceDue' | 'ReadingReported' | 'TelemetryReported'
}>

/** A tap's state as the series need it. */
type SeriesStateItem = TapStateItem & {
  /** What was said of batteries apart from readings: a device may count it apart. */
  readonly _told?: readonly Seen[]
}

/** What the scales' own folds say of places, kegs and settings, kept in a table of its own; what they say was poured is a point. */
const reckonedBy = <E extends Event>(fold: (event: E, get: Get) => Result) => (event: E, get: Get): Result => told(fold(event, get), { loc: event.meta.key, get })

/** Every accepted reading is one point (S18, S66), whenever it comes; the newest ones tell of pours (S-f). */
const readingMeasured = (event: ReadingReported, get: Get): Result => {
  const { data, meta: { key: loc } } = event
  const work = startWork(get)
  const found = attributed(work, event)
  const state = found.what === 'read' && !found.isGone ? work.get<SeriesStateItem>(tapStates.key(loc, found.tap)) : undefined
  const lives = state?._seen ?? []
  if (found.what !== 'read' || isSeen(lives, data)) return told(work.result(), { loc, get })
  const { tap, timeline, isGone } = found
  const keg = kegAt(timeline, data.at)
  const gallons = gallonsAt(numberOf(data.weight_lbs), keg)
  const _seen = withSeen(lives, data)
  const missed: Point[] = []
  const dims = { tap_id: tapIdOf(loc, tap), loc_id: loc, device_id: data.device_id }
  if (state !== undefined && isOld(state, data.at)) work.put({ ...state, _seen })
  else if (!isGone) {
    const settings = settingsOf(work.get(locationSettings.key(loc)))
    const { detector, unseen, pouring } = pour(work, { loc, tap, at: data.at, keg, state, settings, gallons, timeline })
    work.put({ ...stateOf(data, { loc, tap }), gallons, keg_id: keg?.keg_id ?? null, pouring, ...(detector !== undefined && { _pour: detector }), ...(state?._told && { _told: state._told }), _seen } satisfies SeriesStateItem)
    const silence = unseen ?? silenceBefore(data.at, { state, keg, settings })
    if (silence !== undefined) missed.push({ measure: 'unseen', dims, at: silence.start, values: { gallons: silence.gallons, sg: keg?.sg ?? 1, ended_at: silence.end, keg_id: keg?.keg_id ?? null } })
  }
  const { items = [], points = [] } = told(work.result(), { loc, get, device: data.device_id })
  return { items, points: [...points, ...missed, ...pointOf(data, dims, keg)] }
}

/** The silence that this reading of a keg ends, if no beer left in it: the answers need its time. Undefined if the keg was read shortly before. */
const silenceBefore = (at: number, { state, keg, settings }: Pick<Pouring, 'state' | 'keg' | 'settings'>): Unseen | undefined => {
  if (keg === undefined || state === undefined || state.updated_at === null || state.keg_id !== keg.keg_id) return undefined
  const start = msOf(state.updated_at)
  return at - start > settings.silent_after_secs * 1000 ? { start, end: at, gallons: 0 } : undefined
}

/** S39, S61: a battery that is told apart from readings is a point of its own, which may have a reading's instant. */
const batteryMeasured = (event: TelemetryReported, get: Get): Result => {
  const { data, meta: { key: loc } } = event
  const work = startWork(get)
  const found = attributed(work, event)
  const values = { battery_pct: numberOf(data.battery_pct), battery_v: numberOf(data.battery_v) }
  const state = found.what === 'read' && !found.isGone ? (work.get<SeriesStateItem>(tapStates.key(loc, found.tap)) ?? unread(loc, found.tap)) as SeriesStateItem : undefined
  const isSaid = values.battery_pct !== null || values.battery_v !== null
  if (found.what !== 'read' || !isSaid || isSeen(state?._told ?? [], data)) return told(work.result(), { loc, get })
  if (state !== undefined) work.put({ ...state, _told: withSeen(state._told ?? [], data) } satisfies SeriesStateItem)
  const { items = [] } = told(work.result(), { loc, get })
  return { items, points: [{ measure: 'battery', dims: { tap_id: tapIdOf(loc, found.tap), loc_id: loc, device_id: data.device_id }, at: data.at, values }] }
}

const stateOf = (data: ReadingReportedData, { loc, tap }: { readonly loc: string; readonly tap: string }) => ({
  ...tapStates.key(loc, tap), level_pct: numberOf(data.level_pct), weight_lbs: numberOf(data.weight_lbs), updated_at: isoOf(data.at), tare_status: null, _device: data.device_id,
  ...(numberOf(data.level_pct) === null && { _weighed: true as const }),
})

/** A reading that says no number is no measurement. The level is the scale's own, or where it tells none its weight's. */
const pointOf = (data: ReadingReportedData, dims: Point['dims'], keg: KegSpan | undefined): readonly Point[] => {
  const weight_lbs = numberOf(data.weight_lbs)
  const numbers = {
    level_pct: numberOf(data.level_pct) ?? levelOf(weight_lbs, keg), gallons: gallonsAt(weight_lbs, keg), weight_lbs,
    battery_pct: numberOf(data.battery_pct), battery_v: numberOf(data.battery_v),
  }
  return Object.values(numbers).some((number) => number !== null) ? [{ measure: 'reading', dims, at: data.at, values: { ...numbers, keg_id: keg?.keg_id ?? null } }] : []
}

const gallonsAt = (weight_lbs: number | null, keg: KegSpan | undefined): number | null => (keg === undefined ? null : gallonsOf({ weight_lbs, ...keg }))

interface Telling {
  readonly loc: string
  readonly get: Get
  /** Of the reading that tells of it. */
  readonly device?: string
}

/** Alerts, discrepancies, timers and what is to be sent are the scales' own business. */
const told = ({ items = [] }: Result, telling: Telling): Result => ({ items: items.filter(isKept), points: items.filter(isPour).map((item) => pourPoint(item, telling)) })

const isPour = (item: Change): item is PourItem => item.SK.startsWith(pours.prefix)

const KEPT = [taps, timelines, locationSettings, devicePointers, kegs, devices].map(({ kind: { pk = '', sk = '' } }) => ({ pk, sk }))

const isKept = ({ PK, SK }: Change): boolean => KEPT.some(({ pk, sk }) => PK.startsWith(pk) && SK.startsWith(sk))

const pourPoint = ({ tap, start, end, gallons, sg, keg_id }: PourItem, { loc, get, device }: Telling): Point => ({
  measure: 'pour',
  dims: { tap_id: tapIdOf(loc, tap), loc_id: loc, device_id: get(tapStates.key(loc, tap))?._device ?? device ?? '' },
  at: msOf(start),
  values: { gallons, sg, ended_at: msOf(end), keg_id },
})

/** The series of the keg scales: a domain of their own, so that a series store that is down holds up nothing else (S-k). */
export const scalesSeries: Domain = {
  name: 'scales-series',
  topic: 'scales.events',
  table: seriesTable,
  series: kegReadings,
  foldVersion: 2,
  projections: [
    projection<Heard>('series', {
      DeviceRegistered: reckonedBy(deviceRegistered),
      DeviceReleased: reckonedBy(deviceReleased),
      DeviceAssigned: reckonedBy(deviceAssigned),
      DeviceUnassigned: reckonedBy(deviceUnassigned),
      TapRemoved: reckonedBy(tapRemoved),
      KegTapped: reckonedBy(kegTapped),
      KegFinished: reckonedBy(kegFinished),
      KegAssignmentCorrected: reckonedBy(kegAssignmentCorrected),
      PourVoided: reckonedBy(pourVoided),
      LocationSettingsChanged: reckonedBy(locationSettingsChanged),
      SilenceDue: reckonedBy(silenceMeasured),
      ReadingReported: readingMeasured,
      TelemetryReported: batteryMeasured,
    }),
  ],
}

