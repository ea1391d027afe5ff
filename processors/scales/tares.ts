import type { DeviceCalibrated, TareRecorded } from '../../schemas/generated/scales.ts'
import { DUPLICATE, NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type {
  CalibrationItem,
  DevicePointerItem,
  TapStateItem,
  TareItem,
  TimelineItem,
} from '../../projections/scales/items.ts'
import {
  beers,
  calibrations,
  isTap,
  kegs,
  pastCalibrations,
  tapStates,
  tares,
  timelines,
} from '../../projections/scales/keys.ts'
import type { KegSpan } from '../../projections/scales/spans.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { startWork, type Work } from '../folding/work.ts'
import { isTime } from './fit.ts'
import { ownedDevice } from './owned-devices.ts'
import { quarantineTare } from './quarantine.ts'
import { refuse } from '../../projections/scales/refusals.ts'
import { kegAt, tapAt } from './timeline.ts'

/**
 * Stores the tare with the keg that was on the tap when it was measured (S40). Refuses nothing, because the telemetry projection also folds
 * this event. From the weight of a full keg, derives an event for its beer (S41).
 */
export const tareRecorded = (event: TareRecorded, get: Get): Result => {
  const { data, meta } = event
  if (!isTime(data.at) || !Number.isFinite(data.value_lbs)) return NOTHING
  const work = startWork(get)
  const target = tareTapOf(work, meta.key, data)
  const timeline = target && get(timelines.key(meta.key, target.tap))
  const keg = timeline && kegAt(timeline, data.at)
  if (target === undefined || timeline === undefined || keg === undefined) return NOTHING
  // A repeated event is recognised by its id and not by the keg: since the tare was folded, a correction can have put another keg on the tap.
  const item: DevicePointerItem | TimelineItem = target.pointer ?? timeline
  if (hasApplied(item._heard, event)) return NOTHING
  const remembered = { ...item, _heard: withApplied(item._heard, event) }
  if (!isTareOf(keg, data)) {
    if (data.device_id !== null) work.put(remembered)
    return quarantineTare(work, event, UNFIT)
  }
  const tare = tareAfter(get(tares.key(keg.keg_id)), { loc: meta.key, keg: keg.keg_id, data })
  if (tare === undefined) return NOTHING
  work.put(remembered)
  work.put(tare)
  const state = get(tapStates.key(meta.key, target.tap))
  const isNow = timeline.kegs.at(-1) === keg
  if (state !== undefined && isNow) work.put({ ...state, tare_status: tare.tare_status } satisfies TapStateItem)
  if (data.kind === 'full') deriveMeasured(work, { loc: meta.key, keg: keg.keg_id, data })
  return work.result()
}

const UNFIT = {
  reason: 'tare',
  detail:
    'The keg on the tap cannot have this weight. A full keg must weigh more than its empty weight, and an empty keg less than its full weight.',
} as const

/** False for a weight that the keg cannot have. Such a weight would become a weight of the beer, and apply to later kegs. */
const isTareOf = ({ full_lbs, empty_lbs }: KegSpan, { kind, value_lbs }: TareRecorded['data']): boolean =>
  kind === 'full' ? value_lbs > empty_lbs : value_lbs < full_lbs

interface TareTap {
  readonly tap: string
  /** Present if the event names only the device. */
  readonly pointer?: DevicePointerItem
}

/** The tap that the event names, or else the tap of the event's device at that time. Undefined if there is no such tap. */
const tareTapOf = (work: Work, loc: string, { tap, device_id, at }: TareRecorded['data']): TareTap | undefined => {
  if (tap !== null) return isTap(tap) ? { tap } : undefined
  const owned = device_id === null ? undefined : ownedDevice(work, loc, device_id)
  const tapOfDevice = owned === undefined ? null : tapAt(owned.item._places, at)
  return owned === undefined || tapOfDevice === null ? undefined : { tap: tapOfDevice, pointer: owned.pointer }
}

interface Tare {
  readonly loc: string
  readonly keg: string
  readonly data: TareRecorded['data']
}

/** The tare of the keg with this measurement. Undefined if the keg has a measurement of the same kind that is as new or newer. */
const tareAfter = (
  before: TareItem | undefined,
  { loc, keg, data: { kind, value_lbs, at } }: Tare,
): TareItem | undefined => {
  const iso = isoOf(at)
  const last = kind === 'empty' ? before?._empty_at : before?._full_at
  if (last !== undefined && last >= iso) return undefined
  const values = {
    empty_offset: kind === 'empty' ? value_lbs : (before?.empty_offset ?? null),
    full_ref: kind === 'full' ? value_lbs : (before?.full_ref ?? null),
  }
  return {
    ...tares.key(keg),
    loc_id: loc,
    ...values,
    tared_at: before !== undefined && before.tared_at > iso ? before.tared_at : iso,
    tare_status: values.empty_offset !== null && values.full_ref !== null ? 'complete' : kind,
    ...(before?._empty_at !== undefined && { _empty_at: before._empty_at }),
    ...(before?._full_at !== undefined && { _full_at: before._full_at }),
    ...(kind === 'empty' ? { _empty_at: iso } : { _full_at: iso }),
  }
}

/** Derives a BeerKegWeightMeasured event for the location's own beer, or for the global beer if the location has none of its own. */
const deriveMeasured = (work: Work, { loc, keg, data: { value_lbs, at } }: Tare): void => {
  const item = work.get(kegs.key(keg))
  if (item === undefined) return
  const own = work.get(beers.key(loc, item.beer_id))
  const [key, loc_id] = own === undefined ? [item.beer_id, null] : [loc, loc]
  work.derive({
    // The keg is part of the derived event's id, because after a correction a late copy of this event finds another keg on the tap.
    purpose: `measured:${keg}`,
    event: {
      type: 'BeerKegWeightMeasured',
      key,
      data: { beer_id: item.beer_id, loc_id, keg_type: item.keg_type, keg_id: keg, full_lbs: value_lbs, at },
    },
  })
}

/** Stores every calibration (S10, S11). The calibration with the latest time is the current one. */
export const deviceCalibrated = ({ data, meta }: DeviceCalibrated, get: Get): Result => {
  const work = startWork(get)
  const owned = ownedDevice(work, meta.key, data.device_id)
  if (owned === undefined) return refuse('device-not-found', `Device ${data.device_id} is not of this location.`)
  if (!isTime(data.at) || !Number.isFinite(data.factor) || !Number.isFinite(data.offset))
    return refuse('calibration-invalid', 'A calibration has a time, a factor and an offset.')
  const iso = isoOf(data.at)
  const { epoch } = owned.item
  const calibration = {
    loc_id: meta.key,
    factor: data.factor,
    offset: data.offset,
    calibrated_at: iso,
    calibrated_by: meta.actorId,
  }
  const asOf = pastCalibrations.key(data.device_id, epoch, iso, meta.eventId.slice(-12))
  if (get(asOf) !== undefined) return DUPLICATE
  work.put({ ...asOf, ...calibration } satisfies CalibrationItem)
  const current = get(calibrations.key(data.device_id, epoch))
  if (current === undefined || current.calibrated_at <= iso)
    work.put({ ...calibrations.key(data.device_id, epoch), ...calibration } satisfies CalibrationItem)
  return work.result()
}
