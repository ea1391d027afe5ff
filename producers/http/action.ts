import type { FastifyReply } from 'fastify'
import { tooSlow } from '../commands.ts'
import { appendEvent, appendFirst, checkOutcome, type Run } from './command.ts'
import { readCookie, setCookie } from './cookies.ts'
import { eventMeta } from './event-meta.ts'
import { eventReference } from './headers.ts'
import type { Action, ActionCall, ActionDecision, Appended, Reply } from './route.ts'

/** Executes an action, and sends the answer that it returns. */
export const runAction = async (run: Run<Action>): Promise<unknown> => {
  const { request, route, deps, reading, deadline } = run
  const first = await reading.within(Promise.resolve(route.admit?.(run.call)), tooSlow)
  if (first !== undefined) await appendFirst(run, first)
  const call: ActionCall = {
    ...run.call,
    headers: request.headers,
    cookie: (name) => readCookie(name, request, deps.publicUrl),
    append: (decision) => appendAndWait(run, decision),
  }
  return sendReply(run, await deadline.within(route.perform(call), tooSlow))
}

const appendAndWait = async (run: Run<Action>, decision: ActionDecision): Promise<Appended> => {
  const { request, reply, call, deps, source, deadline } = run
  const { draft, key, subject, occurredAt = call.now, eventId = deps.ids.uuidv7(), awaitDerived } = decision
  const { user, outcomes } = call.caller
  const meta = eventMeta({ eventId, user, key, subject, now: call.now, source, correlationId: request.id })
  const event = { ...draft, meta: { ...meta, occurredAt } }
  const { position, outcome } = await appendEvent(run, event, deps.limits.waitMs)
  reply.header('tributary-event', eventReference(position, eventId))
  if (outcome === 'pending') return { eventId, state: outcome }
  const state = await checkOutcome(run, outcome)
  if (!awaitDerived || state === 'parked' || state === 'behind') return { eventId, state }
  const visible = await outcomes.untilFolded(position, Math.min(deps.limits.waitMs, deadline.left()), true)
  return { eventId, state: visible ? state : 'pending' }
}

const sendReply = ({ request, reply, deps }: Run<Action>, answer: Reply): FastifyReply => {
  const { status, json, location, headers = {}, cookies = [] } = answer
  reply.code(status).headers(headers)
  if (location !== undefined) reply.header('location', location)
  for (const cookie of cookies) reply.header('set-cookie', setCookie(cookie, request, deps.publicUrl))
  return json === undefined ? reply.send() : reply.send(json)
}
