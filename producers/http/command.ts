import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Event } from '../../schemas/event.ts'
import { isFault } from '../../schemas/fault.ts'
import type { Outcome } from '../../projections/projection.ts'
import { pointerOf } from '../../projections/refusal.ts'
import { tooSlow, unheard, type Receipt } from '../commands.ts'
import type { Deadline } from '../deadline.ts'
import { createdId, derivedId } from '../ids.ts'
import type { DomainEdge } from './domain.ts'
import { envelope } from './envelope.ts'
import { eventReference, hashedKey, requestOf, wantsAsync } from './headers.ts'
import { Problem, refusedStatus } from './problem.ts'
import type { Call, Command, Decision, JsonSchema } from './route.ts'
import type { EdgeDeps } from './server.ts'

export interface Run<R = Command> {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly route: R
  readonly call: Call
  readonly domain: DomainEdge
  readonly deps: EdgeDeps
  readonly source: string
  /** For what is read before the append. */
  readonly reading: Deadline
  /** For the answer. */
  readonly deadline: Deadline
}

/** Decide, append, hear the outcome, answer. */
export const runCommand = async (run: Run): Promise<unknown> => {
  const { request, reply, route, deps, reading, deadline } = run
  const target = targetOf(request)
  const repeatable = requestOf({ headers: request.headers, method: request.method, target: target + queryOf(request), body: request.body })
  const call = repeatable ? { ...run.call, newId: () => createdId(run.call.caller.user, repeatable.key, target) } : run.call
  // A late decision ends here: the append below never follows an answer.
  const { first, decision } = await reading.within(decided(route, call), tooSlow)
  if (first !== undefined) await sayFirst({ ...run, call }, first)
  const meta = metaOf(run, repeatable, decision)
  const { type, data, personal } = decision.draft
  const receipt = await appended(run, { type, meta, data, personal }, wantsAsync(request.headers) ? 0 : deps.limits.waitMs)
  const reference = eventReference(receipt.position, receipt.eventId)
  reply.header('tributary-event', reference)
  const state = receipt.outcome === 'pending' ? 'pending' : await settled({ ...run, call }, receipt.outcome)
  if (state === 'pending' || state === 'parked' || state === 'behind') return accepted(reply, reference, { state, decision })
  const shown = state === 'applied' ? decision : { draft: decision.draft, ...(decision.id === undefined ? {} : { id: decision.id }) }
  const result = await deadline.within(route.answer(call, shown), tooSlow).catch(unheard)
  if (result === undefined || result === 'pending') return accepted(reply, reference, { state: 'pending', decision })
  reply.code(route.status)
  return result
}

/** The path with decoded parameters, so that it does not depend on how the caller encoded them. Characters that divide a path stay encoded. */
const targetOf = ({ routeOptions, params }: FastifyRequest): string =>
  (routeOptions.url ?? '').replace(/:(\w+)/g, (_, name: string) => ((params as Readonly<Record<string, string>>)[name] ?? '').replace(/[%/?#]/g, encodeURIComponent))

const queryOf = ({ url }: FastifyRequest): string => (url.includes('?') ? url.slice(url.indexOf('?')) : '')

const decided = async (route: Command, call: Call): Promise<{ readonly first: Decision | undefined; readonly decision: Decision }> => {
  const first = await route.admit?.(call)
  return { first, decision: await route.decide(call) }
}

/** Without it the command's own event would mean nothing, so nothing else is said before it is there to see. */
const sayFirst = async (run: Run, { draft, key }: Decision): Promise<void> => {
  const { request, route, call, deps, source, deadline } = run
  const meta = envelope({ eventId: deps.ids.uuidv7(), user: call.caller.user, key, now: call.now, source, correlationId: request.id })
  const { outcome } = await appended(run, { ...draft, meta }, deps.limits.waitMs)
  if (outcome !== 'pending' && outcome.kind !== 'parked' && (await deadline.within(Promise.resolve(route.admit?.(call)), tooSlow).catch(unheard)) === undefined) return
  throw new Problem(503, 'not-yet-visible', 'What this command rests on is in the log and not visible yet: send it again.', { retryAfter: 1 })
}

const metaOf = ({ request, call, deps, source }: Run, repeatable: Event['meta']['request'], { key, occurredAt = call.now }: Decision): Event['meta'] => {
  const { caller: { user }, now } = call
  // The same request said twice is the same fact: one id.
  const eventId = repeatable ? derivedId(user, repeatable.key, repeatable.hash) : deps.ids.uuidv7()
  return { ...envelope({ eventId, user, key, now, source, correlationId: request.id, request: repeatable && { ...repeatable, key: hashedKey(user, repeatable.key) } }), occurredAt }
}

const appended = async ({ request, reply, domain, deps, call, deadline }: Run, event: Event, waitMs: number): Promise<Receipt> => {
  try {
    const receipt = await domain.commands.execute(event, { wait: waitMs > 0, timeoutMs: waitMs, outcomes: call.caller.outcomes, deadline })
    request.appended = { id: event.meta.eventId, type: event.type }
    deps.report?.appended({ domain: domain.name, source: event.meta.source, type: event.type })
    return receipt
  } catch (error) {
    if (isFault(error, 'append-unknown')) reply.header('tributary-event', `unknown:${event.meta.eventId}`)
    throw error
  }
}

const settled = async ({ route, call, domain, deadline }: Run, outcome: Outcome): Promise<'applied' | 'duplicate' | 'parked' | 'behind'> => {
  if (outcome.kind === 'parked') return outcome.behind === true ? 'behind' : 'parked'
  if (outcome.kind !== 'refused') return outcome.kind
  const { code, detail } = outcome.refusal
  // The refusal is known. If the store does not show what is there now, the answer leaves that out.
  const members = route.refused && (await deadline.within(route.refused(call, code), tooSlow).catch(unheard))
  const status = code === 'idempotency-key-reused' ? 422 : refusedStatus(code, domain.refusals)
  const pointer = pointerOf(code, domain.refusals)
  const errors = pointer !== undefined && hasField(route.body, pointer) ? [{ pointer, code, detail }] : []
  throw new Problem(status, code, detail, { errors, members: members === undefined || members === 'pending' ? {} : members })
}

const hasField = ({ properties }: JsonSchema, pointer: string): boolean => typeof properties === 'object' && properties !== null && pointer.slice(1) in properties

const DETAIL = {
  pending: 'The event is in the log and will be folded; ask with Tributary-After to see it.',
  parked: 'The event is in the log, but it could not be folded, and your later events wait behind it. It is reported to the operators.',
  behind: 'The event is in the log, but an earlier event of yours could not be folded, and this one waits behind it. It is reported to the operators.',
} as const

const accepted = (reply: FastifyReply, event: string, { state, decision }: { state: keyof typeof DETAIL; decision: Decision }) => {
  reply.code(202)
  return { event, state: state === 'behind' ? 'parked' : state, detail: DETAIL[state], ...(decision.id === undefined ? {} : { id: decision.id }), ...decision.shown }
}
