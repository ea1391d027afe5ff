import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { tooSlow } from '../commands.ts'
import { deadlineAfter } from '../deadline.ts'
import { runAction } from './action.ts'
import { runBatch } from './batch.ts'
import { runCommand } from './command.ts'
import { securityOf } from './docs.ts'
import type { DomainEdge } from './domain.ts'
import { Problem, problemSchema } from './problem.ts'
import type { Action, Call, Document, Question, Route } from './route.ts'
import type { EdgeDeps } from './server.ts'
import { schemesOf } from './sign-in.ts'

/** The `source` of the events that the routes of a domain append. */
export const SOURCE = 'edge'

interface RouteParts {
  readonly domain: DomainEdge
  readonly deps: EdgeDeps
  /** Set for the routes that every domain has. OpenAPI lists these routes only once, for the first domain. */
  readonly constraints?: { readonly tokenDomain?: string }
}

export const addRoute = (scope: FastifyInstance, route: Route, { domain, deps, constraints }: RouteParts): void => {
  const schema = {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.byIndex && { description: BY_INDEX }),
    tags: constraints ? deps.domains.map(({ name }) => name) : [domain.name],
    security: securityOf([...(constraints ? [] : (domain.schemes ?? [])), ...schemesOf(deps)]),
    ...(constraints?.tokenDomain !== undefined && { hide: true }),
    ...(route.params ? { params: route.params } : {}),
    querystring: route.query ?? NO_QUERY,
    ...(route.method === 'GET' ? {} : { body: route.body }),
    response: {
      ...(route.method === 'GET' || 'perform' in route ? {} : { 202: acceptedSchema }),
      ...('redirects' in route && redirectsOf(route.redirects)),
      [statusOf(route)]: route.result,
      default: { description: 'An error.', content: { 'application/problem+json': { schema: problemSchema } } },
    },
  }
  scope.route({
    method: route.method,
    url: route.url,
    schema,
    ...(constraints && { constraints }),
    config: {
      ...(route.scope && { needs: route.scope }),
      ...(route.alsoFor && { alsoFor: route.alsoFor }),
      ...(route.ofSeries && { ofSeries: route.ofSeries }),
      ...('perform' in route && { isAction: true }),
      ...(constraints && { isOfProgram: true }),
    },
    ...('bodyLimit' in route && { bodyLimit: route.bodyLimit }),
    handler: (request, reply) => {
      const call = callOf(request, deps)
      const { readMs, waitMs } = deps.limits
      const reading = deadlineAfter(readMs)
      const answerMs = ('perform' in route ? route.answerMs : undefined) ?? readMs + waitMs
      const run = { request, reply, call, domain, deps, source: SOURCE, reading, deadline: deadlineAfter(answerMs) }
      if ('perform' in route) return runAction({ ...run, route })
      if (route.method === 'GET')
        return reading.within(answerOf(route, call), tooSlow).then((answer) => sendAnswer(reply, answer))
      return 'collect' in route ? runBatch({ ...run, route }) : runCommand({ ...run, route })
    },
  })
}

const statusOf = (route: Route): number => ('status' in route ? route.status : 200)

const redirectsOf = (redirects: Action['redirects'] = {}) =>
  Object.fromEntries(Object.entries(redirects).map(([status, description]) => [status, { description }]))

const answerOf = async (
  route: Question,
  call: Call,
): Promise<{ readonly document: Document } | { readonly json: unknown }> => {
  if (route.admit !== undefined) await route.admit(call)
  const document = await route.document?.(call)
  return document === undefined ? { json: await route.answer(call) } : { document }
}

const sendAnswer = (reply: FastifyReply, answer: Awaited<ReturnType<typeof answerOf>>): unknown =>
  'json' in answer
    ? answer.json
    : reply.headers(answer.document.headers).type(answer.document.type).send(answer.document.text)

export const BY_INDEX =
  'On DynamoDB this route can read an index, which can be a moment behind its table: Tributary-After does not cover it there.'

const NO_QUERY = { type: 'object', additionalProperties: false, properties: {} } as const

const acceptedSchema = {
  type: 'object',
  description: 'The event is in the log. The answer did not wait for its fold.',
  required: ['event', 'state', 'detail'],
  additionalProperties: true,
  properties: { event: { type: 'string' }, state: { enum: ['pending', 'parked'] }, detail: { type: 'string' } },
} as const

export const callOf = (request: FastifyRequest, { ids, randomBytes }: EdgeDeps): Call => {
  const { caller, receivedAt } = request
  if (!caller) throw new Problem(401, 'token-missing', 'Send Authorization: Bearer <token>.')
  return {
    caller,
    params: request.params as Readonly<Record<string, string>>,
    query: request.query,
    body: request.body ?? null,
    now: receivedAt,
    newId: () => ids.uuidv7(),
    randomBytes,
  }
}
