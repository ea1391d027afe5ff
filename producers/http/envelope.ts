import type { EventMeta } from '../../schemas/event.ts'

export interface Said extends Pick<EventMeta, 'eventId' | 'source' | 'correlationId'> {
  readonly user: string
  /** What orders the event; the user, where it is not said. */
  readonly key?: string | undefined
  readonly now: number
  readonly request?: EventMeta['request']
}

/** What an edge says about an event. The user is the actor and the subject, and the key of what is their own. */
export const envelope = ({ eventId, user, key = user, now, source, correlationId, request = null }: Said): EventMeta => ({
  eventId,
  key,
  occurredAt: now,
  recordedAt: now,
  source,
  correlationId,
  causationId: null,
  actorId: user,
  subjectId: user,
  request,
})
