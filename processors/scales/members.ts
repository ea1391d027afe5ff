import type { LocationOpened, MemberAdded, MemberRemoved } from '../../schemas/generated/scales.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { GoneMemberItem, MemberItem, OwnerItem } from '../../projections/scales/items.ts'
import { goneMembers, isId, members, owners } from '../../projections/scales/keys.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { startWork } from '../folding/work.ts'
import { refuse } from '../../projections/scales/refusals.ts'

/** Opens a location. The actor of the first command about a location becomes its owner. */
export const locationOpened = ({ meta }: LocationOpened, get: Get): Result => {
  const owner = get(owners.key(meta.key))
  const { key: loc, actorId } = meta
  if (!isId(loc) || actorId === null || !isUser(actorId))
    return refuse('member-invalid', 'A location needs a valid id and an actor who opens it.')
  if (owner !== undefined)
    return owner.user_id === actorId ? DUPLICATE : refuse('location-taken', `Location ${loc} has another owner.`)
  const at = isoOf(meta.occurredAt)
  const work = startWork(get)
  work.put({ ...owners.key(loc), user_id: actorId, opened_at: at } satisfies OwnerItem)
  work.put({ ...members.key(loc, actorId), user_id: actorId, added_at: at, added_by: null } satisfies MemberItem)
  return work.result()
}

export const memberAdded = (event: MemberAdded, get: Get): Result => {
  const {
    data: { user_id },
    meta,
  } = event
  const owner = get(owners.key(meta.key))
  if (owner === undefined) return refuse('location-not-found', `There is no location ${meta.key}.`)
  if (!isUser(user_id)) return refuse('member-invalid', 'A member needs a valid user id.')
  if (hasApplied(owner._heard, event) || get(members.key(meta.key, user_id)) !== undefined) return DUPLICATE
  const work = startWork(get)
  work.put({
    ...members.key(meta.key, user_id),
    user_id,
    added_at: isoOf(meta.occurredAt),
    added_by: meta.actorId,
  } satisfies MemberItem)
  work.put({ ...owner, _heard: withApplied(owner._heard, event) } satisfies OwnerItem)
  return work.result()
}

export const memberRemoved = (event: MemberRemoved, get: Get): Result => {
  const {
    data: { user_id },
    meta,
  } = event
  const owner = get(owners.key(meta.key))
  if (owner === undefined) return refuse('location-not-found', `There is no location ${meta.key}.`)
  if (hasApplied(owner._heard, event)) return DUPLICATE
  if (owner.user_id === user_id) return refuse('owner-stays', 'The owner of a location cannot be removed from it.')
  if (!isUser(user_id) || get(members.key(meta.key, user_id)) === undefined)
    return refuse('member-not-found', `${user_id} is no member of location ${meta.key}.`)
  const work = startWork(get)
  work.remove(members.key(meta.key, user_id))
  work.put({ ...goneMembers.key(meta.key, user_id), removed_at: isoOf(meta.occurredAt) } satisfies GoneMemberItem)
  work.put({ ...owner, _heard: withApplied(owner._heard, event) } satisfies OwnerItem)
  return work.result()
}

/** The identity provider chooses the ids of users, so any text is valid, except U+0000: no store accepts a key with this character. */
const isUser = (user: string): boolean => user.length >= 1 && user.length <= 256 && !user.includes('\u0000')
