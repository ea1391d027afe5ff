import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Event } from '../../schemas/event.ts'
import type { Reader } from '../../projections/table.ts'
import { tooSlow } from '../commands.ts'
import { deadlineAfter } from '../deadline.ts'
import type { DomainEdge } from './domain.ts'
import { Problem } from './problem.ts'
import type { EdgeDeps } from './server.ts'

/** What an outside service calls when something happened there. It has no token of ours, and sends again what was not answered 200. */
export interface Webhook {
  readonly url: string
  /** The stable name of the route in `/openapi.json`: a verb and what it acts on, unique in the whole program. */
  readonly operationId: string
  readonly summary: string
  /** As its events name it. */
  readonly source: string
  readonly bodyLimit: number
  /** A Problem where it is not the service that calls; the body is not read before. */
  authenticate(asked: Pick<FastifyRequest, 'headers' | 'params' | 'query'>): void
  /** What it says, under natural ids: the same said twice is the same events. None where it is nothing to us; a Problem of status 503 to hear it again. */
  hear(heard: Heard): Promise<readonly Event[]>
}

export interface Heard {
  readonly body: unknown
  readonly reader: Reader
  readonly now: number
  readonly correlationId: string
}

/** Outside of the domain's tokens, quotas and rates. */
export const registerWebhooks = async (scope: FastifyInstance, domain: DomainEdge, deps: EdgeDeps): Promise<void> => {
  readAnyJson(scope)
  for (const hook of domain.webhooks ?? []) {
    scope.route({
      method: 'POST',
      url: hook.url,
      schema: { operationId: hook.operationId, summary: hook.summary, tags: [domain.name] },
      bodyLimit: hook.bodyLimit,
      onRequest: (request, _reply, done) => {
        try {
          hook.authenticate(request)
          done()
        } catch (error) {
          deps.report?.heard(hook.source, 'refused')
          done(error instanceof Error ? error : new Error(String(error)))
        }
      },
      handler: (request) => take(hook, { body: request.body, correlationId: request.id }, { domain, deps }),
    })
  }
}

/** Answers after the log has all events of the call. */
const take = async (hook: Webhook, said: Pick<Heard, 'body' | 'correlationId'>, { domain, deps }: { domain: DomainEdge; deps: EdgeDeps }): Promise<object> => {
  const { readMs, waitMs } = deps.limits
  const deadline = deadlineAfter(readMs + waitMs)
  const hear = async (): Promise<readonly Event[]> => hook.hear({ ...said, reader: (await domain.questions()).reader, now: deps.clock.now() })
  const events = await deadlineAfter(readMs).within(hear(), tooSlow)
  if (events.length > 0) await domain.commands.append(events, { deadline })
  for (const { meta, type } of events) deps.report?.appended({ domain: domain.name, source: meta.source, type })
  deps.report?.heard(hook.source, events.length > 0 ? 'taken' : 'ignored')
  return {}
}

/** What others write is theirs: refused for a control character in it, it would be sent for ever. */
const readAnyJson = (scope: FastifyInstance): void => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, JSON.parse(String(body)))
    } catch (cause) {
      done(new Problem(400, 'malformed-json', 'The body is not JSON.', { cause }))
    }
  })
}
