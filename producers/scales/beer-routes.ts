import type { Paging } from '../../projections/entity.ts'
import type { LibraryItem } from '../../projections/scales/items.ts'
import { DEFAULT_GRAVITY } from '../../projections/scales/keg-types.ts'
import { normalName, slugOf } from '../../projections/scales/names.ts'
import type { Page } from '../../projections/table.ts'
import { badCursor, listing } from '../http/lists.ts'
import { mistake, Problem } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { bool, text } from '../http/schemas.ts'
import { beerAnswer, libraryAnswer } from './beer-views.ts'
import { demandWeights } from './keg-bodies.ts'
import { LIMITS } from './limits.ts'
import { beerOf, event, idSchema, kegTypeOf, queriesOf } from './params.ts'
import { checkedLoc, demandMember, openOrDemandMember } from './rights.ts'
import { beerKegs, beers, goneBeers } from '../../projections/scales/keys.ts'

const { beerName: name, beerStyle: style, gravity, kegLbs: weight } = LIMITS
const loc = { type: 'string', maxLength: 64, description: 'The location whose own beers are meant, too.' } as const
const locQuery = { type: 'object', additionalProperties: false, properties: { loc: { ...loc, description: 'The location whose own beer it is; without it, a beer of the global library.' } } } as const

const placeIn = (said: string | undefined): string | null => (said === undefined ? null : checkedLoc(said))

type Asked = Pick<Call<unknown, { readonly loc?: string }>, 'caller' | 'params' | 'query'>

const KEG_TYPES_SHOWN = 100

const stored = async (call: Asked, id: string) => {
  const [{ reader }, loc_id] = [call.caller, placeIn(call.query.loc)]
  const found = await beers.get(reader, loc_id, id)
  return found && beerAnswer.view(found, (await beerKegs.page(reader, loc_id, id, { limit: KEG_TYPES_SHOWN })).items)
}

/** The early check of a change: the beer must exist, and only its author can change a beer of the global library. */
const heardOf = async (call: Asked): Promise<{ readonly key: string; readonly beer_id: string; readonly loc_id: string | null }> => {
  const [beer_id, loc_id] = [beerOf(call), placeIn(call.query.loc)]
  const found = await beers.get(call.caller.reader, loc_id, beer_id)
  if (found === undefined) throw beerOf.missing(beer_id)
  if (loc_id === null && found.defined_by !== call.caller.user) throw new Problem(403, 'not-your-beer', `Somebody else added ${beer_id} to the global library: add one of your own, or one of a location (loc_id).`)
  return { key: loc_id ?? beer_id, beer_id, loc_id }
}

const reads = async (call: Call): Promise<undefined> => {
  const { loc: said } = call.query as { readonly loc?: string }
  if (said !== undefined) await demandMember(call, checkedLoc(said))
}

const searchBeers = listing({
  url: '/v1/beers',
  operationId: 'searchBeers',
  summary: 'Beers with a word that begins so: of the global library, and before them those of a location.',
  query: { search: { type: 'string', maxLength: 100 }, loc },
  of: libraryAnswer,
  admit: reads,
  page: (call, paging) => searched(call, paging),
})

/** Lists the location's library and then the global one. The first letter of a cursor names the library. */
const searched = async (call: Call<unknown, { readonly search?: string; readonly loc?: string }>, { limit, cursor: sent }: Paging): Promise<Page<LibraryItem>> => {
  const [queries, place, { search = '' }] = [queriesOf(call), placeIn(call.query.loc), call.query]
  const cursor = sent ?? (place === null ? GLOBAL : OWN)
  const [own, within] = [cursor.startsWith(OWN) && place !== null, cursor.slice(1)]
  if (!own && !cursor.startsWith(GLOBAL)) return badCursor()
  const page = await queries.beersNamed(own ? place : null, search, { limit, ...(within === '' ? {} : { cursor: within }) })
  if (page.cursor !== undefined) return { items: page.items, cursor: (own ? OWN : GLOBAL) + page.cursor }
  if (!own || page.items.length === limit) return own ? { items: page.items, cursor: GLOBAL } : { items: page.items }
  const global = await queries.beersNamed(null, search, { limit: limit - page.items.length })
  return { items: [...page.items, ...global.items], ...(global.cursor === undefined ? {} : { cursor: GLOBAL + global.cursor }) }
}

const [OWN, GLOBAL] = ['l', 'g']

