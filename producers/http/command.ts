import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Event } from '../../schemas/event.ts'
import { isFault } from '../../schemas/fault.ts'
import type { Outcome } from '../../projections/projection.ts'
import { pointerOf } from '../../projections/refusal.ts'
import { tooSlow, pendingIfRetriable, type Receipt } from '../commands.ts'
import type { Deadline } from '../deadline.ts'
import { createdId, derivedId } from '../ids.ts'
import type { DomainEdge } from './domain.ts'
import { eventMeta } from './event-meta.ts'
import { eventReference, hashedKey, requestOf, wantsAsync } from './headers.ts'
import { Problem, refusedStatus } from './problem.ts'
import type { Call, Command, Decision, Described, JsonSchema } from './route.ts'
import type { EdgeDeps } from './server.ts'

export interface Run<R = Command> {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly route: R
  readonly call: Call
  readonly domain: DomainEdge
  readonly deps: EdgeDeps
  readonly source: string
  /** The deadline of the reads before the append. */
  readonly reading: Deadline
  /** The deadline of the answer. */
  readonly deadline: Deadline
}

/** Executes a command: decides, appends the event, waits for its outcome, and returns the answer. */
export const runCommand = async (run: Run): Promise<unknown> => {
  const { request, reply, route, deps, reading, deadline } = run
  const target = targetOf(request)
  const repeatable = requestOf({
    headers: request.headers,
    method: request.method,
    target: target + queryOf(request),
    body: request.body,
  })
  const call = repeatable
    ? { ...run.call, newId: () => createdId(run.call.caller.user, repeatable.key, target) }
    : run.call
  // Throws if the deadline of the reads passes. So no event is appended after the caller got the error.
  const { first, decision } = await reading.within(decide(route, call), tooSlow)
  if (first !== undefined) await appendFirst({ ...run, call }, first)
  const meta = metaOf(run, repeatable, decision)
  const { type, data, personal } = decision.draft
  const receipt = await appendEvent(
    run,
    { type, meta, data, personal },
    wantsAsync(request.headers) ? 0 : deps.limits.waitMs,
  )
  const reference = eventReference(receipt.position, receipt.eventId)
  reply.header('tributary-event', reference)
  const state = receipt.outcome === 'pending' ? 'pending' : await checkOutcome({ ...run, call }, receipt.outcome)
  if (state === 'pending' || state === 'parked' || state === 'behind')
    return accepted(reply, reference, { state, decision })
  const visible =
    state === 'applied'
      ? decision
      : { draft: decision.draft, ...(decision.id === undefined ? {} : { id: decision.id }) }
  const result = await deadline.within(route.answer(call, visible), tooSlow).catch(pendingIfRetriable)
  if (result === undefined || result === 'pending') return accepted(reply, reference, { state: 'pending', decision })
  reply.code(route.status)
  return result
}

