import type { Event } from '../../schemas/event.ts'
import { isoOf } from '../../projections/instant.ts'
import type { EntryItem, EntryKind } from '../../projections/expenses/items.ts'
import { entries, members } from '../../projections/expenses/keys.ts'
import type { Work } from '../access/work.ts'

type Told = Omit<EntryItem, 'PK' | 'SK' | 'kind' | 'at' | 'by' | 'byName' | 'event'> & { readonly at?: string }

/** A line of the group's statement. Without a time of its own it has the event's. */
export const enter = (work: Work, { meta }: Event, kind: EntryKind, { at = isoOf(meta.occurredAt), ...told }: Told): void => {
  const byName = meta.actorId === null ? null : (work.get(members.key(meta.key, meta.actorId))?.name ?? null)
  work.put({ kind, at, by: meta.actorId, byName, event: meta.eventId, ...told, ...entries.key(meta.key, at, meta.eventId) } satisfies EntryItem)
}
