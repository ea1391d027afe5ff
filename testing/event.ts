import type { Event, EventMeta } from '../schemas/event.ts'

/** The default time of an event in tests. */
export const NOON: number = Date.parse('2026-11-16T12:00:00.000Z')

let count = 0

/**
 * The envelope of an event in a test. Default: a new event id, `NOON`, the source `test`, and the log key as the actor and the subject.
 * Default of `recordedAt`: `occurredAt`.
 */
export const metaOf = (meta: Pick<EventMeta, 'key'> & Partial<EventMeta>): EventMeta => {
  const { key, occurredAt = NOON } = meta
  count += 1
  return {
    eventId: `00000000-0000-7000-8000-${String(count).padStart(12, '0')}`,
    occurredAt,
    recordedAt: occurredAt,
    source: 'test',
    correlationId: null,
    causationId: null,
    actorId: key,
    subjectId: key,
    request: null,
    ...meta,
  }
}

/** The parts of an event that a test states. */
export interface EventParts<E extends Event> {
  /** The log key. */
  readonly key: string
  readonly data: E['data']
  /** Default: null. */
  readonly personal?: E['personal']
  /** Replaces parts of the envelope. Default of each part: as in `metaOf`. */
  readonly meta?: Partial<EventMeta>
}

/** An event for a test: `eventOf<PlantWatered>('PlantWatered', { key: 'fern', data: { millilitres: 200 } })`. */
export const eventOf = <E extends Event>(type: E['type'], { key, data, personal = null, meta }: EventParts<E>): E =>
  ({ type, meta: metaOf({ key, ...meta }), data, personal }) as E
