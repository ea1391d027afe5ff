import type { Event } from '../../schemas/event.ts'
import type { Get } from '../../projections/projection.ts'
import { IMPORT_SOURCE } from '../../projections/importing.ts'
import type { ImportedEventItem } from '../../projections/meals/items.ts'
import { importedEvents } from '../../projections/meals/keys.ts'

/**
 * True if the event comes from an import. The folds of the targets store an item for each imported event. So they
 * recognise the event if the file is imported again, even after many other changes.
 */
export const isImported = (event: Event): boolean => event.meta.source === IMPORT_SOURCE

/** True if this imported event was folded before. Reads no item for an event that does not come from an import. */
export const isRepeatedImport = (event: Event, get: Get): boolean =>
  isImported(event) && get(importedEvents.key(event.meta.key, event.meta.eventId)) !== undefined

export const importedEventItems = (event: Event): readonly ImportedEventItem[] =>
  isImported(event) ? [importedEvents.key(event.meta.key, event.meta.eventId)] : []