/** The path with decoded parameters: different encodings of a parameter give the same path. The characters % / ? # stay encoded. */
const targetOf = ({ routeOptions, params }: FastifyRequest): string =>
  (routeOptions.url ?? '').replace(/:(\w+)/g, (_, name: string) =>
    ((params as Readonly<Record<string, string>>)[name] ?? '').replace(/[%/?#]/g, encodeURIComponent),
  )

const queryOf = ({ url }: FastifyRequest): string => (url.includes('?') ? url.slice(url.indexOf('?')) : '')

const decide = async (
  route: Command,
  call: Call,
): Promise<{ readonly first: Decision | undefined; readonly decision: Decision }> => {
  const first = await route.admit?.(call)
  return { first, decision: await route.decide(call) }
}

/** Appends the event that must precede the event of the command, and waits until it is visible. Throws `not-yet-visible` if that takes too long. */
export const appendFirst = async (
  run: Run<Pick<Described, 'admit'>>,
  { draft, key, subject }: Decision,
): Promise<void> => {
  const { request, route, call, deps, source, deadline } = run
  const meta = eventMeta({
    eventId: deps.ids.uuidv7(),
    user: call.caller.user,
    key,
    subject,
    now: call.now,
    source,
    correlationId: request.id,
  })
  const { outcome } = await appendEvent(run, { ...draft, meta }, deps.limits.waitMs)
  if (
    outcome !== 'pending' &&
    outcome.kind !== 'parked' &&
    (await deadline.within(Promise.resolve(route.admit?.(call)), tooSlow).catch(pendingIfRetriable)) === undefined
  )
    return
  throw new Problem(
    503,
    'not-yet-visible',
    'An event on which this command depends is in the log but not visible yet. Send the request again.',
    { retryAfter: 1 },
  )
}

const metaOf = (
  { request, call, deps, source }: Run,
  repeatable: Event['meta']['request'],
  { key, subject, occurredAt = call.now }: Decision,
): Event['meta'] => {
  const {
    caller: { user },
    now,
  } = call
  // A repeated request with an Idempotency-Key gets the same event id, so the fold recognises its event as a duplicate.
  const eventId = repeatable ? derivedId(user, repeatable.key, repeatable.hash) : deps.ids.uuidv7()
  return {
    ...eventMeta({
      eventId,
      user,
      key,
      subject,
      now,
      source,
      correlationId: request.id,
      request: repeatable && { ...repeatable, key: hashedKey(user, repeatable.key) },
    }),
    occurredAt,
  }
}

export const appendEvent = async (
  { request, reply, domain, deps, call, deadline }: Run<unknown>,
  event: Event,
  waitMs: number,
): Promise<Receipt> => {
  try {
    const receipt = await domain.commands.execute(event, {
      wait: waitMs > 0,
      timeoutMs: waitMs,
      outcomes: call.caller.outcomes,
      deadline,
    })
    request.appended = { id: event.meta.eventId, type: event.type }
    deps.report?.appended({ domain: domain.name, source: event.meta.source, type: event.type })
    return receipt
  } catch (error) {
    if (isFault(error, 'append-unknown')) reply.header('tributary-event', `unknown:${event.meta.eventId}`)
    throw error
  }
}

/** Returns the outcome of an appended event. Throws a Problem if the fold refused the event. */
export const checkOutcome = async (
  { route, call, domain, deadline }: Run<Pick<Command, 'body' | 'refused'>>,
  outcome: Outcome,
): Promise<'applied' | 'duplicate' | 'parked' | 'behind'> => {
  if (outcome.kind === 'parked') return outcome.behind === true ? 'behind' : 'parked'
  if (outcome.kind !== 'refused') return outcome.kind
  const { code, detail } = outcome.refusal
  // The caller gets the refusal even if the store does not answer. The answer then lacks the additional members, such as the current revision.
  const members = route.refused && (await deadline.within(route.refused(call, code), tooSlow).catch(pendingIfRetriable))
  const status = refusedStatus(code, domain.refusals)
  const pointer = pointerOf(code, domain.refusals)
  const errors = pointer !== undefined && hasField(route.body, pointer) ? [{ pointer, code, detail }] : []
  throw new Problem(status, code, detail, {
    errors,
    members: members === undefined || members === 'pending' ? {} : members,
  })
}

const hasField = ({ properties }: JsonSchema, pointer: string): boolean =>
  typeof properties === 'object' && properties !== null && pointer.slice(1) in properties

const DETAIL = {
  pending: 'The event is in the log and will be folded. Send a GET with Tributary-After to see the result.',
  parked: 'The event is in the log, but it could not be folded, so your later events wait. The operators can see it.',
  behind:
    'The event is in the log, but an earlier event of yours could not be folded, so this one waits. The operators can see it.',
} as const

const accepted = (
  reply: FastifyReply,
  event: string,
  { state, decision }: { state: keyof typeof DETAIL; decision: Decision },
) => {
  reply.code(202)
  return {
    event,
    state: state === 'behind' ? 'parked' : state,
    detail: DETAIL[state],
    ...(decision.id === undefined ? {} : { id: decision.id }),
    ...decision.unstored,
  }
}
