import type { BeerKegWeightMeasured, BeerKegWeightsSet } from '../../schemas/generated/scales.ts'
import { DUPLICATE, NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { BeerKegItem } from '../../projections/scales/items.ts'
import { beerKegs, beers, isId } from '../../projections/scales/keys.ts'
import { referenceWeights } from '../../projections/scales/keg-types.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { isAt, unknown } from './beers.ts'
import { areWeights, isTime } from './fit.ts'
import { isType } from './kegs.ts'
import { refuse } from '../../projections/scales/refusals.ts'

/** Sets the weights of a beer in a type of keg. The full weight applies until a keg is weighed. */
export const beerKegWeightsSet = (event: BeerKegWeightsSet, get: Get): Result => {
  const { data, meta } = event
  const { loc_id, beer_id, keg_type, gallons, full_lbs, empty_lbs } = data
  if (!isAt(data, meta.key) || get(beers.key(loc_id, beer_id)) === undefined) return unknown(data)
  if (!isType(keg_type) || !areWeights(data) || !(gallons > 0 && gallons <= 1000))
    return refuse('beer-invalid', 'A type of keg has a name, gallons, and weighs more full than empty.')
  const key = beerKegs.key(loc_id, beer_id, keg_type)
  const before = get<BeerKegItem>(key)
  if (hasApplied(before?._heard, event)) return DUPLICATE
  return {
    items: [
      {
        ...key,
        keg_type,
        gallons,
        full_lbs,
        empty_lbs,
        _heard: withApplied(before?._heard, event),
      } satisfies BeerKegItem,
    ],
  }
}

/** The mean full weight of a beer is computed from at most this number of weighings: the last weighing of each of its last kegs (S42). */
const MAX_WEIGHINGS = 32

/**
 * A measured weight of a global beer is used if it differs from the reference weight by at most this fraction. This
 * limit exists because the scale of any location can change a global beer for all locations.
 */
const PLAUSIBLE = 0.25

const isPlausible = (full_lbs: number, reference: number): boolean =>
  Math.abs(full_lbs - reference) <= reference * PLAUSIBLE

/**
 * Changes the full weight of a beer after a keg was weighed (S41). The empty weight stays. A derived event is never
 * refused, so the weighing of an unknown beer changes nothing.
 */
export const beerKegWeightMeasured = (event: BeerKegWeightMeasured, get: Get): Result => {
  const { data, meta } = event
  const { loc_id, beer_id, keg_type, keg_id, full_lbs, at } = data
  if (
    !isAt(data, meta.key) ||
    !isType(keg_type) ||
    !isId(keg_id) ||
    !isTime(at) ||
    get(beers.key(loc_id, beer_id)) === undefined
  )
    return NOTHING
  const key = beerKegs.key(loc_id, beer_id, keg_type)
  const before = get<BeerKegItem>(key)
  const weights = before ?? referenceWeights(keg_type)
  if (weights === undefined || hasApplied(before?._heard, event)) return NOTHING
  const others = (before?._measured ?? []).filter((measurement) => measurement.keg_id !== keg_id)
  const same = before?._measured?.find((measurement) => measurement.keg_id === keg_id)
  if (!areWeights({ full_lbs, empty_lbs: weights.empty_lbs }) || (same !== undefined && same.at >= at)) return NOTHING
  const reference = before?._reference ?? weights.full_lbs
  if (loc_id === null && !isPlausible(full_lbs, reference)) return NOTHING
  const measured = [...others, { keg_id, full_lbs, at }].slice(-MAX_WEIGHINGS)
  const item: BeerKegItem = {
    ...key,
    keg_type,
    gallons: weights.gallons,
    empty_lbs: weights.empty_lbs,
    full_lbs: measured.reduce((sum, measurement) => sum + measurement.full_lbs, 0) / measured.length,
    measured_at: isoOf(Math.max(...measured.map((measurement) => measurement.at))),
    measured_count: measured.length,
    _reference: reference,
    _measured: measured,
    _heard: withApplied(before?._heard, event),
  }
  return { items: [item] }
}
