import type { BeerChanged, BeerDefined, BeerRemoved } from '../../schemas/generated/scales.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { BeerItem, GoneBeerItem, LibraryItem } from '../../projections/scales/items.ts'
import { beerKegs, beers, goneBeers, isId, libraryNames, libraryWords } from '../../projections/scales/keys.ts'
import { SEEDED_TYPE, referenceWeights } from '../../projections/scales/keg-types.ts'
import { endingsOf, normalName } from '../../projections/scales/names.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { startWork, type Work } from '../folding/work.ts'
import { isGravity } from './fit.ts'
import { refuse } from '../../projections/scales/refusals.ts'

/**
 * Identifies a beer. A beer of the global library has its own id as log key. A location's own beer has the location
 * as log key.
 */
export interface BeerKey {
  readonly beer_id: string
  readonly loc_id: string | null
}

export const isAt = ({ beer_id, loc_id }: BeerKey, key: string): boolean => isId(beer_id) && (loc_id ?? beer_id) === key

/** Defines a beer, with its entries in the library (S-p) and the reference weights of the keg type SEEDED_TYPE (S48). */
export const beerDefined = (event: BeerDefined, get: Get): Result => {
  const { data, meta } = event
  const { beer_id, loc_id, name, style, specific_gravity } = data
  if (!isAt(data, meta.key) || !isName(name) || !isGravity(specific_gravity)) return invalid
  const known = get(beers.key(loc_id, beer_id))
  const gone = get(goneBeers.key(loc_id, beer_id))
  if (hasApplied(known?._heard ?? gone?._heard, event)) return DUPLICATE
  if (known !== undefined)
    return refuse('beer-exists', `There is a beer ${beer_id} already; change it, or choose another id.`)
  const work = startWork(get)
  const beer: BeerItem = {
    ...beers.key(loc_id, beer_id),
    beer_id,
    loc_id,
    name,
    style,
    specific_gravity,
    defined_by: meta.actorId,
    _heard: withApplied(gone?._heard, event),
  }
  for (const item of [beer, ...entriesOf(beer)]) work.put(item)
  if (gone !== undefined) work.remove(gone)
  const seeded = beerKegs.key(loc_id, beer_id, SEEDED_TYPE)
  if (get(seeded) === undefined) work.put({ ...seeded, keg_type: SEEDED_TYPE, ...referenceWeights(SEEDED_TYPE) })
  return work.result()
}

/** Changes a beer. Existing kegs keep their copies of the specific gravity and the weights. */
export const beerChanged = (event: BeerChanged, get: Get): Result => {
  const { data, meta } = event
  const before = isAt(data, meta.key) ? get(beers.key(data.loc_id, data.beer_id)) : undefined
  if (before === undefined) return unknown(data)
  if (hasApplied(before._heard, event)) return DUPLICATE
  const after: BeerItem = {
    ...before,
    name: data.name ?? before.name,
    style: data.style ?? before.style,
    specific_gravity: data.specific_gravity ?? before.specific_gravity,
    _heard: withApplied(before._heard, event),
  }
  if (!isName(after.name) || !isGravity(after.specific_gravity)) return invalid
  const work = startWork(get)
  rename(work, before, after)
  return work.result()
}

const rename = (work: Work, before: BeerItem, after: BeerItem): void => {
  for (const entry of entriesOf(before)) work.remove(entry)
  for (const item of [after, ...entriesOf(after)]) work.put(item)
}

export const beerRemoved = (event: BeerRemoved, get: Get): Result => {
  const { data, meta } = event
  const before = isAt(data, meta.key) ? get(beers.key(data.loc_id, data.beer_id)) : undefined
  const gone = isAt(data, meta.key) ? get(goneBeers.key(data.loc_id, data.beer_id)) : undefined
  if (hasApplied(before?._heard ?? gone?._heard, event) || gone !== undefined) return DUPLICATE
  if (before === undefined) return unknown(data)
  const work = startWork(get)
  for (const item of [before, ...entriesOf(before)]) work.remove(item)
  work.put({
    ...goneBeers.key(data.loc_id, data.beer_id),
    removed_at: isoOf(meta.occurredAt),
    _heard: withApplied(before._heard, event),
  } satisfies GoneBeerItem)
  return work.result()
}

/**
 * The entries of a beer in the library: one under its name for lists, and one under each of its words for the search.
 */
const entriesOf = ({ beer_id, loc_id, name, style }: BeerItem): readonly LibraryItem[] =>
  [
    libraryNames.key(loc_id, normalName(name), beer_id),
    ...endingsOf(name).map((ending) => libraryWords.key(loc_id, ending, beer_id)),
  ].map((key) => ({ ...key, beer_id, loc_id, name, style }))

const isName = (name: string): boolean => name.length <= 200 && normalName(name) !== ''

const invalid = refuse(
  'beer-invalid',
  'A beer has an id, a name of 1 to 200 characters with a letter or digit in it, and a specific gravity from 0.5 to 2.',
)

export const unknown = ({ beer_id }: BeerKey): Result =>
  refuse('beer-not-found', `There is no beer ${beer_id} in this library.`)
