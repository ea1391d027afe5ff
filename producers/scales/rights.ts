import { isId, owners } from '../../projections/scales/keys.ts'
import { pathId, shown } from '../http/path-id.ts'
import { Problem } from '../http/problem.ts'
import type { Call, Decision, Route } from '../http/route.ts'
import { event, queriesOf, refused } from './params.ts'

/** Returns the same error if the location does not exist and if the caller is not a member, so that a stranger cannot find out which exist. */
const noLocation = (loc: string): Problem =>
  refused(
    'location-not-found',
    `There is no location ${shown(loc)}, or you are not a member of it. If the location is new, the first person who changes something in it becomes its owner.`,
  )

export const locOf = pathId('loc', isId, (loc) =>
  refused(
    'location-not-found',
    `${JSON.stringify(shown(loc))} is not a location id. An id has 1 to 64 letters, digits, _, ., : or -, and begins with a letter or digit.`,
  ),
)

/** Returns the id of a location from the query or the body. Throws if the id is malformed. */
export const checkedLoc = (loc: string): string => locOf({ params: { loc } })

/** Throws `location-not-found` if the location does not exist or the caller is not a member of it. */
export const requireMember = async (call: Pick<Call, 'caller'>, loc: string): Promise<undefined> => {
  const { user } = call.caller
  const { owner, member } = await queriesOf(call).rightsOf(loc, user)
  if (owner === undefined || (owner.user_id !== user && member === undefined)) throw noLocation(loc)
}

/**
 * Like `requireMember`, for commands. If the location has no owner, returns the event that makes the caller the owner. The edge appends this
 * event before the event of the command.
 */
export const openOrRequireMember = async (call: Pick<Call, 'caller'>, loc: string): Promise<Decision | undefined> => {
  const { user } = call.caller
  const { owner, member } = await queriesOf(call).rightsOf(loc, user)
  if (owner === undefined) return { key: loc, draft: event('LocationOpened', {}) }
  if (owner.user_id !== user && member === undefined) throw noLocation(loc)
  return undefined
}

/** Adds the membership check to routes under `/v1/locations/:loc`. */
export const atLocation = (routes: readonly Route[]): readonly Route[] =>
  routes.map((route) => ({
    ...route,
    admit: (call: Call) => (route.method === 'GET' ? requireMember : openOrRequireMember)(call, locOf(call)),
  }))

/** Throws `owner-only` if another user owns the location. Does nothing if the location has no owner yet. */
export const requireOwner = async (call: Pick<Call, 'caller'>, loc: string): Promise<void> => {
  const owner = await owners.get(call.caller.reader, loc)
  if (owner !== undefined && owner.user_id !== call.caller.user)
    throw new Problem(403, 'owner-only', `Only the owner of ${loc} may do this.`)
}
