import type { EventMeta } from '../../schemas/event.ts'

/** What an edge knows of an event before it has an id. The user is at once the key, the actor and the subject. */
export const envelope = ({ user, now, source, correlationId }: { user: string; now: number; source: string; correlationId: string | null }): Omit<EventMeta, 'eventId'> => ({
  key: user,
  occurredAt: now,
  recordedAt: now,
  source,
  correlationId,
  causationId: null,
  actorId: user,
  subjectId: user,
  request: null,
})
