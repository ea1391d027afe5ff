import type { Event } from '../../schemas/event.ts'
import { isoOf } from '../../projections/instant.ts'
import type { EntryItem, EntryKind } from '../../projections/expenses/items.ts'
import { entries, members } from '../../projections/expenses/keys.ts'
import type { Work } from '../folding/work.ts'

type EntryFields = Omit<EntryItem, 'PK' | 'SK' | 'kind' | 'at' | 'by' | 'byName' | 'event'> & { readonly at?: string }

/** Adds an entry to the group's statement. Default of `at`: the time of the event. */
export const addEntry = (
  work: Work,
  { meta }: Event,
  kind: EntryKind,
  { at = isoOf(meta.occurredAt), ...fields }: EntryFields,
): void => {
  const byName = meta.actorId === null ? null : (work.get(members.key(meta.key, meta.actorId))?.name ?? null)
  work.put({
    kind,
    at,
    by: meta.actorId,
    byName,
    event: meta.eventId,
    ...fields,
    ...entries.key(meta.key, at, meta.eventId),
  } satisfies EntryItem)
}
