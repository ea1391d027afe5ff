import type { DeviceCalibrated, TareRecorded } from '../../schemas/generated/scales.ts'
import { DUPLICATE, NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { CalibrationItem, TapStateItem, TareItem } from '../../projections/scales/items.ts'
import { beers, calibrations, isTap, kegs, pastCalibrations, tapStates, tares, timelines } from '../../projections/scales/keys.ts'
import type { KegSpan } from '../../projections/scales/spans.ts'
import { startWork, type Work } from '../access/work.ts'
import { isTime } from './fit.ts'
import { deviceHeld } from './held.ts'
import { quarantineTare } from './quarantine.ts'
import { refuse } from '../../projections/scales/refusals.ts'
import { kegAt, tapAt } from './timeline.ts'

/**
 * S40: the keg that was on the tap keeps its tare, which is the one that counts; the telemetry keeps a copy by a fold of its own, so this is
 * never refused. A full keg was weighed: its beer hears of it (S41).
 */
export const tareRecorded = (event: TareRecorded, get: Get): Result => {
  const { data, meta } = event
  if (!isTime(data.at) || !Number.isFinite(data.value_lbs)) return NOTHING
  const work = startWork(get)
  const tap = tapOf(work, meta.key, data)
  const timeline = tap === null ? undefined : get(timelines.key(meta.key, tap))
  const keg = timeline && kegAt(timeline, data.at)
  if (tap === null || keg === undefined) return NOTHING
  if (!isTareOf(keg, data)) return quarantineTare(work, event, UNFIT)
  const before = get(tares.key(keg.keg_id))
  const tare = tareAfter(before, { loc: meta.key, keg: keg.keg_id, data })
  if (tare === undefined) return NOTHING
  work.put(tare)
  const state = get(tapStates.key(meta.key, tap))
  const isNow = timeline?.kegs.at(-1) === keg
  if (state !== undefined && isNow) work.put({ ...state, tare_status: tare.tare_status } satisfies TapStateItem)
  if (data.kind === 'full') deriveMeasured(work, { loc: meta.key, keg: keg.keg_id, data })
  return work.result()
}

const UNFIT = { reason: 'tare', detail: 'The keg on the tap cannot weigh that: a full one weighs more than it does empty, an empty one less than full.' } as const

/** One that the keg cannot have would be kept with its beer, for every keg to come. */
const isTareOf = ({ full_lbs, empty_lbs }: KegSpan, { kind, value_lbs }: TareRecorded['data']): boolean => (kind === 'full' ? value_lbs > empty_lbs : value_lbs < full_lbs)

const tapOf = (work: Work, loc: string, { tap, device_id, at }: TareRecorded['data']): string | null => {
  if (tap !== null) return isTap(tap) ? tap : null
  const held = device_id === null ? undefined : deviceHeld(work, loc, device_id)
  return held === undefined ? null : tapAt(held.item._places, at)
}

interface Tare {
  readonly loc: string
  readonly keg: string
  readonly data: TareRecorded['data']
}

/** By the time it was measured; undefined where the same kind was measured since, or then. */
const tareAfter = (before: TareItem | undefined, { loc, keg, data: { kind, value_lbs, at } }: Tare): TareItem | undefined => {
  const iso = isoOf(at)
  const last = kind === 'empty' ? before?._empty_at : before?._full_at
  if (last !== undefined && last >= iso) return undefined
  const values = {
    empty_offset: kind === 'empty' ? value_lbs : (before?.empty_offset ?? null),
    full_ref: kind === 'full' ? value_lbs : (before?.full_ref ?? null),
  }
  return {
    ...tares.key(keg), loc_id: loc, ...values,
    tared_at: before !== undefined && before.tared_at > iso ? before.tared_at : iso,
    tare_status: values.empty_offset !== null && values.full_ref !== null ? 'complete' : kind,
    ...(before?._empty_at !== undefined && { _empty_at: before._empty_at }),
    ...(before?._full_at !== undefined && { _full_at: before._full_at }),
    ...(kind === 'empty' ? { _empty_at: iso } : { _full_at: iso }),
  }
}

/** To the beer, where it is: a location's own, or the global one. */
const deriveMeasured = (work: Work, { loc, keg, data: { value_lbs, at } }: Tare): void => {
  const item = work.get(kegs.key(keg))
  if (item === undefined) return
  const own = work.get(beers.key(loc, item.beer_id))
  const [key, loc_id] = own === undefined ? [item.beer_id, null] : [loc, loc]
  work.derive({
    // Told again after a correction it is another keg's.
    purpose: `measured:${keg}`,
    event: { type: 'BeerKegWeightMeasured', key, data: { beer_id: item.beer_id, loc_id, keg_type: item.keg_type, keg_id: keg, full_lbs: value_lbs, at } },
  })
}

/** S10, S11: every calibration is kept, and the newest is the one that holds. */
export const deviceCalibrated = ({ data, meta }: DeviceCalibrated, get: Get): Result => {
  const work = startWork(get)
  const held = deviceHeld(work, meta.key, data.device_id)
  if (held === undefined) return refuse('device-not-found', `Device ${data.device_id} is not of this location.`)
  if (!isTime(data.at) || !Number.isFinite(data.factor) || !Number.isFinite(data.offset)) return refuse('calibration-invalid', 'A calibration has a time, a factor and an offset.')
  const iso = isoOf(data.at)
  const { epoch } = held.item
  const said = { loc_id: meta.key, factor: data.factor, offset: data.offset, calibrated_at: iso, calibrated_by: meta.actorId }
  const asOf = pastCalibrations.key(data.device_id, epoch, iso, meta.eventId.slice(-12))
  if (get(asOf) !== undefined) return DUPLICATE
  work.put({ ...asOf, ...said } satisfies CalibrationItem)
  const current = get(calibrations.key(data.device_id, epoch))
  if (current === undefined || current.calibrated_at <= iso) work.put({ ...calibrations.key(data.device_id, epoch), ...said } satisfies CalibrationItem)
  return work.result()
}
