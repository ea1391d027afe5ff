import type { Event } from '../../schemas/event.ts'
import type { Get } from '../../projections/projection.ts'
import { IMPORT_SOURCE, type SeenItem } from '../../projections/meals/items.ts'
import { seenKey } from '../../projections/meals/keys.ts'

/**
 * A correction has no natural key of its own, so what it changed keeps its name: the same event at a later offset
 * changes nothing. The last few names are enough for a copy that an append in doubt left, which follows the first
 * closely; a request sent again with its Idempotency-Key is known by its `IDEM#` item. Rows can be imported again after
 * any number of changes: what they say about targets leaves a mark of its own instead (`isSeen`, `markOf`).
 */
const KEPT = 64

/** Event ids end in chance or in a hash, never in less than 48 bits of it. */
const nameOf = (event: Event): string => event.meta.eventId.slice(-12)

export const heardBefore = (heard: readonly string[] | undefined, event: Event): boolean => heard !== undefined && heard.includes(nameOf(event))

export const hearing = (heard: readonly string[] | undefined, event: Event): readonly string[] =>
  heard === undefined ? [nameOf(event)] : [...heard.slice(1 - KEPT), nameOf(event)]

export const isImported = (event: Event): boolean => event.meta.source === IMPORT_SOURCE

/** Only what was imported has a mark, so other events cost no read and no item. */
export const isSeen = (event: Event, get: Get): boolean => isImported(event) && get<SeenItem>(seenKey(event.meta.key, event.meta.eventId)) !== undefined

export const markOf = (event: Event): readonly SeenItem[] => (isImported(event) ? [seenKey(event.meta.key, event.meta.eventId)] : [])
