import type { GroupArchivedData, GroupMemberRemovedData, GroupOwnerChangedData, GroupUnarchivedData } from '../../schemas/generated/expenses.ts'
import { expensesQueries } from '../../projections/expenses/queries.ts'
import { command, type Route } from '../http/route.ts'
import { withMembers } from './group-routes.ts'
import { groupOf, idSchema, memberOf } from './params.ts'
import { inGroup } from './rights.ts'
import { groupWithMembersSchema, memberSchema, memberView } from './views.ts'

const handOver = command({
  method: 'PUT',
  url: '/api/groups/:groupId/owner',
  summary: 'Hand the group over to another member. Only the owner can do this.',
  body: { type: 'object', additionalProperties: false, required: ['userId'], properties: { userId: idSchema } },
  status: 200,
  result: groupWithMembersSchema,
  decide: (call) => ({ key: groupOf(call), draft: { type: 'GroupOwnerChanged', data: { userId: call.body.userId } satisfies GroupOwnerChangedData, personal: null } }),
  answer: (call) => withMembers(call, groupOf(call)),
})

const removeMember = command({
  method: 'DELETE',
  url: '/api/groups/:groupId/members/:userId',
  summary: 'Remove a person from the group. They can neither read nor join it until a member invites them again. Their balance stays. Only the owner can do this.',
  status: 200,
  result: memberSchema,
  decide: (call) => {
    const userId = memberOf(call)
    return { key: groupOf(call), id: userId, draft: { type: 'GroupMemberRemoved', data: { userId } satisfies GroupMemberRemovedData, personal: null } }
  },
  answer: async (call) => {
    const member = await expensesQueries(call.caller.reader).member(groupOf(call), memberOf(call))
    return member && memberView(member)
  },
})

const archive = command({
  method: 'POST',
  url: '/api/groups/:groupId/archive',
  summary: 'Archive the group: it is read-only until it is unarchived. Only the owner can do this.',
  status: 200,
  result: groupWithMembersSchema,
  decide: (call) => ({ key: groupOf(call), draft: { type: 'GroupArchived', data: {} satisfies GroupArchivedData, personal: null } }),
  answer: (call) => withMembers(call, groupOf(call)),
})

const unarchive = command({
  method: 'POST',
  url: '/api/groups/:groupId/unarchive',
  summary: 'Unarchive the group: its members can change it again. Only the owner can do this.',
  status: 200,
  result: groupWithMembersSchema,
  decide: (call) => ({ key: groupOf(call), draft: { type: 'GroupUnarchived', data: {} satisfies GroupUnarchivedData, personal: null } }),
  answer: (call) => withMembers(call, groupOf(call)),
})

export const ownerRoutes: readonly Route[] = inGroup([handOver, removeMember, archive, unarchive])
