import type { GroupArchivedData, GroupMemberRemovedData, GroupOwnerChangedData, GroupUnarchivedData } from '../../schemas/generated/expenses.ts'
import { expensesQueries } from '../../projections/expenses/queries.ts'
import { command, type Route } from '../http/route.ts'
import { thisGroup } from './group-routes.ts'
import { groupOf, idSchema, memberOf } from './params.ts'
import { inGroup } from './rights.ts'
import { groupWithMembersSchema, memberSchema, memberView } from './views.ts'

const handOver = command({
  method: 'PUT',
  url: '/api/groups/:groupId/owner',
  operationId: 'changeGroupOwner',
  summary: 'Hand the group over to another member. Only the owner can do this.',
  body: { type: 'object', additionalProperties: false, required: ['userId'], properties: { userId: idSchema } },
  status: 200,
  result: groupWithMembersSchema,
  decide: (call) => ({ key: groupOf(call), draft: { type: 'GroupOwnerChanged', data: { userId: call.body.userId } satisfies GroupOwnerChangedData, personal: null } }),
  answer: thisGroup,
})

const removeMember = command({
  method: 'DELETE',
  url: '/api/groups/:groupId/members/:userId',
  operationId: 'removeGroupMember',
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

/** A command without a body, for the whole group. */
const groupCommand = (action: 'archive' | 'unarchive', { type, summary }: { readonly type: 'GroupArchived' | 'GroupUnarchived'; readonly summary: string }): Route =>
  command({
    method: 'POST',
    url: `/api/groups/:groupId/${action}`,
    operationId: `${action}Group`,
    summary,
    status: 200,
    result: groupWithMembersSchema,
    decide: (call) => ({ key: groupOf(call), draft: { type, data: {} satisfies GroupArchivedData & GroupUnarchivedData, personal: null } }),
    answer: thisGroup,
  })

const archive = groupCommand('archive', { type: 'GroupArchived', summary: 'Archive the group: it is read-only until it is unarchived. Only the owner can do this.' })
const unarchive = groupCommand('unarchive', { type: 'GroupUnarchived', summary: 'Unarchive the group: its members can change it again. Only the owner can do this.' })

export const ownerRoutes: readonly Route[] = inGroup([handOver, removeMember, archive, unarchive])
