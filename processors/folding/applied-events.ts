import type { Event } from '../../schemas/event.ts'

/**
 * The number of event names that an item remembers. An item whose changes have no natural key stores the names of the last events that
 * changed it. If one of these events appears again at a later offset, the fold ignores it. Few names are enough: the second copy of an
 * event comes from a repeated append whose first result was unknown, so it follows the first copy closely. A repeated request with an
 * Idempotency-Key is recognised by the engine's `IDEM#` item instead.
 */
const REMEMBERED_EVENTS = 64

/** The name of an event: the last 12 characters of its id, which are at least 48 bits of randomness or of a hash. */
const nameOf = (event: Event): string => event.meta.eventId.slice(-12)

/** True if the event is among the remembered ones. */
export const hasApplied = (applied: readonly string[] | undefined, event: Event): boolean =>
  applied !== undefined && applied.includes(nameOf(event))

/** Adds this event to the remembered ones. Drops the oldest if there are more than `REMEMBERED_EVENTS`. */
export const withApplied = (applied: readonly string[] | undefined, event: Event): readonly string[] =>
  applied === undefined ? [nameOf(event)] : [...applied.slice(1 - REMEMBERED_EVENTS), nameOf(event)]
