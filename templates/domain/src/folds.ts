import {
  DUPLICATE,
  FORGOTTEN,
  isoOf,
  refusing,
  removed,
  type CommonEvent,
  type Folds,
  type Get,
  type Result,
} from 'tributary/domain'
import type { EntryAdded, EntryRemoved, __Name__Event } from './generated/__name__.ts'
import { entries, goneEntries, isEntryId, summaries, type EntryItem, type SummaryItem } from './items.ts'
import { refusals } from './refusals.ts'

export const MAX_AMOUNT = 1_000_000

const refuse = refusing(refusals)

/** Returns the summary of a person after a change, as an item to write. */
const summaryAfter = (user: string, get: Get, change: { entries: number; amount: number }): SummaryItem => {
  const before = get<SummaryItem>(summaries.key(user))
  return {
    ...summaries.key(user),
    entries: (before?.entries ?? 0) + change.entries,
    total: (before?.total ?? 0) + change.amount,
  }
}

const entryAdded = ({ data, meta, personal }: EntryAdded, get: Get): Result => {
  const { entryId, amount } = data
  if (!isEntryId(entryId) || amount < 1 || amount > MAX_AMOUNT)
    return refuse('entry-invalid', `An entry has an id and an amount from 1 to ${MAX_AMOUNT}.`)
  const key = entries.key(meta.key, entryId)
  if (get(key) !== undefined || get(goneEntries.key(meta.key, entryId)) !== undefined) return DUPLICATE
  const entry: EntryItem = {
    ...key,
    id: entryId,
    amount,
    note: personal === null || personal === FORGOTTEN ? null : personal.note,
    addedAt: isoOf(meta.occurredAt),
  }
  return { items: [entry, summaryAfter(meta.key, get, { entries: 1, amount })] }
}

const entryRemoved = ({ data: { entryId }, meta }: EntryRemoved, get: Get): Result => {
  if (!isEntryId(entryId)) return refuse('entry-not-found', 'No entry has this id.')
  const entry = get<EntryItem>(entries.key(meta.key, entryId))
  const gone = goneEntries.key(meta.key, entryId)
  if (entry === undefined)
    return get(gone) === undefined ? refuse('entry-not-found', `There is no entry ${entryId}.`) : DUPLICATE
  return {
    items: [
      removed(entry),
      { ...gone, removedAt: isoOf(meta.occurredAt) },
      summaryAfter(meta.key, get, { entries: -1, amount: -entry.amount }),
    ],
  }
}

/**
 * One fold per event type. A fold reads with `get` and returns changes; it uses no clock, no randomness and no I/O. `record.ts` adds the folds of
 * the events that all domains have (tokens, forgetting).
 */
export const folds: Omit<Folds<__Name__Event | CommonEvent>, CommonEvent['type']> = {
  EntryAdded: entryAdded,
  EntryRemoved: entryRemoved,
}
