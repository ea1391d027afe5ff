import { command, type Route } from '../http/route.ts'
import { thisGroup } from './group-routes.ts'
import { event, groupOf, idSchema, memberOf } from './params.ts'
import { inGroup } from './rights.ts'
import { groupWithMembers, member } from './views.ts'
import { members } from '../../projections/expenses/keys.ts'

const handOver = command({
  method: 'PUT',
  url: '/api/groups/:groupId/owner',
  operationId: 'changeGroupOwner',
  summary: 'Hand the group over to another member. Only the owner can do this.',
  body: { type: 'object', additionalProperties: false, required: ['userId'], properties: { userId: idSchema } },
  status: 200,
  result: groupWithMembers.schema,
  decide: (call) => ({ key: groupOf(call), draft: event('GroupOwnerChanged', { userId: call.body.userId }) }),
  answer: thisGroup,
})

const removeMember = command({
  method: 'DELETE',
  url: '/api/groups/:groupId/members/:userId',
  operationId: 'removeGroupMember',
  summary:
    'Remove a person from the group. They can neither read nor join it until a member invites them again. Their balance stays. Only the owner can do this.',
  status: 200,
  result: member.schema,
  decide: (call) => {
    const userId = memberOf(call)
    return { key: groupOf(call), id: userId, draft: event('GroupMemberRemoved', { userId }) }
  },
  answer: async (call) => {
    const found = await members.get(call.caller.reader, groupOf(call), memberOf(call))
    return found && member.view(found)
  },
})

/** Declares the route that archives or unarchives a group. It has no body. */
const groupCommand = (
  action: 'archive' | 'unarchive',
  { type, summary }: { readonly type: 'GroupArchived' | 'GroupUnarchived'; readonly summary: string },
): Route =>
  command({
    method: 'POST',
    url: `/api/groups/:groupId/${action}`,
    operationId: `${action}Group`,
    summary,
    status: 200,
    result: groupWithMembers.schema,
    decide: (call) => ({ key: groupOf(call), draft: event(type, {}) }),
    answer: thisGroup,
  })

const archive = groupCommand('archive', {
  type: 'GroupArchived',
  summary: 'Archive the group: it is read-only until it is unarchived. Only the owner can do this.',
})
const unarchive = groupCommand('unarchive', {
  type: 'GroupUnarchived',
  summary: 'Unarchive the group: its members can change it again. Only the owner can do this.',
})

export const ownerRoutes: readonly Route[] = inGroup([handOver, removeMember, archive, unarchive])
