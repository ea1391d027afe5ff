import type { Event } from '../../schemas/event.ts'

/**
 * A correction has no natural key of its own, so what it changed keeps its name: the same event at a later offset
 * changes nothing. The last few names are enough for a copy that an append in doubt left, which follows the first
 * closely; a request sent again with its Idempotency-Key is known by its `IDEM#` item.
 */
const KEPT = 64

/** Event ids end in chance or in a hash, never in less than 48 bits of it. */
const nameOf = (event: Event): string => event.meta.eventId.slice(-12)

export const heardBefore = (heard: readonly string[] | undefined, event: Event): boolean => heard !== undefined && heard.includes(nameOf(event))

export const hearing = (heard: readonly string[] | undefined, event: Event): readonly string[] =>
  heard === undefined ? [nameOf(event)] : [...heard.slice(1 - KEPT), nameOf(event)]
