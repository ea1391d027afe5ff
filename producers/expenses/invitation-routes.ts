import type { InvitationCreatedData } from '../../schemas/generated/expenses.ts'
import { isoOf } from '../../projections/instant.ts'
import type { Invitation } from '../../projections/expenses/items.ts'
import { listOf } from '../http/lists.ts'
import { command, question, type Route } from '../http/route.ts'
import { bool, text, textOrNull } from '../http/schemas.ts'
import { shape } from '../http/shape.ts'
import { hashToken } from '../access/pat.ts'
import { event, groupOf, invitationOf, queriesOf } from './params.ts'
import { inGroup } from './rights.ts'

const HOUR_MS = 3_600_000
const [DEFAULT_HOURS, MOST_HOURS] = [7 * 24, 30 * 24]
/** 192 random bits. */
const SECRET_BYTES = 24

const createInvitation = command({
  method: 'POST',
  url: '/api/groups/:groupId/invitations',
  operationId: 'createInvitation',
  summary:
    'Invite people to the group. Everybody who has the secret can join until the invitation expires, is revoked, or its creator leaves the group. The secret is in this answer only.',
  body: {
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      expiresInHours: {
        type: 'integer',
        minimum: 1,
        maximum: MOST_HOURS,
        description: `Default: ${DEFAULT_HOURS} (7 days).`,
      },
    },
  },
  status: 201,
  result: {
    type: 'object',
    required: ['id', 'expiresAt'],
    properties: {
      id: text,
      secret: {
        ...text,
        description:
          'Send it as "invitation" to POST …/join. A repeated request with the same Idempotency-Key is answered without it.',
      },
      expiresAt: text,
    },
  },
  decide: (call) => {
    const [invitationId, secret] = [call.newId(), Buffer.from(call.randomBytes(SECRET_BYTES)).toString('base64url')]
    const expiresAt = call.now + (call.body?.expiresInHours ?? DEFAULT_HOURS) * HOUR_MS
    // Events and items contain the hash, never the secret.
    return {
      key: groupOf(call),
      id: invitationId,
      draft: event('InvitationCreated', { invitationId, secretHash: hashToken(secret), expiresAt }),
      unstored: { secret },
    }
  },
  answer: async (call, { id, draft, unstored }) => {
    const stored = (await queriesOf(call).invitations(groupOf(call))).find((invitation) => invitation.id === id)
    return { id, ...unstored, expiresAt: stored?.expiresAt ?? isoOf((draft.data as InvitationCreatedData).expiresAt) }
  },
})

const openInvitation = shape<Invitation>()({ id: text, createdBy: textOrNull, createdAt: text, expiresAt: text })

const listInvitations = question({
  method: 'GET',
  url: '/api/groups/:groupId/invitations',
  operationId: 'listInvitations',
  summary: 'List the open invitations of a group, without their secrets.',
  result: listOf(openInvitation.schema),
  answer: async (call) => {
    const open = (await queriesOf(call).invitations(groupOf(call))).filter(
      ({ expiresAt }) => expiresAt > isoOf(call.now),
    )
    return { items: open.map(openInvitation.view) }
  },
})

const revokeInvitation = command({
  method: 'DELETE',
  url: '/api/groups/:groupId/invitations/:invitationId',
  operationId: 'revokeInvitation',
  summary: 'Revoke an invitation. Its creator and the owner of the group can do this.',
  status: 200,
  result: { type: 'object', required: ['id', 'revoked'], properties: { id: text, revoked: bool } },
  decide: (call) => {
    const invitationId = invitationOf(call)
    return { key: groupOf(call), id: invitationId, draft: event('InvitationRevoked', { invitationId }) }
  },
  answer: async (_call, { id }) => ({ id, revoked: true }),
})

export const invitationRoutes: readonly Route[] = inGroup([createInvitation, listInvitations, revokeInvitation])
