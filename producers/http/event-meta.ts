import type { EventMeta } from '../../schemas/event.ts'

/** The parts from which `eventMeta` makes the metadata. `now`: epoch milliseconds. */
export interface EventMetaParts extends Pick<EventMeta, 'eventId' | 'source' | 'correlationId'> {
  readonly user: string
  /** The log key. Default: the user. */
  readonly key?: string | undefined
  /** The person whom the personal data describes. Default: the user. */
  readonly subject?: string | undefined
  readonly now: number
  readonly request?: EventMeta['request']
}

/** The metadata of an event that a user causes. The user is the actor. */
export const eventMeta = ({
  eventId,
  user,
  key = user,
  subject = user,
  now,
  source,
  correlationId,
  request = null,
}: EventMetaParts): EventMeta => ({
  eventId,
  key,
  occurredAt: now,
  recordedAt: now,
  source,
  correlationId,
  causationId: null,
  actorId: user,
  subjectId: subject,
  request,
})
