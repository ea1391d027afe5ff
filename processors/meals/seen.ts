import type { Event } from '../../schemas/event.ts'
import type { Get } from '../../projections/projection.ts'
import { IMPORT_SOURCE } from '../../projections/importing.ts'
import type { SeenItem } from '../../projections/meals/items.ts'
import { seen } from '../../projections/meals/keys.ts'

/** Rows can be imported again after any number of changes: what they say about targets leaves a mark of its own. */
export const isImported = (event: Event): boolean => event.meta.source === IMPORT_SOURCE

/** Only what was imported has a mark, so other events cost no read and no item. */
export const isSeen = (event: Event, get: Get): boolean => isImported(event) && get(seen.key(event.meta.key, event.meta.eventId)) !== undefined

export const markOf = (event: Event): readonly SeenItem[] => (isImported(event) ? [seen.key(event.meta.key, event.meta.eventId)] : [])
