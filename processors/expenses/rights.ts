import { DERIVED_SOURCE, type Event } from '../../schemas/event.ts'
import { IMPORT_SOURCE } from '../../projections/importing.ts'
import type { Get } from '../../projections/projection.ts'
import type { GroupItem } from '../../projections/expenses/items.ts'
import { groups, members, TELEGRAM_SOURCE } from '../../projections/expenses/keys.ts'
import type { Refused } from '../../projections/refusal.ts'
import { refuse } from '../../projections/expenses/refusals.ts'
import { leftGroup, noGroup } from './group-refusals.ts'

/** The group that an event changes. Refuses the event if the group does not exist or is archived, or if its actor was removed from the group. */
export const changeableGroup = (event: Event, get: Get): GroupItem | Refused => {
  const { key, actorId } = event.meta
  const group = get(groups.key(key))
  if (group === undefined) return noGroup(key)
  const isRemoved = actorId !== null && isCommand(event) && get(members.key(key, actorId))?.removedAt !== undefined
  return archivedRefusal(event, group) ?? (isRemoved ? membersOnly(key) : group)
}

/** Refuses commands while the group is archived. Reports of Telegram, imported history and derived events are facts, and are accepted. */
export const archivedRefusal = (event: Event, { id, archivedAt }: GroupItem): Refused | undefined =>
  archivedAt === undefined || !isCommand(event)
    ? undefined
    : refuse('group-archived', `Group ${id} is archived. Its owner can unarchive it.`)

const membersOnly = (group: string): Refused => refuse('members-only', `Only members of group ${group} can change it.`)

/** Refuses a person who is not a member, with the codes of the edge: `member-left` if they left, `members-only` otherwise. */
export const inactiveRefusal = (get: Get, group: string, user: string): Refused | undefined => {
  const member = get(members.key(group, user))
  if (member === undefined || member.removedAt !== undefined) return membersOnly(group)
  return member.leftAt === undefined ? undefined : leftGroup(user, group, member.leftAt)
}

/** True if the cause of the event is this user, an import or an operator (an event without an actor). */
export const isOf = (event: Pick<Event, 'meta'>, user: string | null | undefined): boolean =>
  event.meta.actorId === null || event.meta.actorId === user || isImported(event)

export const isImported = ({ meta: { source } }: Pick<Event, 'meta'>): boolean => source === IMPORT_SOURCE

/** Refuses an event that only the owner of the group can cause. Imports and operators (events without an actor) are not refused. */
export const ownerOnly = (event: Event, { id, ownerId }: GroupItem): Refused | undefined =>
  isOf(event, ownerId) ? undefined : refuse('owner-only', `Only the owner of group ${id} can do this.`)

/** True if a person requested the event: it does not come from Telegram, an import or another event. */
const isCommand = (event: Event): boolean =>
  ![TELEGRAM_SOURCE, DERIVED_SOURCE].includes(event.meta.source) && !isImported(event)
