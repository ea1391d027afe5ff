import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Event } from '../../schemas/event.ts'
import type { Reader } from '../../projections/table.ts'
import { tooSlow } from '../commands.ts'
import { deadlineAfter } from '../deadline.ts'
import type { DomainEdge } from './domain.ts'
import { noteAnswers, type Noting } from './notes.ts'
import { Problem } from './problem.ts'
import type { EdgeDeps } from './server.ts'

/** A route that an outside service calls to report a change. The service has no token. It repeats a call until the answer is 200. */
export interface Webhook {
  readonly url: string
  /** The stable name of the route in `/openapi.json`: a verb and its object, unique in the whole program. */
  readonly operationId: string
  readonly summary: string
  /** The `source` of the events. */
  readonly source: string
  readonly bodyLimit: number
  /**
   * The maximum time of the reads and the append, in milliseconds. After it the answer is 503. Default: the limit of all routes. A service that
   * waits only two seconds for an answer needs less.
   */
  readonly appendMs?: number
  /** Throws a Problem if the caller is not the service. Called before the body is read. */
  authenticate(request: Pick<FastifyRequest, 'headers' | 'params' | 'query'>): void
  /**
   * Returns the events of a call, or none if the call is not relevant. The ids are derived from the call, so a repeated call has the same events.
   * Throws a Problem with status 503 to make the service repeat the call.
   */
  eventsOf(call: WebhookCall): Promise<readonly Event[]>
  /**
   * Answers a GET of the URL, by which some services check the URL before they use it. Returns the JSON of the answer. Throws a Problem to refuse
   * it. `authenticate` is called first. Absent: a GET is answered 405.
   */
  challenge?(request: Pick<FastifyRequest, 'query' | 'params'>): unknown
}

/** A call of the outside service that `authenticate` accepted. */
export interface WebhookCall {
  readonly body: unknown
  /** The text of the body. `body` has lost digits of numbers above 2^53. */
  readonly text: string
  readonly params: Readonly<Record<string, string>>
  /** Reads the serving generation. Reads by key are strongly consistent. */
  readonly reader: Reader
  readonly now: number
  readonly correlationId: string
}

/** Adds the webhooks of a domain. The domain's tokens, quotas and rate limits do not apply to webhooks. */
export const registerWebhooks = async (
  scope: FastifyInstance,
  domain: DomainEdge,
  { deps, noting }: { deps: EdgeDeps; noting: readonly Noting[] },
): Promise<void> => {
  readAnyJson(scope)
  noteAnswers(scope, domain.name, noting)
  for (const hook of domain.webhooks ?? []) {
    const shared = {
      url: hook.url,
      onRequest: (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) => {
        request.receivedAt = deps.clock.now()
        try {
          hook.authenticate(request)
          done()
        } catch (error) {
          deps.report?.webhookCalled(hook.source, 'refused')
          done(error instanceof Error ? error : new Error(String(error)))
        }
      },
    }
    scope.route({
      ...shared,
      method: 'POST',
      schema: { operationId: hook.operationId, summary: hook.summary, tags: [domain.name] },
      bodyLimit: hook.bodyLimit,
      handler: (request) => receive(hook, request as FastifyRequest<Received>, { domain, deps }),
    })
    if (hook.challenge === undefined) continue
    scope.route({
      ...shared,
      method: 'GET',
      schema: {
        operationId: `${hook.operationId}Challenge`,
        summary: `${hook.summary} The service checks the URL.`,
        tags: [domain.name],
      },
      handler: async (request) => hook.challenge?.(request),
    })
  }
}

interface Received {
  readonly Body: { readonly value: unknown; readonly text: string } | undefined
  readonly Params: Readonly<Record<string, string>>
}

/** Executes a call of a webhook. Resolves to the answer when the log has all events of the call. */
const receive = async (
  hook: Webhook,
  { body, params, id: correlationId }: FastifyRequest<Received>,
  { domain, deps }: { domain: DomainEdge; deps: EdgeDeps },
): Promise<object> => {
  const { readMs, waitMs } = deps.limits
  const { appendMs = readMs + waitMs } = hook
  const deadline = deadlineAfter(appendMs)
  const read = async (): Promise<readonly Event[]> =>
    hook.eventsOf({
      body: body?.value,
      text: body?.text ?? '',
      params,
      correlationId,
      reader: (await domain.serving()).reader,
      now: deps.clock.now(),
    })
  const events = await deadlineAfter(Math.min(readMs, appendMs)).within(read(), tooSlow)
  if (events.length > 0) await domain.commands.append(events, { deadline })
  for (const { meta, type } of events) deps.report?.appended({ domain: domain.name, source: meta.source, type })
  deps.report?.webhookCalled(hook.source, events.length > 0 ? 'taken' : 'ignored')
  return {}
}

/** Accepts any JSON, also with control characters. If the edge refused such a body, the service would repeat the call forever. */
const readAnyJson = (scope: FastifyInstance): void => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, { value: JSON.parse(String(body)) as unknown, text: String(body) })
    } catch (cause) {
      done(new Problem(400, 'malformed-json', 'The body is not JSON.', { cause }))
    }
  })
}
