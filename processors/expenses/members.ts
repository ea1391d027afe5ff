import type {
  GroupMemberRemoved,
  MemberJoined,
  MemberLeft,
  MemberProfileChanged,
  WalletSet,
} from '../../schemas/generated/expenses.ts'
import { FORGOTTEN } from '../../schemas/event.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { MemberItem } from '../../projections/expenses/items.ts'
import {
  groups,
  GROUPS_OF_USER,
  isId,
  LEFT_BY_USER,
  members,
  ofUser,
  REMOVED_FROM,
  TELEGRAM_SOURCE,
  telegramIdOf,
} from '../../projections/expenses/keys.ts'
import { refuse } from '../../projections/expenses/refusals.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { startWork, type Work } from '../folding/work.ts'
import { addEntry } from './entries.ts'
import { admissionRefusal, nextInvitation } from './invitations.ts'
import { NAMELESS, profileIn, deriveProfile } from './profiles.ts'
import { noGroup } from './group-refusals.ts'
import { archivedRefusal, changeableGroup, ownerOnly } from './rights.ts'
import { enroll, withdraw } from './roster.ts'

/** The maximum number of members of a group. A balance item has room for more people. */
export const MOST_MEMBERS = 1000

/** The key that lists the group for its user in the index. `prefix`: a current group (E6), or a group that the user left or was removed from. */
const indexed = (group: string, user: string, prefix: string) => ({ GSI1PK: ofUser(user), GSI1SK: prefix + group })

export const memberOf = (group: string, user: string, joinedAt: string): Omit<MemberItem, '_heard'> => ({
  ...members.key(group, user),
  id: user,
  telegramId: telegramIdOf(user),
  ...NAMELESS,
  wallet: null,
  joinedAt,
  ...indexed(group, user, GROUPS_OF_USER),
})

/**
 * Adds a person to a group, for the first time or again. If the person is a member already, only their profile changes: Telegram and the
 * app can both report the same person.
 */
export const memberJoined = (event: MemberJoined, get: Get): Result => {
  const {
    data: { userId },
    meta,
  } = event
  const group = get(groups.key(meta.key))
  if (group === undefined) return noGroup(meta.key)
  if (!isId(userId)) return refuse('member-invalid', 'A member needs an id of 1 to 64 letters, digits and _ . : @ -')
  const before = get(members.key(meta.key, userId))
  if (hasApplied(before?._heard, event)) return DUPLICATE
  const isNew = before === undefined || before.leftAt !== undefined
  const refused = archivedRefusal(event, group) ?? (isNew ? admissionRefusal(event, get, { group, before }) : undefined)
  if (refused !== undefined) return refused
  if (isNew && group.memberCount >= MOST_MEMBERS)
    return refuse('too-many-members', `Group ${meta.key} has ${MOST_MEMBERS} members, and cannot have more.`)
  const work = startWork(get)
  const {
    leftAt: _,
    removedAt: __,
    removedByChat: ___,
    admittedFrom: ____,
    ...member
  } = before ?? { ...memberOf(meta.key, userId, isoOf(meta.occurredAt)), _heard: [] }
  work.put({
    ...member,
    ...indexed(meta.key, userId, GROUPS_OF_USER),
    ...profileIn(event, userId),
    ...(isNew && before !== undefined && { rejoinedAt: isoOf(meta.occurredAt) }),
    _heard: withApplied(before?._heard, event),
  } satisfies MemberItem)
  if (isNew) {
    work.put({ ...group, memberCount: group.memberCount + 1 })
    addEntry(work, event, 'member-joined', { subjectId: userId })
  }
  enroll(work, meta.key, userId, member.joinedAt)
  deriveProfile(work, event, userId)
  return work.result()
}

