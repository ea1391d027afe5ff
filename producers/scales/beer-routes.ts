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
import { checkWeights } from './keg-bodies.ts'
import { LIMITS } from './limits.ts'
import { beerOf, event, idSchema, kegTypeOf, queriesOf } from './params.ts'
import { checkedLoc, requireMember, openOrRequireMember } from './rights.ts'
import { beerKegs, beers, goneBeers } from '../../projections/scales/keys.ts'

const { beerName: name, beerStyle: style, gravity, kegLbs: weight } = LIMITS
const loc = { type: 'string', maxLength: 64, description: 'Also the beers of this location.' } as const
const locQuery = {
  type: 'object',
  additionalProperties: false,
  properties: { loc: { ...loc, description: 'The location that the beer belongs to. Default: the global library.' } },
} as const

const locationIn = (loc: string | undefined): string | null => (loc === undefined ? null : checkedLoc(loc))

type BeerCall = Pick<Call<unknown, { readonly loc?: string }>, 'caller' | 'params' | 'query'>

const KEG_TYPES_SHOWN = 100

const storedBeer = async (call: BeerCall, id: string) => {
  const [{ reader }, loc_id] = [call.caller, locationIn(call.query.loc)]
  const found = await beers.get(reader, loc_id, id)
  return found && beerAnswer.view(found, (await beerKegs.page(reader, loc_id, id, { limit: KEG_TYPES_SHOWN })).items)
}

/** Returns the beer that a command changes, and its log key. Throws if there is no such beer, or if another person added it to the global library. */
const changeableBeer = async (
  call: BeerCall,
): Promise<{ readonly key: string; readonly beer_id: string; readonly loc_id: string | null }> => {
  const [beer_id, loc_id] = [beerOf(call), locationIn(call.query.loc)]
  const found = await beers.get(call.caller.reader, loc_id, beer_id)
  if (found === undefined) throw beerOf.missing(beer_id)
  if (loc_id === null && found.defined_by !== call.caller.user)
    throw new Problem(
      403,
      'not-your-beer',
      `Somebody else added ${beer_id} to the global library. Add a beer of your own, or a beer of a location (loc_id).`,
    )
  return { key: loc_id ?? beer_id, beer_id, loc_id }
}

const admitReader = async (call: Call): Promise<undefined> => {
  const { loc } = call.query as { readonly loc?: string }
  if (loc !== undefined) await requireMember(call, checkedLoc(loc))
}

const searchBeers = listing({
  url: '/v1/beers',
  operationId: 'searchBeers',
  summary:
    'Search beers by the beginning of a word of the name. The beers of the location come before those of the global library.',
  query: { search: { type: 'string', maxLength: 100 }, loc },
  of: libraryAnswer,
  admit: admitReader,
  page: (call, paging) => searchLibraries(call, paging),
})

/** Lists the beers of the location, then the beers of the global library. The first letter of a cursor names the library. */
const searchLibraries = async (
  call: Call<unknown, { readonly search?: string; readonly loc?: string }>,
  { limit, cursor: requested }: Paging,
): Promise<Page<LibraryItem>> => {
  const [queries, loc, { search = '' }] = [queriesOf(call), locationIn(call.query.loc), call.query]
  const cursor = requested ?? (loc === null ? GLOBAL : OWN)
  const [own, within] = [cursor.startsWith(OWN) && loc !== null, cursor.slice(1)]
  if (!own && !cursor.startsWith(GLOBAL)) return badCursor()
  const page = await queries.beersNamed(own ? loc : null, search, {
    limit,
    ...(within === '' ? {} : { cursor: within }),
  })
  if (page.cursor !== undefined) return { items: page.items, cursor: (own ? OWN : GLOBAL) + page.cursor }
  if (!own || page.items.length === limit) return own ? { items: page.items, cursor: GLOBAL } : { items: page.items }
  const global = await queries.beersNamed(null, search, { limit: limit - page.items.length })
  return {
    items: [...page.items, ...global.items],
    ...(global.cursor === undefined ? {} : { cursor: GLOBAL + global.cursor }),
  }
}

const [OWN, GLOBAL] = ['l', 'g']

