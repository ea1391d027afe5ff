import type { PatIssuedData } from '../../schemas/generated/common.ts'
import { mealsQueries } from '../../projections/meals/queries.ts'
import { tokenSchema, tokenView } from '../access.ts'
import { listOf, pagingOf, pagingSchema } from '../http/lists.ts'
import { Problem } from '../http/problem.ts'
import { command, question, type Route } from '../http/route.ts'
import { mintToken } from '../pat.ts'
import { goneSchema } from './views.ts'

const listTokens = question({
  method: 'GET',
  url: '/v1/tokens',
  operationId: 'listTokens',
  summary: 'Your tokens, without their secrets.',
  query: { type: 'object', additionalProperties: false, properties: pagingSchema },
  result: listOf(tokenSchema),
  answer: async ({ caller: { reader, user }, query }) => {
    const { items, ...rest } = await mealsQueries(reader).tokens(user, pagingOf(query))
    return { items: items.map(tokenView), ...rest }
  },
})

const newToken = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'scopes'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 100 },
    scopes: { type: 'array', minItems: 1, maxItems: 2, uniqueItems: true, items: { type: 'string', enum: ['read', 'write'] } },
  },
} as const

const issueToken = command({
  method: 'POST',
  url: '/v1/tokens',
  operationId: 'issueToken',
  summary: 'Make a token. Its secret is shown in this answer only.',
  body: newToken,
  status: 201,
  result: tokenSchema,
  decide: ({ body: { name, scopes }, caller, newId, randomBytes }) => {
    const beyond = scopes.find((scope) => !caller.scopes.includes(scope))
    if (beyond) throw new Problem(403, 'scope-missing', `A token without the scope "${beyond}" cannot give it to another.`)
    const { token, hash } = mintToken('meals', randomBytes)
    const patId = newId()
    const data: PatIssuedData = { patId, hash, scopes }
    return { id: patId, draft: { type: 'PatIssued', data, personal: { name } }, shown: { token } }
  },
  answer: async ({ caller: { reader, user } }, { id = '', shown }) => {
    const pat = await mealsQueries(reader).token(user, id)
    return pat && { ...tokenView(pat), ...shown }
  },
})

const ID = /^[A-Za-z0-9_-]{1,64}$/

const revokeToken = command({
  method: 'DELETE',
  url: '/v1/tokens/:id',
  operationId: 'revokeToken',
  summary: 'Revoke a token, at once.',
  status: 200,
  result: goneSchema,
  decide: ({ params }) => {
    const id = params['id'] ?? ''
    if (!ID.test(id)) throw new Problem(404, 'token-not-found', 'You have no such token.')
    return { id, draft: { type: 'PatRevoked', data: { patId: id }, personal: null } }
  },
  answer: async (_call, { id }) => ({ id, revoked: true }),
})

export const tokenRoutes: readonly Route[] = [listTokens, issueToken, revokeToken]
