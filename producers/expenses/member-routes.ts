import type { MemberJoinedData, MemberLeftData, MemberProfileChangedData, MemberProfileChangedPersonal, WalletSetData, WalletSetPersonal } from '../../schemas/generated/expenses.ts'
import { expensesQueries } from '../../projections/expenses/queries.ts'
import { command, type Call, type Route } from '../http/route.ts'
import { withMembers } from './group-routes.ts'
import { groupOf, noGroup } from './params.ts'
import { personOf, personProperties } from './person.ts'
import { alsoForWhoLeft, inGroup } from './rights.ts'
import { groupWithMembersSchema, memberSchema, memberView } from './views.ts'

const self = async (call: Pick<Call, 'caller' | 'params'>) => {
  const member = await expensesQueries(call.caller.reader).member(groupOf(call), call.caller.user)
  return member && memberView(member)
}

const join = command({
  method: 'POST',
  url: '/api/groups/:groupId/join',
  summary: 'Be a member of a group, for the first time or again. Whoever knows its id may.',
  body: { type: ['object', 'null'], additionalProperties: false, properties: personProperties },
  status: 200,
  result: groupWithMembersSchema,
  decide: async (call) => {
    const [group, userId] = [groupOf(call), call.caller.user]
    if ((await expensesQueries(call.caller.reader).group(group)) === undefined) throw noGroup(group)
    return { key: group, id: userId, draft: { type: 'MemberJoined', data: { userId } satisfies MemberJoinedData, personal: await personOf(call, call.body ?? {}) } }
  },
  answer: (call) => withMembers(call, groupOf(call)),
})

const leave = command({
  method: 'POST',
  url: '/api/groups/:groupId/leave',
  summary: 'Leave a group. What you owe and are owed stays, and you may read on.',
  status: 200,
  result: memberSchema,
  decide: (call) => {
    const userId = call.caller.user
    return { key: groupOf(call), id: userId, draft: { type: 'MemberLeft', data: { userId } satisfies MemberLeftData, personal: null } }
  },
  answer: self,
})

const wallet = { type: ['string', 'null'], minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9_:+/=-]+$', description: 'A TON address; null takes it back.' } as const

const setWallet = command({
  method: 'PUT',
  url: '/api/groups/:groupId/wallet',
  summary: 'Tell where you are paid.',
  body: { type: 'object', additionalProperties: false, required: ['wallet'], properties: { wallet } },
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
  summary: 'Tell how you are called from now on; what was written before keeps the name it had.',
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
