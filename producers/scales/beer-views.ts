import type { BeerItem, BeerKegItem, LibraryItem } from '../../projections/scales/items.ts'
import { scalesQueries } from '../../projections/scales/queries.ts'
import type { Caller } from '../http/route.ts'
import { number, numberOrNull, text, textOrNull } from '../http/schemas.ts'

export const pointerSchema = { type: 'object', required: ['id', 'name'], properties: { id: text, loc_id: textOrNull, name: text, style: textOrNull } } as const

const kegWeightsSchema = {
  type: 'object',
  required: ['keg_type', 'gallons', 'full_lbs', 'empty_lbs', 'badge'],
  properties: {
    keg_type: text,
    gallons: number,
    full_lbs: number,
    empty_lbs: number,
    measured_at: text,
    measured_count: number,
    badge: { type: 'string', enum: ['default', 'set', 'calculated'], description: 'Reference data, measured once, or the average of several measurements.' },
  },
} as const

export const beerSchema = {
  type: 'object',
  required: ['id', 'loc_id', 'name', 'style', 'specific_gravity', 'kegs'],
  properties: { id: text, loc_id: textOrNull, name: text, style: textOrNull, specific_gravity: numberOrNull, kegs: { type: 'array', items: kegWeightsSchema } },
} as const

export const pointerView = ({ beer_id, loc_id, name: called, style: of }: LibraryItem) => ({ id: beer_id, loc_id, name: called, style: of })

/** Where the weights come from (S42). */
const badgeOf = ({ measured_at, measured_count = 0 }: BeerKegItem): 'default' | 'set' | 'calculated' =>
  measured_at === undefined ? 'default' : measured_count > 1 ? 'calculated' : 'set'

const kegWeightsView = (weights: BeerKegItem) => ({
  keg_type: weights.keg_type,
  gallons: weights.gallons,
  full_lbs: weights.full_lbs,
  empty_lbs: weights.empty_lbs,
  measured_at: weights.measured_at,
  measured_count: weights.measured_count,
  badge: badgeOf(weights),
})

const TYPES = 100

/** A beer with its keg weights. */
export const beerView = async ({ reader }: Pick<Caller, 'reader'>, beer: BeerItem) => {
  const { items } = await scalesQueries(reader).beerKegs(beer.loc_id, beer.beer_id, { limit: TYPES })
  return { id: beer.beer_id, loc_id: beer.loc_id, name: beer.name, style: beer.style, specific_gravity: beer.specific_gravity, kegs: items.map(kegWeightsView) }
}
