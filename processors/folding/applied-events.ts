import type { Event } from '../../schemas/event.ts'

/**
 * An item that has no natural key for its changes stores the names of the last events that changed it. If the same
 * event appears again at a later offset, the fold ignores it. This many names are enough, because a copy from an
 * append with an unknown result follows the first one closely. For a repeated request with an Idempotency-Key, the
 * engine stores an `IDEM#` item.
 */
const REMEMBERED_EVENTS = 64

/** The last 12 characters of an event id: at least 48 bits of randomness or of a hash. */
const nameOf = (event: Event): string => event.meta.eventId.slice(-12)

/** True if the event is among the remembered ones. */
export const hasApplied = (applied: readonly string[] | undefined, event: Event): boolean =>
  applied !== undefined && applied.includes(nameOf(event))

/** The remembered events with this one. The oldest is dropped if there are too many. */
export const withApplied = (applied: readonly string[] | undefined, event: Event): readonly string[] =>
  applied === undefined ? [nameOf(event)] : [...applied.slice(1 - REMEMBERED_EVENTS), nameOf(event)]
