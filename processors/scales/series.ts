import { isoOf, msOf } from '../../projections/instant.ts'
import { projection, type Change, type Domain, type Get, type Result } from '../../projections/projection.ts'
import { gallonsOf, levelOf } from '../../projections/scales/gallons.ts'
import type { PourItem, FoldedSequences, TapStateItem } from '../../projections/scales/items.ts'
import {
  devicePointers,
  devices,
  kegs,
  locationSettings,
  logKeyOf,
  pours,
  tapIdOf,
  taps,
  tapStates,
  timelines,
} from '../../projections/scales/keys.ts'
import { kegReadings, seriesTable } from '../../projections/scales/series.ts'
import { settingsOf } from '../../projections/scales/settings.ts'
import type { KegSpan } from '../../projections/scales/spans.ts'
import type { Point } from '../../projections/series.ts'
import type { Event } from '../../schemas/event.ts'
import type {
  ReadingReported,
  ReadingReportedData,
  ScalesEvent,
  TelemetryReported,
} from '../../schemas/generated/scales.ts'
import { startWork } from '../folding/work.ts'
import { attributeReading } from './attribution.ts'
import { deviceRegistered, deviceReleased } from './devices.ts'
import { numberOf } from './fit.ts'
import { kegAssignmentCorrected, kegFinished, kegTapped, pourVoided } from './kegs.ts'
import type { Unseen } from './pours.ts'
import { isOld, pour, type Pouring } from './readings.ts'
import { silenceMeasured } from './silence.ts'
import { unreadTapState } from './timeline-update.ts'
import { isFolded, withFolded } from './folded-sequences.ts'
import { locationSettingsChanged } from './settings.ts'
import { deviceAssigned, deviceUnassigned, tapRemoved } from './taps.ts'
import { kegAt } from './timeline.ts'

/** The events that the series fold. None of the folds refuses an event. */
type SeriesEvent = Extract<
  ScalesEvent,
  {
    type:
      | 'DeviceRegistered'
      | 'DeviceReleased'
      | 'DeviceAssigned'
      | 'DeviceUnassigned'
      | 'TapRemoved'
      | 'KegTapped'
      | 'KegFinished'
      | 'KegAssignmentCorrected'
      | 'PourVoided'
      | 'LocationSettingsChanged'
      | 'SilenceDue'
      | 'ReadingReported'
      | 'TelemetryReported'
  }
>

/** The state of a tap in the table of the series. */
type SeriesStateItem = TapStateItem & {
  /** The sequence numbers of folded telemetry messages. A device can number its messages and its readings separately. */
  readonly _told?: readonly FoldedSequences[]
}

/** Returns a fold for the series: it runs a fold of the scales on the table of the series, and turns the pours that it finds into points. */
const seriesFoldOf =
  <E extends Event>(fold: (event: E, get: Get) => Result) =>
  (event: E, get: Get): Result =>
    seriesResult(fold(event, get), { loc: event.meta.key, get })

/**
 * Writes one point for every accepted reading, also for a late reading (S18, S66). Detects pours only in readings that
 * are newer than the state of their tap (S-f).
 */
const readingMeasured = (event: ReadingReported, get: Get): Result => {
  const {
    data,
    meta: { key: loc },
  } = event
  const work = startWork(get)
  const found = attributeReading(work, event)
  const state =
    found.kind === 'read' && !found.isGone ? work.get<SeriesStateItem>(tapStates.key(loc, found.tap)) : undefined
  const folded = state?._seen ?? []
  if (found.kind !== 'read' || isFolded(folded, data)) return seriesResult(work.result(), { loc, get })
  const { tap, timeline, isGone } = found
  const keg = kegAt(timeline, data.at)
  const gallons = gallonsAt(numberOf(data.weight_lbs), keg)
  const _seen = withFolded(folded, data)
  const missed: Point[] = []
  const dims = { tap_id: tapIdOf(loc, tap), loc_id: loc, device_id: data.device_id }
  if (state !== undefined && isOld(state, data.at)) work.put({ ...state, _seen })
  else if (!isGone) {
    const settings = settingsOf(work.get(locationSettings.key(loc)))
    const { detector, unseen, pouring } = pour(work, { loc, tap, at: data.at, keg, state, settings, gallons, timeline })
    work.put({
      ...stateOf(data, { loc, tap }),
      gallons,
      keg_id: keg?.keg_id ?? null,
      pouring,
      ...(detector !== undefined && { _pour: detector }),
      ...(state?._told && { _told: state._told }),
      _seen,
    } satisfies SeriesStateItem)
    const silence = unseen ?? silenceBefore(data.at, { state, keg, settings })
    if (silence !== undefined)
      missed.push({
        measure: 'unseen',
        dims,
        at: silence.start,
        values: { gallons: silence.gallons, sg: keg?.sg ?? 1, ended_at: silence.end, keg_id: keg?.keg_id ?? null },
      })
  }
  const { items = [], points = [] } = seriesResult(work.result(), { loc, get, device: data.device_id })
  return { items, points: [...points, ...missed, ...pointOf(data, dims, keg)] }
}

/**
 * The gap without readings (silence) that this reading ends. Undefined if there was none. The gap is stored although it has 0 gallons, because
 * the calculation of pour rates leaves out the time of each gap.
 */
const silenceBefore = (
  at: number,
  { state, keg, settings }: Pick<Pouring, 'state' | 'keg' | 'settings'>,
): Unseen | undefined => {
  if (keg === undefined || state === undefined || state.updated_at === null || state.keg_id !== keg.keg_id)
    return undefined
  const start = msOf(state.updated_at)
  return at - start > settings.silent_after_secs * 1000 ? { start, end: at, gallons: 0 } : undefined
}

