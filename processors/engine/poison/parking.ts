import type { Key } from '../../../projections/item.ts'
import type { AdvancedSpan } from '../fold/advance.ts'
import type { Poison } from '../fold/sort.ts'
import type { Checkpoint, Store } from '../ports/store.ts'
import { mergeEntry, parkedFrom, type StoredParked } from './parked-entry.ts'

/**
 * Parks the key of an event that cannot be folded: stores an entry, so that the events of the key up to `through` are skipped. Resolves to
 * the entry, or to undefined if another process has healed the key past all of these events in the meantime.
 */
export const parkKey = async (
  { store, checkpoint }: { readonly store: Pick<Store, 'commit'>; readonly checkpoint: Checkpoint },
  poison: Poison,
  through: number,
): Promise<StoredParked | undefined> => {
  const entry = parkedFrom(poison, through)
  for (let met: StoredParked | undefined; ;) {
    const merged = mergeEntry(met, entry, poison.behind ?? [])
    if (merged === 'healed') return undefined
    const [outcome] = await store.commit([merged.write], checkpoint)
    if (outcome === undefined || outcome.applied === 'all') return merged.made
    met = outcome.current[0] as Key as StoredParked | undefined
  }
}

/** Returns the poison of a span, with the offsets of the later events of the span. Empty if the span has no poison. */
export const poisonOf = ({ span, poison }: AdvancedSpan): readonly Poison[] => {
  if (poison === undefined) return []
  const { logged, error } = poison
  const { type, meta, personal } = logged.event
  const behind = span.events.map(({ offset }) => offset).filter((offset) => offset > logged.offset)
  return [
    {
      projection: span.decider.projection.name,
      key: span.key,
      position: logged,
      error,
      type,
      eventId: meta.eventId,
      recordedAt: meta.recordedAt,
      personal,
      behind,
    },
  ]
}
