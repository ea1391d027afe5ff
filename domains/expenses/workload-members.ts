import type { EventDraft } from '../../simulation/workload.ts'
import { USERS, type DrawContext } from './workload-context.ts'

const CHATS = ['-1', '-2']

const nameOf = (user: string) => ({ name: user, username: user, avatarUrl: null })

/** Returns the events by which the group is created and its members join. Leaves out each event with a small probability. */
export const openingEvents = ({ random, group: key }: DrawContext): readonly EventDraft[] => {
  const [first = '', ...others] = USERS
  const creation: EventDraft = {
    type: 'GroupCreated',
    key,
    by: first,
    data: { chatId: random.pick([null, ...CHATS]), title: key, currency: 'EUR' },
    personal: nameOf(first),
  }
  return [
    creation,
    ...others.map((by): EventDraft => ({
      type: 'MemberJoined',
      key,
      by,
      data: { userId: by, invitation: null, chatId: null },
      personal: nameOf(by),
    })),
  ].filter(() => random.chance(0.95))
}

export const drawMemberEvent = ({ random, group: key }: DrawContext): EventDraft => {
  const by = random.pick(USERS)
  const data = { userId: by }
  return random.pick<EventDraft>([
    { type: 'MemberJoined', key, by, data: { ...data, invitation: null, chatId: null }, personal: nameOf(by) },
    { type: 'MemberLeft', key, by, data },
    { type: 'MemberProfileChanged', key, by, data, personal: nameOf(`${by} again`) },
    { type: 'WalletSet', key, by, data, personal: { wallet: random.pick([null, 'UQ']) } },
  ])
}

/** This user is not among the first members, and joins by invitations. */
const GUEST = 'dan'
const HOUR = 3_600_000

/** Returns a random event: an invitation is created or revoked, or a person leaves or joins. The invitation is often no longer valid. */
export const drawGuestEvent = ({ random, group: key, invitations, now }: DrawContext): EventDraft => {
  const draw = random.next()
  const drafted = invitations.length === 0 ? undefined : random.pick(invitations)
  if (drafted === undefined || draw < 0.3) {
    const invitation = { id: `${key}-i${invitations.length}`, hash: String(invitations.length).padStart(64, 'a') }
    invitations.push(invitation)
    return {
      type: 'InvitationCreated',
      key,
      by: random.pick(USERS),
      data: {
        invitationId: invitation.id,
        secretHash: invitation.hash,
        expiresAt: now + random.pick([1, 24, 7 * 24]) * HOUR,
      },
    }
  }
  if (draw < 0.38) return { type: 'InvitationRevoked', key, by: random.pick(USERS), data: { invitationId: drafted.id } }
  const by = random.pick([GUEST, GUEST, ...USERS])
  if (draw < 0.48) return { type: 'MemberLeft', key, by, data: { userId: by } }
  return {
    type: 'MemberJoined',
    key,
    by,
    data: { userId: by, invitation: drafted.hash, chatId: null },
    personal: nameOf(by),
  }
}

/** Returns events in which the guest tries to join although they were removed, the invitation was revoked or its creator has left. */
export const guestVisit = ({ random, group: key, invitations, now }: DrawContext): readonly EventDraft[] => {
  const [owner = '', creator = ''] = USERS
  const [id, hash] = [`${key}-i${invitations.length}`, 'b'.repeat(64)]
  invitations.push({ id, hash })
  const join = (invitation: string | null): EventDraft => ({
    type: 'MemberJoined',
    key,
    by: GUEST,
    data: { userId: GUEST, invitation, chatId: null },
    personal: nameOf(GUEST),
  })
  const remove: EventDraft = { type: 'GroupMemberRemoved', key, by: owner, data: { userId: GUEST } }
  const invite: EventDraft = {
    type: 'InvitationCreated',
    key,
    by: creator,
    data: { invitationId: id, secretHash: hash, expiresAt: now + 7 * 24 * HOUR },
  }
  return [
    invite,
    ...random.pick<readonly EventDraft[]>([
      [join(hash), remove, join(hash)],
      [join(hash), remove, join(null)],
      [{ type: 'InvitationRevoked', key, by: creator, data: { invitationId: id } }, join(hash)],
      [{ type: 'MemberLeft', key, by: creator, data: { userId: creator } }, join(hash)],
    ]),
  ]
}

/** Returns a random event that only the owner can cause. Its actor is mostly the first user, who owns the group until they leave it. */
export const drawOwnerEvent = ({ random, group: key }: DrawContext): EventDraft => {
  const [by, userId] = [random.chance(0.7) ? (USERS[0] ?? '') : random.pick(USERS), random.pick([GUEST, ...USERS])]
  const draw = random.next()
  if (draw < 0.6) return { type: 'GroupMemberRemoved', key, by, data: { userId } }
  if (draw < 0.7) return { type: 'GroupOwnerChanged', key, by, data: { userId } }
  return { type: draw < 0.8 ? 'GroupArchived' : 'GroupUnarchived', key, by, data: {} }
}

export const drawGroupEvent = ({ random, group: key }: DrawContext): EventDraft =>
  random.pick<EventDraft>([
    { type: 'GroupRenamed', key, by: 'ann', data: { title: random.pick(['Trip', 'Home', '']) } },
    { type: 'GroupCurrencyChanged', key, by: 'ann', data: { currency: 'TON' } },
    { type: 'GroupSettingsChanged', key, by: 'ann', data: { simplify: random.chance(0.5) } },
    { type: 'GroupChatMigrated', key, by: 'ann', data: { chatId: random.pick(CHATS) } },
  ])
