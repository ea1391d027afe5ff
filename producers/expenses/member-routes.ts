import type { MemberJoinedData, MemberLeftData, MemberProfileChangedData, MemberProfileChangedPersonal, WalletSetData, WalletSetPersonal } from '../../schemas/generated/expenses.ts'
import { expensesQueries } from '../../projections/expenses/queries.ts'
import { mistake, type Problem } from '../http/problem.ts'
import { command, type Call, type Route } from '../http/route.ts'
import { thisGroup } from './group-routes.ts'
import { hashToken } from '../pat.ts'
import { groupOf } from './params.ts'
import { personOf, personProperties } from './person.ts'
import { alsoForWhoLeft, inGroup } from './rights.ts'
import { groupWithMembersSchema, memberSchema, memberView } from './views.ts'

const self = async (call: Pick<Call, 'caller' | 'params'>) => {
  const member = await expensesQueries(call.caller.reader).member(groupOf(call), call.caller.user)
  return member && memberView(member)
}

const invitation = { type: 'string', minLength: 1, maxLength: 128, description: 'The secret of an invitation.' } as const

/** The invitation or chat by which the caller wants to join. The fold decides whether it admits them. */
const admissionOf = async (call: Pick<Call, 'caller' | 'params'>, secret: string | undefined): Promise<Omit<MemberJoinedData, 'userId'>> => {
  const { caller: { reader, user, chat } } = call
  const [queries, id] = [expensesQueries(reader), groupOf(call)]
  const { group, member } = await queries.rightsOf(id, user)
  // The same answer as for a group that does not admit the caller: ids of groups stay unknown to strangers.
  if (group === undefined) throw notInvited()
  const isMember = member !== undefined && member.leftAt === undefined
  if (secret !== undefined) {
    const hash = hashToken(secret)
    // Refused here, a wrong secret leaves no event in the log of the group.
    if (!isMember && !(await queries.invitations(id)).some((each) => each.hash === hash)) throw notInvited()
    return { invitation: hash, chatId: null }
  }
  if (chat !== undefined && (await queries.chat(chat)) === id) return { invitation: null, chatId: chat }
  // A member who joins again only changes their name.
  if (isMember) return { invitation: null, chatId: null }
  throw notInvited()
}

const notInvited = (): Problem => mistake(403, { pointer: '/invitation', code: 'invitation-only', detail: '/invitation: joining needs an open invitation to this group. Request one from a member.' })

const join = command({
  method: 'POST',
  url: '/api/groups/:groupId/join',
  operationId: 'joinGroup',
  summary: 'Join a group, for the first time or again. This needs an invitation, or a Mini App that was opened from the Telegram chat of the group.',
  body: { type: ['object', 'null'], additionalProperties: false, properties: { invitation, ...personProperties } },
  status: 200,
  result: groupWithMembersSchema,
  decide: async (call) => {
    const { invitation: secret, ...person } = call.body ?? {}
    const data: MemberJoinedData = { userId: call.caller.user, ...(await admissionOf(call, secret)) }
    return { key: groupOf(call), id: data.userId, draft: { type: 'MemberJoined', data, personal: await personOf(call, person) } }
  },
  answer: thisGroup,
})

const leave = command({
  method: 'POST',
  url: '/api/groups/:groupId/leave',
  operationId: 'leaveGroup',
  summary: 'Leave a group. Your balance stays, and you can read on. If you own the group, the member who joined first becomes the owner.',
  status: 200,
  result: memberSchema,
  decide: (call) => {
    const userId = call.caller.user
    return { key: groupOf(call), id: userId, draft: { type: 'MemberLeft', data: { userId } satisfies MemberLeftData, personal: null } }
  },
  answer: self,
})

export const walletSchema = { type: ['string', 'null'], minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9_:+/=-]+$', description: 'A TON address; null takes it back.' } as const

const setWallet = command({
  method: 'PUT',
  url: '/api/groups/:groupId/wallet',
  operationId: 'setWallet',
  summary: 'Set the wallet at which you are paid.',
  body: { type: 'object', additionalProperties: false, required: ['wallet'], properties: { wallet: walletSchema } },
  status: 200,
  result: memberSchema,
  decide: (call) => {
    const userId = call.caller.user
    return { key: groupOf(call), id: userId, draft: { type: 'WalletSet', data: { userId } satisfies WalletSetData, personal: { wallet: call.body.wallet } satisfies WalletSetPersonal } }
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
  result: memberSchema,
  decide: (call) => {
    const userId = call.caller.user
    const { name, username = null, avatarUrl = null } = call.body
    const personal: MemberProfileChangedPersonal = { name, username, avatarUrl }
    return { key: groupOf(call), id: userId, draft: { type: 'MemberProfileChanged', data: { userId } satisfies MemberProfileChangedData, personal } }
  },
  answer: self,
})

export const memberRoutes: readonly Route[] = [join, ...alsoForWhoLeft([leave]), ...inGroup([setWallet, setProfile])]
