import type { EventMeta } from '../../schemas/event.ts'

export interface Said extends Pick<EventMeta, 'eventId' | 'source' | 'correlationId'> {
  readonly user: string
  readonly now: number
  readonly request?: EventMeta['request']
}

/** What an edge says about an event. The user is at once the key, the actor and the subject. */
export const envelope = ({ eventId, user, now, source, correlationId, request = null }: Said): EventMeta => ({
  eventId,
  key: user,
  occurredAt: now,
  recordedAt: now,
  source,
  correlationId,
  causationId: null,
  actorId: user,
  subjectId: user,
  request,
})
