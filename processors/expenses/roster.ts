import { isoOf } from '../../projections/instant.ts'
import type { InvitationsItem, RosterItem } from '../../projections/expenses/items.ts'
import { groups, invitations, rosters } from '../../projections/expenses/keys.ts'
import { compareText } from '../../projections/order.ts'
import type { Event } from '../../schemas/event.ts'
import type { Work } from '../folding/work.ts'
import { isImported } from './rights.ts'

/** Adds a member to the list of members who can own the group (roster). If the group has no owner, the member becomes its owner. */
export const enroll = (work: Work, group: string, user: string, joinedAt: string): void => {
  work.put({
    ...rosters.key(group),
    members: { ...work.get(rosters.key(group))?.members, [user]: joinedAt },
  } satisfies RosterItem)
  const item = work.get(groups.key(group))
  if (item !== undefined && item.ownerId === null) work.put({ ...item, ownerId: user })
}

/**
 * Removes a person from the members who can own the group (roster), and ends the invitations that they created. If they own
 * the group, the member who joined first becomes the owner. For an import, `ownerSince` stays as it is, because a later row
 * of the file can name the owner.
 */
export const withdraw = (work: Work, event: Pick<Event, 'meta'>, user: string): void => {
  const { key: group, occurredAt } = event.meta
  const roster = work.get(rosters.key(group))
  const members = Object.fromEntries(Object.entries(roster?.members ?? {}).filter(([id]) => id !== user))
  if (roster !== undefined) work.put({ ...roster, members } satisfies RosterItem)
  const item = work.get(groups.key(group))
  if (item?.ownerId === user)
    work.put({ ...item, ownerId: firstOf(members), ...(!isImported(event) && { ownerSince: isoOf(occurredAt) }) })
  const invited = work.get(invitations.key(group))
  if (invited !== undefined)
    work.put({ ...invited, open: invited.open.filter(({ createdBy }) => createdBy !== user) } satisfies InvitationsItem)
}

/** The member who joined first. If several joined at the same time, the one with the lowest id. Null if there are no members. */
const firstOf = (members: RosterItem['members']): string | null => {
  const [first] = Object.entries(members).sort(
    ([a, joinedA], [b, joinedB]) => compareText(joinedA, joinedB) || compareText(a, b),
  )
  return first?.[0] ?? null
}