/** Ends a membership. The item and the balances of the person stay (E-i). */
export const memberLeft = (event: MemberLeft, get: Get): Result => {
  const {
    data: { userId },
    meta,
  } = event
  const group = changeableGroup(event, get)
  if ('refusal' in group) return group
  const before = isId(userId) ? get(members.key(meta.key, userId)) : undefined
  if (before === undefined) return neverMember(meta.key, userId)
  if (hasApplied(before._heard, event) || before.leftAt !== undefined) return DUPLICATE
  const work = startWork(get)
  work.put({
    ...before,
    ...indexed(meta.key, userId, LEFT_BY_USER),
    leftAt: isoOf(meta.occurredAt),
    _heard: withApplied(before._heard, event),
  } satisfies MemberItem)
  work.put({ ...group, memberCount: group.memberCount - 1 })
  withdraw(work, event, userId)
  addEntry(work, event, 'member-left', { subjectId: userId })
  return work.result()
}

/** Removes a member, or somebody who left, so that they can neither read the group nor join it without a newer invitation. */
export const groupMemberRemoved = (event: GroupMemberRemoved, get: Get): Result => {
  const {
    data: { userId },
    meta,
  } = event
  const group = changeableGroup(event, get)
  if ('refusal' in group) return group
  const before = isId(userId) ? get(members.key(meta.key, userId)) : undefined
  const isByChat = meta.source === TELEGRAM_SOURCE
  const forbidden = isByChat ? undefined : ownerOnly(event, group)
  if (forbidden !== undefined) return forbidden
  if (before === undefined) return neverMember(meta.key, userId)
  if (
    hasApplied(before._heard, event) ||
    (before.removedAt !== undefined && (isByChat || before.removedByChat === undefined))
  )
    return DUPLICATE
  if (!isByChat && userId === meta.actorId)
    return refuse('member-invalid', 'The owner cannot remove themselves. Leave the group instead.')
  const work = startWork(get)
  const { removedByChat: _, ...member } = before
  const at = isoOf(meta.occurredAt)
  work.put({
    ...member,
    ...indexed(meta.key, userId, REMOVED_FROM),
    leftAt: before.leftAt ?? at,
    removedAt: at,
    admittedFrom: nextInvitation(get, meta.key),
    ...(isByChat && { removedByChat: true }),
    _heard: withApplied(before._heard, event),
  } satisfies MemberItem)
  if (before.leftAt === undefined) work.put({ ...group, memberCount: group.memberCount - 1 })
  withdraw(work, event, userId)
  addEntry(work, event, 'member-removed', { subjectId: userId })
  return work.result()
}

/** Changes the name and the picture of a member. Items that were written before keep the old name (E-k). */
export const memberProfileChanged = (event: MemberProfileChanged, get: Get): Result => {
  const { userId } = event.data
  return changeMember(event, get, profileIn(event, userId), (work) => deriveProfile(work, event, userId))
}

export const walletSet = (event: WalletSet, get: Get): Result => {
  const {
    data: { userId },
    meta,
    personal,
  } = event
  const changes =
    personal === null || meta.subjectId !== userId
      ? undefined
      : { wallet: personal === FORGOTTEN ? null : personal.wallet }
  return changeMember(event, get, changes)
}

const changeMember = (
  event: MemberProfileChanged | WalletSet,
  get: Get,
  changes: Partial<MemberItem> | undefined,
  also: (work: Work) => void = () => undefined,
): Result => {
  const {
    data: { userId },
    meta,
  } = event
  const group = changeableGroup(event, get)
  if ('refusal' in group) return group
  const before = isId(userId) ? get(members.key(meta.key, userId)) : undefined
  if (before === undefined) return neverMember(meta.key, userId)
  if (hasApplied(before._heard, event)) return DUPLICATE
  const work = startWork(get)
  work.put({ ...before, ...changes, _heard: withApplied(before._heard, event) } satisfies MemberItem)
  also(work)
  return work.result()
}

const neverMember = (group: string, user: string) =>
  refuse('member-not-found', `${user} was never a member of group ${group}.`)
