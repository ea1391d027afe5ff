import type { InvitationCreated, InvitationRevoked, MemberJoined } from '../../schemas/generated/expenses.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import { isHash } from '../../projections/access/keys.ts'
import type { GroupItem, Invitation, InvitationsItem, MemberItem } from '../../projections/expenses/items.ts'
import { invitations, isId, TELEGRAM_SOURCE } from '../../projections/expenses/keys.ts'
import type { Refused } from '../../projections/refusal.ts'
import { refuse } from '../../projections/expenses/refusals.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { startWork } from '../folding/work.ts'
import { addEntry } from './entries.ts'
import { changeableGroup, inactiveRefusal, ownerOnly } from './rights.ts'

const MOST_INVITATIONS = 20
const MOST_VALID_MS = 30 * 86_400_000

const invitationsOf = (get: Get, group: string): InvitationsItem =>
  get(invitations.key(group)) ?? { ...invitations.key(group), open: [], next: 0, _heard: [] }

/** The number of the group's next invitation. */
export const nextInvitation = (get: Get, group: string): number => invitationsOf(get, group).next

const openAt = ({ open }: InvitationsItem, at: number): readonly Invitation[] =>
  open.filter(({ expiresAt }) => expiresAt > isoOf(at))

/** Creates an invitation. Any member can do this. */
export const invitationCreated = (event: InvitationCreated, get: Get): Result => {
  const {
    data: { invitationId: id, secretHash: hash, expiresAt },
    meta: { key, actorId, occurredAt },
  } = event
  const group = changeableGroup(event, get)
  if ('refusal' in group) return group
  if (!isId(id) || !isHash(hash) || expiresAt <= occurredAt || expiresAt > occurredAt + MOST_VALID_MS) {
    return refuse(
      'invitation-invalid',
      'An invitation has an id, the SHA-256 of its secret, and expires within 30 days.',
    )
  }
  const before = invitationsOf(get, key)
  if (hasApplied(before._heard, event) || before.open.some((invitation) => invitation.id === id)) return DUPLICATE
  const inactive = actorId === null ? undefined : inactiveRefusal(get, key, actorId)
  if (inactive !== undefined) return inactive
  const open = openAt(before, occurredAt)
  if (open.length >= MOST_INVITATIONS)
    return refuse(
      'too-many-invitations',
      `Group ${key} has ${MOST_INVITATIONS} open invitations. Revoke one, or use one of them: an invitation admits any number of people.`,
    )
  const work = startWork(get)
  const invitation: Invitation = {
    id,
    hash,
    number: before.next,
    createdBy: actorId,
    createdAt: isoOf(occurredAt),
    expiresAt: isoOf(expiresAt),
  }
  work.put({
    ...before,
    open: [...open, invitation],
    next: before.next + 1,
    _heard: withApplied(before._heard, event),
  } satisfies InvitationsItem)
  addEntry(work, event, 'invitation-created', { invitationId: id })
  return work.result()
}

/** Revokes an invitation. The member who created it and the owner of the group can do this. */
export const invitationRevoked = (event: InvitationRevoked, get: Get): Result => {
  const {
    data: { invitationId: id },
    meta: { key, actorId },
  } = event
  const group = changeableGroup(event, get)
  if ('refusal' in group) return group
  const before = invitationsOf(get, key)
  if (hasApplied(before._heard, event)) return DUPLICATE
  const invitation = before.open.find((each) => each.id === id)
  if (invitation === undefined) return refuse('invitation-not-found', `Group ${key} has no open invitation ${id}.`)
  const forbidden = invitation.createdBy === actorId ? undefined : ownerOnly(event, group)
  if (forbidden !== undefined) return forbidden
  const work = startWork(get)
  work.put({
    ...before,
    open: before.open.filter((each) => each.id !== id),
    _heard: withApplied(before._heard, event),
  } satisfies InvitationsItem)
  addEntry(work, event, 'invitation-revoked', { invitationId: id })
  return work.result()
}

/**
 * Refuses a person who is not a member and has no valid admission. An invitation admits people until it expires or is
 * revoked. It admits a removed person only if it was created after the removal. An event without an invitation comes
 * from Telegram, an import, or a log from before invitations existed. Such an event does not admit a removed person,
 * except if Telegram reports a person whom an administrator of the chat removed. An event that names a chat is refused
 * if the chat is not the group's chat.
 */
export const admissionRefusal = (
  { data: { invitation, chatId }, meta }: MemberJoined,
  get: Get,
  { group, before }: { group: GroupItem; before: MemberItem | undefined },
): Refused | undefined => {
  const isRemoved = before?.removedAt !== undefined
  if (invitation !== null) {
    const found = openAt(invitationsOf(get, meta.key), meta.occurredAt).find(({ hash }) => hash === invitation)
    if (found === undefined)
      return refuse(
        'invitation-only',
        `This invitation does not admit to group ${meta.key}: it is unknown, revoked or expired. Request a new one from a member.`,
      )
    return found.number >= (before?.admittedFrom ?? 0) ? undefined : removed(meta.key)
  }
  if (chatId !== null && chatId !== group.chatId)
    return refuse('invitation-only', `Group ${meta.key} does not belong to chat ${chatId}. Join it by an invitation.`)
  return isRemoved && !(before.removedByChat === true && meta.source === TELEGRAM_SOURCE)
    ? removed(meta.key)
    : undefined
}

const removed = (group: string): Refused =>
  refuse(
    'invitation-only',
    `You were removed from group ${group}. Only an invitation that a member creates after the removal admits you.`,
  )