const defineBeer = command({
  method: 'POST',
  url: '/v1/beers',
  operationId: 'defineBeer',
  summary: 'Add a beer to the global library, or to a location\'s own.',
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: {
      beer_id: { ...idSchema, description: 'Default: derived from the name.' },
      loc_id: { ...idSchema, description: 'For a location\'s own beer.' },
      name,
      style,
      specific_gravity: { ...gravity, description: 'Default: 1.0.' },
    },
  },
  status: 201,
  result: beerAnswer.schema,
  admit: async (call) => {
    const { loc_id } = call.body as { readonly loc_id?: string }
    return loc_id === undefined ? undefined : openOrDemandMember(call, checkedLoc(loc_id))
  },
  decide: ({ body }) => {
    const beer_id = body.beer_id ?? slugOf(body.name)
    demandName(body.name)
    if (beer_id === '') throw mistake(400, { pointer: '/beer_id', code: 'missing-field', detail: '/beer_id: no id can be made of the name: say one.' })
    const loc_id = body.loc_id ?? null
    const { style: of = null, specific_gravity = DEFAULT_GRAVITY } = body
    return { key: loc_id ?? beer_id, id: beer_id, draft: event('BeerDefined', { beer_id, loc_id, name: body.name, style: of, specific_gravity }) }
  },
  answer: ({ caller, params, body }, { id = '' }) => stored({ caller, params, query: body.loc_id === undefined ? {} : { loc: body.loc_id } }, id),
})

/** The library is sorted by the normal form of the name, so that form cannot be empty. */
const demandName = (called: string): void => {
  if (normalName(called) === '') throw mistake(400, { pointer: '/name', code: 'bad-name', detail: '/name must have a letter or a digit.' })
}

const oneBeer = question({
  method: 'GET',
  url: '/v1/beers/:beer',
  operationId: 'getBeer',
  summary: 'A beer with its keg weights and where they come from.',
  query: locQuery,
  result: beerAnswer.schema,
  admit: reads,
  answer: async (call) => {
    const id = beerOf(call)
    const found = await stored(call, id)
    if (found === undefined) throw beerOf.missing(id)
    return found
  },
})

const changeBeer = command({
  method: 'PATCH',
  url: '/v1/beers/:beer',
  operationId: 'changeBeer',
  summary: 'Change a beer; kegs that are tapped keep what they took from it.',
  query: locQuery,
  body: { type: 'object', additionalProperties: false, minProperties: 1, properties: { name, style, specific_gravity: gravity } },
  status: 200,
  result: beerAnswer.schema,
  admit: reads,
  decide: async (call) => {
    const { key, ...beer } = await heardOf(call)
    const { name: called = null, style: of = null, specific_gravity = null } = call.body
    if (called !== null) demandName(called)
    return { key, id: beer.beer_id, draft: event('BeerChanged', { ...beer, name: called, style: of, specific_gravity }) }
  },
  answer: (call) => stored(call, beerOf(call)),
})

const removeBeer = command({
  method: 'DELETE',
  url: '/v1/beers/:beer',
  operationId: 'removeBeer',
  summary: 'Remove a beer from its library. Kegs keep what they took from it.',
  query: locQuery,
  status: 200,
  result: { type: 'object', required: ['id', 'removed'], properties: { id: text, removed: bool } },
  admit: reads,
  decide: async (call) => {
    const [id, place] = [beerOf(call), placeIn(call.query.loc)]
    const isGone = (await goneBeers.get(call.caller.reader, place, id)) !== undefined
    const { key, ...beer } = isGone ? { key: place ?? id, beer_id: id, loc_id: place } : await heardOf(call)
    return { key, id: beer.beer_id, draft: event('BeerRemoved', beer) }
  },
  answer: async (call) => ({ id: beerOf(call), removed: true }),
})

const setWeights = command({
  method: 'PUT',
  url: '/v1/beers/:beer/kegs/:type',
  operationId: 'setBeerKegWeights',
  summary: 'Set the reference weights of a beer in a type of keg.',
  query: locQuery,
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['gallons', 'full_lbs', 'empty_lbs'],
    properties: { gallons: LIMITS.kegGallons, full_lbs: weight, empty_lbs: weight },
  },
  status: 200,
  result: beerAnswer.schema,
  admit: reads,
  decide: async (call) => {
    const keg_type = kegTypeOf(call)
    demandWeights(call.body)
    const { key, ...beer } = await heardOf(call)
    return { key, id: beer.beer_id, draft: event('BeerKegWeightsSet', { ...beer, keg_type, ...call.body }) }
  },
  answer: (call) => stored(call, beerOf(call)),
})

export const beerRoutes: readonly Route[] = [searchBeers, defineBeer, oneBeer, changeBeer, removeBeer, setWeights]