const defineBeer = command({
  method: 'POST',
  url: '/v1/beers',
  operationId: 'defineBeer',
  summary: 'Add a beer to the global library, or to the library of a location.',
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: {
      beer_id: { ...idSchema, description: 'Default: derived from the name.' },
      loc_id: { ...idSchema, description: 'The location that the beer belongs to. Default: the global library.' },
      name,
      style,
      specific_gravity: { ...gravity, description: 'Default: 1.0.' },
    },
  },
  status: 201,
  result: beerAnswer.schema,
  admit: async (call) => {
    const { loc_id } = call.body as { readonly loc_id?: string }
    return loc_id === undefined ? undefined : openOrRequireMember(call, checkedLoc(loc_id))
  },
  decide: ({ body }) => {
    const beer_id = body.beer_id ?? slugOf(body.name)
    checkName(body.name)
    if (beer_id === '')
      throw mistake(400, {
        pointer: '/beer_id',
        code: 'missing-field',
        detail: '/beer_id is required, because no id can be derived from this name.',
      })
    const loc_id = body.loc_id ?? null
    const { style: of = null, specific_gravity = DEFAULT_GRAVITY } = body
    return {
      key: loc_id ?? beer_id,
      id: beer_id,
      draft: event('BeerDefined', { beer_id, loc_id, name: body.name, style: of, specific_gravity }),
    }
  },
  answer: ({ caller, params, body }, { id = '' }) =>
    storedBeer({ caller, params, query: body.loc_id === undefined ? {} : { loc: body.loc_id } }, id),
})

/** Throws if the name has no letter and no digit. The library is sorted by these characters of the name, so at least one is necessary. */
const checkName = (text: string): void => {
  if (normalName(text) === '')
    throw mistake(400, { pointer: '/name', code: 'bad-name', detail: '/name must have a letter or a digit.' })
}

const oneBeer = question({
  method: 'GET',
  url: '/v1/beers/:beer',
  operationId: 'getBeer',
  summary: 'Get a beer with its keg weights and their origin.',
  query: locQuery,
  result: beerAnswer.schema,
  admit: admitReader,
  answer: async (call) => {
    const id = beerOf(call)
    const found = await storedBeer(call, id)
    if (found === undefined) throw beerOf.missing(id)
    return found
  },
})

const changeBeer = command({
  method: 'PATCH',
  url: '/v1/beers/:beer',
  operationId: 'changeBeer',
  summary: 'Change a beer. Kegs that are tapped keep their values.',
  query: locQuery,
  body: {
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    properties: { name, style, specific_gravity: gravity },
  },
  status: 200,
  result: beerAnswer.schema,
  admit: admitReader,
  decide: async (call) => {
    const { key, ...beer } = await changeableBeer(call)
    const { name: newName = null, style: newStyle = null, specific_gravity = null } = call.body
    if (newName !== null) checkName(newName)
    return {
      key,
      id: beer.beer_id,
      draft: event('BeerChanged', { ...beer, name: newName, style: newStyle, specific_gravity }),
    }
  },
  answer: (call) => storedBeer(call, beerOf(call)),
})

const removeBeer = command({
  method: 'DELETE',
  url: '/v1/beers/:beer',
  operationId: 'removeBeer',
  summary: 'Remove a beer from its library. Kegs keep their values.',
  query: locQuery,
  status: 200,
  result: { type: 'object', required: ['id', 'removed'], properties: { id: text, removed: bool } },
  admit: admitReader,
  decide: async (call) => {
    const [id, loc_id] = [beerOf(call), locationIn(call.query.loc)]
    const isGone = (await goneBeers.get(call.caller.reader, loc_id, id)) !== undefined
    const { key, ...beer } = isGone ? { key: loc_id ?? id, beer_id: id, loc_id } : await changeableBeer(call)
    return { key, id: beer.beer_id, draft: event('BeerRemoved', beer) }
  },
  answer: async (call) => ({ id: beerOf(call), removed: true }),
})

const setWeights = command({
  method: 'PUT',
  url: '/v1/beers/:beer/kegs/:type',
  operationId: 'setBeerKegWeights',
  summary: 'Set the reference weights of a beer in a keg type.',
  query: locQuery,
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['gallons', 'full_lbs', 'empty_lbs'],
    properties: { gallons: LIMITS.kegGallons, full_lbs: weight, empty_lbs: weight },
  },
  status: 200,
  result: beerAnswer.schema,
  admit: admitReader,
  decide: async (call) => {
    const keg_type = kegTypeOf(call)
    checkWeights(call.body)
    const { key, ...beer } = await changeableBeer(call)
    return { key, id: beer.beer_id, draft: event('BeerKegWeightsSet', { ...beer, keg_type, ...call.body }) }
  },
  answer: (call) => storedBeer(call, beerOf(call)),
})

export const beerRoutes: readonly Route[] = [searchBeers, defineBeer, oneBeer, changeBeer, removeBeer, setWeights]
