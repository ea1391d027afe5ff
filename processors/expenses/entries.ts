import type { Event } from '../../schemas/event.ts'
import { isoOf } from '../../projections/instant.ts'
import type { EntryItem, EntryKind, MemberItem } from '../../projections/expenses/items.ts'
import { entryKey, memberKey } from '../../projections/expenses/keys.ts'
import type { Work } from '../access/work.ts'

type Told = Omit<EntryItem, 'PK' | 'SK' | 'kind' | 'at' | 'by' | 'byName' | 'event'> & { readonly at?: string }

/** A line of the group's statement. Without a time of its own it has the event's. */
export const enter = (work: Work, { meta }: Event, kind: EntryKind, { at = isoOf(meta.occurredAt), ...told }: Told): void => {
  const byName = meta.actorId === null ? null : (work.get<MemberItem>(memberKey(meta.key, meta.actorId))?.name ?? null)
  work.put({ kind, at, by: meta.actorId, byName, event: meta.eventId, ...told, ...entryKey(meta.key, at, meta.eventId) } satisfies EntryItem)
}