/** Writes the battery of a telemetry message as a point of its own, because the message can have the same instant as a reading (S39, S61). */
const batteryMeasured = (event: TelemetryReported, get: Get): Result => {
  const {
    data,
    meta: { key: loc },
  } = event
  const work = startWork(get)
  const found = attributeReading(work, event)
  const values = { battery_pct: numberOf(data.battery_pct), battery_v: numberOf(data.battery_v) }
  const state =
    found.kind === 'read' && !found.isGone
      ? ((work.get<SeriesStateItem>(tapStates.key(loc, found.tap)) ??
          unreadTapState(loc, found.tap)) as SeriesStateItem)
      : undefined
  const hasBattery = values.battery_pct !== null || values.battery_v !== null
  if (found.kind !== 'read' || !hasBattery || isFolded(state?._told ?? [], data))
    return seriesResult(work.result(), { loc, get })
  if (state !== undefined) work.put({ ...state, _told: withFolded(state._told ?? [], data) } satisfies SeriesStateItem)
  const { items = [] } = seriesResult(work.result(), { loc, get })
  return {
    items,
    points: [
      {
        measure: 'battery',
        dims: { tap_id: tapIdOf(loc, found.tap), loc_id: loc, device_id: data.device_id },
        at: data.at,
        values,
      },
    ],
  }
}

const stateOf = (data: ReadingReportedData, { loc, tap }: { readonly loc: string; readonly tap: string }) => ({
  ...tapStates.key(loc, tap),
  level_pct: numberOf(data.level_pct),
  weight_lbs: numberOf(data.weight_lbs),
  updated_at: isoOf(data.at),
  tare_status: null,
  _device: data.device_id,
  ...(numberOf(data.level_pct) === null && { _weighed: true as const }),
})

/**
 * The point of a reading. Empty if the reading contains no number. The level is the level that the scale sent, or else
 * the level by weight.
 */
const pointOf = (data: ReadingReportedData, dims: Point['dims'], keg: KegSpan | undefined): readonly Point[] => {
  const weight_lbs = numberOf(data.weight_lbs)
  const numbers = {
    level_pct: numberOf(data.level_pct) ?? levelOf(weight_lbs, keg),
    gallons: gallonsAt(weight_lbs, keg),
    weight_lbs,
    battery_pct: numberOf(data.battery_pct),
    battery_v: numberOf(data.battery_v),
  }
  return Object.values(numbers).some((number) => number !== null)
    ? [{ measure: 'reading', dims, at: data.at, values: { ...numbers, keg_id: keg?.keg_id ?? null } }]
    : []
}

const gallonsAt = (weight_lbs: number | null, keg: KegSpan | undefined): number | null =>
  keg === undefined ? null : gallonsOf({ weight_lbs, ...keg })

interface SeriesContext {
  readonly loc: string
  readonly get: Get
  /** The device of the reading, for a pour on a tap whose state is not stored yet. */
  readonly device?: string
}

/**
 * Keeps the items that the series need, and turns pours into points. Drops alerts, discrepancies, timers and derived
 * events.
 */
const seriesResult = ({ items = [] }: Result, context: SeriesContext): Result => ({
  items: items.filter(isStored),
  points: items.filter(isPour).map((item) => pourPoint(item, context)),
})

const isPour = (item: Change): item is PourItem => item.SK.startsWith(pours.prefix)

const STORED_KINDS = [taps, timelines, locationSettings, devicePointers, kegs, devices].map(
  ({ kind: { pk = '', sk = '' } }) => ({ pk, sk }),
)

const isStored = ({ PK, SK }: Change): boolean =>
  STORED_KINDS.some(({ pk, sk }) => PK.startsWith(pk) && SK.startsWith(sk))

const pourPoint = ({ tap, start, end, gallons, sg, keg_id }: PourItem, { loc, get, device }: SeriesContext): Point => ({
  measure: 'pour',
  dims: { tap_id: tapIdOf(loc, tap), loc_id: loc, device_id: get(tapStates.key(loc, tap))?._device ?? device ?? '' },
  at: msOf(start),
  values: { gallons, sg, ended_at: msOf(end), keg_id },
})

/**
 * The series of the keg scales. They are a domain of their own, so that a failure of the series store does not stop the
 * scales domain (S-k).
 */
export const scalesSeries: Domain = {
  name: 'scales-series',
  topic: 'scales.events',
  table: seriesTable,
  partitions: { keyIn: logKeyOf, example: 'LOCATION#loc-001 or KEG#keg-20261116-4f0k2m9x1z' },
  series: kegReadings,
  foldVersion: 2,
  projections: [
    projection<SeriesEvent>('series', {
      DeviceRegistered: seriesFoldOf(deviceRegistered),
      DeviceReleased: seriesFoldOf(deviceReleased),
      DeviceAssigned: seriesFoldOf(deviceAssigned),
      DeviceUnassigned: seriesFoldOf(deviceUnassigned),
      TapRemoved: seriesFoldOf(tapRemoved),
      KegTapped: seriesFoldOf(kegTapped),
      KegFinished: seriesFoldOf(kegFinished),
      KegAssignmentCorrected: seriesFoldOf(kegAssignmentCorrected),
      PourVoided: seriesFoldOf(pourVoided),
      LocationSettingsChanged: seriesFoldOf(locationSettingsChanged),
      SilenceDue: seriesFoldOf(silenceMeasured),
      ReadingReported: readingMeasured,
      TelemetryReported: batteryMeasured,
    }),
  ],
}
