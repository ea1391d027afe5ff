import type { MemberJoinedData } from '../../schemas/generated/expenses.ts'
import type { Problem } from '../http/problem.ts'
import { command, type Call, type Route } from '../http/route.ts'
import { thisGroup } from './group-routes.ts'
import { hashToken } from '../access/pat.ts'
import { event, groupOf, queriesOf, refused } from './params.ts'
import { personOf, personProperties } from './person.ts'
import { inGroupOrFormer, inGroup } from './rights.ts'
import { groupWithMembers, member } from './views.ts'
import { chats, members } from '../../projections/expenses/keys.ts'

const self = async (call: Pick<Call, 'caller' | 'params'>) => {
  const found = await members.get(call.caller.reader, groupOf(call), call.caller.user)
  return found && member.view(found)
}

const invitation = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  description: 'The secret of an invitation.',
} as const

/**
 * Returns the invitation or the chat by which the caller wants to join. Throws `invitation-only` if the caller has neither and is not a member.
 * The fold decides whether the invitation or the chat admits the caller.
 */
const admissionOf = async (
  call: Pick<Call, 'caller' | 'params'>,
  secret: string | undefined,
): Promise<Omit<MemberJoinedData, 'userId'>> => {
  const {
    caller: { user, place: chat },
  } = call
  const [queries, id] = [queriesOf(call), groupOf(call)]
  const { group, member: self } = await queries.rightsOf(id, user)
  // The answer is the same as for a group that exists and does not admit the caller, so a stranger cannot find out ids of groups.
  if (group === undefined) throw notInvited()
  const isMember = self !== undefined && self.leftAt === undefined
  if (secret !== undefined) {
    const hash = hashToken(secret)
    // A wrong secret is refused here, before the append, so that it adds no event to the log.
    if (!isMember && !(await queries.invitations(id)).some((each) => each.hash === hash)) throw notInvited()
    return { invitation: hash, chatId: null }
  }
  if (chat !== undefined && (await chats.get(call.caller.reader, chat))?.groupId === id)
    return { invitation: null, chatId: chat }
  // A member needs no invitation: joining again changes only the profile of the member.
  if (isMember) return { invitation: null, chatId: null }
  throw notInvited()
}

const notInvited = (): Problem =>
  refused('invitation-only', '/invitation: joining needs an open invitation to this group. Request one from a member.')

const join = command({
  method: 'POST',
  url: '/api/groups/:groupId/join',
  operationId: 'joinGroup',
  summary:
    'Join a group, for the first time or again. This needs an invitation, or a Mini App that was opened from the Telegram chat of the group.',
  body: { type: ['object', 'null'], additionalProperties: false, properties: { invitation, ...personProperties } },
  status: 200,
  result: groupWithMembers.schema,
  decide: async (call) => {
    const { invitation: secret, ...person } = call.body ?? {}
    const userId = call.caller.user
    return {
      key: groupOf(call),
      id: userId,
      draft: event('MemberJoined', { userId, ...(await admissionOf(call, secret)) }, await personOf(call, person)),
    }
  },
  answer: thisGroup,
})

const leave = command({
  method: 'POST',
  url: '/api/groups/:groupId/leave',
  operationId: 'leaveGroup',
  summary:
    'Leave a group. Your balance stays, and you can still read the group. If you own the group, the member who joined first becomes the owner.',
  status: 200,
  result: member.schema,
  decide: (call) => {
    const userId = call.caller.user
    return { key: groupOf(call), id: userId, draft: event('MemberLeft', { userId }) }
  },
  answer: self,
})

export const walletSchema = {
  type: ['string', 'null'],
  minLength: 1,
  maxLength: 128,
  pattern: '^[A-Za-z0-9_:+/=-]+$',
  description: 'A TON address. Null removes it.',
} as const

const setWallet = command({
  method: 'PUT',
  url: '/api/groups/:groupId/wallet',
  operationId: 'setWallet',
  summary: 'Set the wallet that receives payments to you.',
  body: { type: 'object', additionalProperties: false, required: ['wallet'], properties: { wallet: walletSchema } },
  status: 200,
  result: member.schema,
  decide: (call) => {
    const userId = call.caller.user
    return { key: groupOf(call), id: userId, draft: event('WalletSet', { userId }, { wallet: call.body.wallet }) }
  },
  answer: self,
})

const setProfile = command({
  method: 'PUT',
  url: '/api/groups/:groupId/profile',
  operationId: 'setProfile',
  summary: 'Set your name in the group. Earlier entries keep the name that you had.',
  body: { type: 'object', additionalProperties: false, required: ['name'], properties: personProperties },
  status: 200,
  result: member.schema,
  decide: (call) => {
    const userId = call.caller.user
    const { name, username = null, avatarUrl = null } = call.body
    return {
      key: groupOf(call),
      id: userId,
      draft: event('MemberProfileChanged', { userId }, { name, username, avatarUrl }),
    }
  },
  answer: self,
})

export const memberRoutes: readonly Route[] = [join, ...inGroupOrFormer([leave]), ...inGroup([setWallet, setProfile])]
