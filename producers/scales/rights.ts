import { isId } from '../../projections/scales/keys.ts'
import { scalesQueries } from '../../projections/scales/queries.ts'
import { Problem } from '../http/problem.ts'
import type { Call, Decision, Route } from '../http/route.ts'

type Asked = Pick<Call, 'caller' | 'params'>

/** The same for a stranger as for a place that is not there. */
const noLocation = (loc: string): Problem => new Problem(404, 'location-not-found', `There is no location ${loc.slice(0, 64)} that you may see. Whoever says something about a new one first owns it.`)

export const locOf = ({ params }: Pick<Call, 'params'>): string => checkedLoc(params['loc'] ?? '')

/** Every key is built from what went through here. */
export const checkedLoc = (loc: string): string => {
  if (isId(loc)) return loc
  throw new Problem(404, 'location-not-found', `${JSON.stringify(loc.slice(0, 64))} is no location's id: it has 1 to 64 letters, digits, _, ., : or -, and begins with a letter or digit.`)
}

/** Whether the place is there and the caller's to see. */
export const demandMember = async ({ caller: { reader, user } }: Pick<Call, 'caller'>, loc: string): Promise<undefined> => {
  const { owner, member } = await scalesQueries(reader).rightsOf(loc, user)
  if (owner === undefined || (owner.user_id !== user && member === undefined)) throw noLocation(loc)
}

/** Whoever speaks first for a place that nobody owns owns it: that is said before what they say. */
export const openOrDemandMember = async ({ caller: { reader, user } }: Pick<Call, 'caller'>, loc: string): Promise<Decision | undefined> => {
  const { owner, member } = await scalesQueries(reader).rightsOf(loc, user)
  if (owner === undefined) return { key: loc, draft: { type: 'LocationOpened', data: {}, personal: null } }
  if (owner.user_id !== user && member === undefined) throw noLocation(loc)
  return undefined
}

/** Routes under `/v1/locations/:loc`. */
export const atLocation = (routes: readonly Route[]): readonly Route[] =>
  routes.map((route) => ({ ...route, admit: (call: Call) => (route.method === 'GET' ? demandMember : openOrDemandMember)(call, locOf(call)) }))

export const demandOwner = async ({ caller: { reader, user } }: Asked, loc: string): Promise<void> => {
  const owner = await scalesQueries(reader).owner(loc)
  if (owner !== undefined && owner.user_id !== user) throw new Problem(403, 'owner-only', `Only the owner of ${loc} may do this.`)
}
