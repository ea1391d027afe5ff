import type { CommonEvent } from '../../schemas/generated/common.ts'
import type { PatItem } from '../../projections/access/items.ts'
import { tokens, usages } from '../../projections/access/keys.ts'
import { utcDay } from '../http/auth.ts'
import { drafts } from '../http/drafts.ts'
import { dateIn } from '../http/instants.ts'
import { listing } from '../http/lists.ts'
import { pathId } from '../http/path-id.ts'
import { Problem } from '../http/problem.ts'
import { command, question, type Call, type Decision, type Route } from '../http/route.ts'
import { bool, integer, text, textOrNull } from '../http/schemas.ts'
import { arrayOf, optional, shape } from '../http/shape.ts'
import { mintToken, type Scope } from './pat.ts'

const event = drafts<CommonEvent>()

/** A token as answers contain it: without its hash. `token` is the secret. Only the answer to the request that created the token contains it. */
export const tokenAnswer = shape<PatItem & { readonly token?: string }>()({
  id: { ...text, from: ({ patId }) => patId },
  name: textOrNull,
  scopes: arrayOf(text),
  createdAt: text,
  lastUsedAt: optional(text),
  token: {
    ...text,
    optional: true,
    description: 'The secret. Only the answer to the request that created the token contains it.',
  },
})

/** Issues a token for the domain of the caller's own token. */
export const issue = (
  { caller: { domain }, newId, randomBytes }: Call,
  scopes: readonly Scope[],
  name: string | null,
): Decision => {
  const { token, hash } = mintToken(domain, randomBytes)
  const patId = newId()
  return {
    id: patId,
    draft: event('PatIssued', { patId, hash, scopes }, name === null ? null : { name }),
    unstored: { token },
  }
}

export const revoke = (patId: string): Decision => ({ id: patId, draft: event('PatRevoked', { patId }) })

/** True if the token is for a device and not for a person. The device's owner lists and revokes it. */
export const isOfDevice = ({ scopes }: PatItem): boolean => scopes.length === 1 && scopes[0] === 'device'

const listTokens = listing({
  url: '/v1/tokens',
  operationId: 'listTokens',
  summary: 'List your tokens, without their secrets.',
  of: tokenAnswer,
  page: async ({ caller: { reader, user } }, paging) => {
    const { items, ...rest } = await tokens.page(reader, user, paging)
    return { items: items.filter((pat) => !isOfDevice(pat)), ...rest }
  },
})

const newToken = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'scopes'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 100 },
    scopes: {
      type: 'array',
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      items: { type: 'string', enum: ['read', 'write'] },
    },
  },
} as const

const issueToken = command({
  method: 'POST',
  url: '/v1/tokens',
  operationId: 'issueToken',
  summary: 'Create a token. Only this answer contains its secret.',
  body: newToken,
  status: 201,
  result: tokenAnswer.schema,
  decide: (call) => {
    const {
      body: { name, scopes },
      caller,
    } = call
    const missing = scopes.find((scope) => !caller.scopes.includes(scope))
    if (missing)
      throw new Problem(
        403,
        'scope-missing',
        `Your token does not have the scope "${missing}", so it cannot create a token with it.`,
      )
    return issue(call, scopes, name)
  },
  answer: async ({ caller: { reader, user } }, { id = '', unstored }) => {
    const pat = await tokens.get(reader, user, id)
    return pat && tokenAnswer.view({ ...pat, ...unstored })
  },
})

const ID = /^[A-Za-z0-9_-]{1,64}$/
const tokenOf = pathId(
  'id',
  (id) => ID.test(id),
  () => new Problem(404, 'token-not-found', 'You have no such token.'),
)

const revokeToken = command({
  method: 'DELETE',
  url: '/v1/tokens/:id',
  operationId: 'revokeToken',
  summary: 'Revoke a token. It ends immediately.',
  status: 200,
  result: { type: 'object', required: ['id', 'revoked'], properties: { id: text, revoked: bool } },
  decide: async (call) => {
    const {
      caller: { reader, user },
    } = call
    const id = tokenOf(call)
    const pat = await tokens.get(reader, user, id)
    if (pat !== undefined && isOfDevice(pat)) throw tokenOf.missing(id)
    return revoke(id)
  },
  answer: async (_call, { id }) => ({ id, revoked: true }),
})

const usage = question({
  method: 'GET',
  url: '/v1/usage',
  operationId: 'getUsage',
  summary: 'Get the number of your requests on a UTC day, sampled. Default: today.',
  query: { type: 'object', additionalProperties: false, properties: { day: { type: 'string', maxLength: 10 } } },
  result: {
    type: 'object',
    description: 'An estimate: one counted request represents several.',
    required: ['day', 'reads', 'writes'],
    properties: { day: text, reads: integer, writes: integer },
  },
  answer: async ({ caller: { reader, user }, query, now }) => {
    const day = query.day === undefined ? utcDay(now) : dateIn(query.day, 'querystring/day')
    const used = await usages.get(reader, user, day)
    return { day, reads: used?.reads ?? 0, writes: used?.writes ?? 0 }
  },
})

/**
 * Throws if the caller was authenticated without a token, for example by a Telegram Mini App. Credentials of a Mini App expire soon, but a token
 * that the caller creates with them would not expire.
 */
const requireToken = async ({ caller: { patId } }: Pick<Call, 'caller'>): Promise<undefined> => {
  if (patId === null)
    throw new Problem(
      401,
      'token-missing',
      'Send Authorization: Bearer <token>. The command `tributary token create` creates a token.',
    )
}

/** Every domain has these routes, on the same paths. The token of the request selects the domain. */
export const tokenRoutes: readonly Route[] = [listTokens, issueToken, revokeToken, usage].map((route) => ({
  ...route,
  admit: requireToken,
}))
