import type { Event } from '../../schemas/event.ts'

/**
 * A correction has no natural key, so the item stores the names of the last events that changed it: the same event at a later offset
 * changes nothing. This many names are enough, because a copy from an append with an unknown result follows the first closely. The
 * `IDEM#` item recognises a repeated request with an Idempotency-Key.
 */
const KEPT = 64

/** The last 12 characters of an event id: at least 48 bits of randomness or of a hash. */
const nameOf = (event: Event): string => event.meta.eventId.slice(-12)

export const heardBefore = (heard: readonly string[] | undefined, event: Event): boolean => heard !== undefined && heard.includes(nameOf(event))

export const hearing = (heard: readonly string[] | undefined, event: Event): readonly string[] =>
  heard === undefined ? [nameOf(event)] : [...heard.slice(1 - KEPT), nameOf(event)]
