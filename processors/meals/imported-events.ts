import type { Event } from '../../schemas/event.ts'
import type { Get } from '../../projections/projection.ts'
import { IMPORT_SOURCE } from '../../projections/importing.ts'
import type { ImportedEventItem } from '../../projections/meals/items.ts'
import { importedEvents } from '../../projections/meals/keys.ts'

/**
 * True if the event comes from an import. Each imported change of the targets is remembered in an item of its own,
 * because a file can be imported again after any number of other changes.
 */
export const isImported = (event: Event): boolean => event.meta.source === IMPORT_SOURCE

/** True if this imported event was folded before. Reads no item for an event that does not come from an import. */
export const isRepeatedImport = (event: Event, get: Get): boolean =>
  isImported(event) && get(importedEvents.key(event.meta.key, event.meta.eventId)) !== undefined

export const importedEventItems = (event: Event): readonly ImportedEventItem[] =>
  isImported(event) ? [importedEvents.key(event.meta.key, event.meta.eventId)] : []
