import type { BeerKegWeightMeasured, BeerKegWeightsSet } from '../../schemas/generated/scales.ts'
import { DUPLICATE, NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { BeerKegItem } from '../../projections/scales/items.ts'
import { beerKegs, beers, isId } from '../../projections/scales/keys.ts'
import { referenceWeights } from '../../projections/scales/keg-types.ts'
import { heardBefore, hearing } from '../access/heard.ts'
import { isAt, unknown } from './beers.ts'
import { areWeights, isTime } from './fit.ts'
import { isType } from './kegs.ts'
import { refuse } from '../../projections/scales/refusals.ts'

/** What is said by hand holds until a keg is weighed. */
export const beerKegWeightsSet = (event: BeerKegWeightsSet, get: Get): Result => {
  const { data, meta } = event
  const { loc_id, beer_id, keg_type, gallons, full_lbs, empty_lbs } = data
  if (!isAt(data, meta.key) || get(beers.key(loc_id, beer_id)) === undefined) return unknown(data)
  if (!isType(keg_type) || !areWeights(data) || !(gallons > 0 && gallons <= 1000)) return refuse('beer-invalid', 'A type of keg has a name, gallons, and weighs more full than empty.')
  const key = beerKegs.key(loc_id, beer_id, keg_type)
  const before = get<BeerKegItem>(key)
  if (heardBefore(before?._heard, event)) return DUPLICATE
  return { items: [{ ...key, keg_type, gallons, full_lbs, empty_lbs, _heard: hearing(before?._heard, event) } satisfies BeerKegItem] }
}

/** A mean over the kegs last weighed, each counted once, as it was weighed last (S42). */
const KEPT_KEGS = 32

/** How far from its reference a full keg of a global beer may weigh: anybody's scale speaks there, to everybody. */
const PLAUSIBLE = 0.25

const isPlausible = (full_lbs: number, reference: number): boolean => Math.abs(full_lbs - reference) <= reference * PLAUSIBLE

/** S41: the full weight changes, the empty one stays. Derived, so never refused: of a beer that is not there it is nobody's concern. */
export const beerKegWeightMeasured = (event: BeerKegWeightMeasured, get: Get): Result => {
  const { data, meta } = event
  const { loc_id, beer_id, keg_type, keg_id, full_lbs, at } = data
  if (!isAt(data, meta.key) || !isType(keg_type) || !isId(keg_id) || !isTime(at) || get(beers.key(loc_id, beer_id)) === undefined) return NOTHING
  const key = beerKegs.key(loc_id, beer_id, keg_type)
  const before = get<BeerKegItem>(key)
  const weights = before ?? referenceWeights(keg_type)
  if (weights === undefined || heardBefore(before?._heard, event)) return NOTHING
  const others = (before?._measured ?? []).filter((one) => one.keg_id !== keg_id)
  const same = before?._measured?.find((one) => one.keg_id === keg_id)
  if (!areWeights({ full_lbs, empty_lbs: weights.empty_lbs }) || (same !== undefined && same.at >= at)) return NOTHING
  const reference = before?._reference ?? weights.full_lbs
  if (loc_id === null && !isPlausible(full_lbs, reference)) return NOTHING
  const measured = [...others, { keg_id, full_lbs, at }].slice(-KEPT_KEGS)
  const item: BeerKegItem = {
    ...key,
    keg_type,
    gallons: weights.gallons,
    empty_lbs: weights.empty_lbs,
    full_lbs: measured.reduce((sum, one) => sum + one.full_lbs, 0) / measured.length,
    measured_at: isoOf(Math.max(...measured.map((one) => one.at))),
    measured_count: measured.length,
    _reference: reference,
    _measured: measured,
    _heard: hearing(before?._heard, event),
  }
  return { items: [item] }
}
