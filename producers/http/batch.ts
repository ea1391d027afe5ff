import { isFault } from '../../schemas/fault.ts'
import { tooSlow } from '../commands.ts'
import type { Run } from './command.ts'
import { eventReference } from './headers.ts'
import type { Batch, Collected } from './route.ts'

/** Executes a batch: collects the events, appends all of them at once, and returns the answer. */
export const runBatch = async ({
  request,
  reply,
  route,
  call,
  domain,
  deps,
  source,
  reading,
  deadline,
}: Run<Batch>): Promise<unknown> => {
  const collected = async (): Promise<Collected> => {
    await route.admit?.(call)
    return route.collect(call, { source, correlationId: request.id })
  }
  const { events, quarantined, answer } = await reading.within(collected(), tooSlow)
  const last = events.at(-1)
  if (last === undefined) throw new TypeError(`${route.url} collected no event`)
  const {
    type,
    meta: { eventId },
  } = last
  const positions = await domain.commands.append(events, { deadline }).catch((error: unknown) => {
    if (isFault(error, 'append-unknown')) reply.header('tributary-event', `unknown:${eventId}`)
    throw error
  })
  request.appended = { id: eventId, type }
  for (const event of events)
    deps.report?.appended({ domain: domain.name, source: event.meta.source, type: event.type })
  for (const reason of quarantined) deps.report?.quarantined(reason)
  const position = positions.at(-1)
  if (position === undefined) throw new TypeError(`The log returned no position for the event ${eventId}`)
  const event = eventReference(position, eventId)
  reply.header('tributary-event', event).code(route.status)
  return { event, ...answer }
}
