import { earliest, NOTHING_DUE, type Due } from '../../../projections/outgoing-rows.ts'
import { stamped, type Item, type Key, type Stored } from '../../../projections/item.ts'
import type { Change, Outcome } from '../../../projections/projection.ts'
import { isRetriable } from '../../../schemas/fault.ts'
import type { Versioned } from '../ports/series.ts'
import { MAX_ACTIONS, MAX_CHUNK_BYTES, type Chunk, type Write } from '../ports/store.ts'
import { createDecide, type Decider, type LoggedEvent } from './decide.ts'
import { isOutcome } from './keys.ts'

/** Consecutive events of one log key, for one projection. */
export interface KeySpan {
  readonly decider: Decider
  readonly key: string
  readonly events: readonly LoggedEvent[]
}

export interface ItemCache {
  /** True if no other process can write, so that a cached item never becomes out of date. */
  readonly isSoleWriter: boolean
  /** Returns undefined if there is no such item, and `MISSING` if the item is not loaded. */
  find(key: Key): Stored | undefined | typeof MISSING
}
export const MISSING = Symbol('missing')

export interface FoldedSpan {
  readonly chunks: readonly Chunk[]
  /** One element per folded event: its outcome, or undefined if the items show that the event was applied before. */
  readonly outcomes: readonly (Outcome | undefined)[]
  /** The points of the events that were not applied before. */
  readonly points: readonly Versioned[]
  readonly due: Due
  /** The event that cannot be folded. The events after it are not folded. */
  readonly poison?: { readonly logged: LoggedEvent; readonly error: unknown }
  /** The keys to load before the span is folded again. If there are such keys, all other fields of the result are invalid. */
  readonly misses: readonly Key[]
  /** All keys that were read, if the first event or a later one changed an item already: another process folds these events. Otherwise empty. */
  readonly contested: readonly Key[]
}

interface Entry {
  readonly key: Key
  now: Stored | undefined
  /** The `_pos` that the write requires: that of the stored item before the present chunk. Null: the write requires that no item is stored. */
  expect: number | null
  open: boolean
}

/** Folds the events of one key with the cached items, and divides the changes into chunks. A chunk contains all changes of an event or none. */
export const foldSpan = ({ decider, events }: KeySpan, cache: ItemCache): FoldedSpan => {
  const entries = createEntries(cache, decider)
  const outcomes: (Outcome | undefined)[] = []
  const points: Versioned[] = []
  const chunks = createChunks(decider)
  const first = events[0]?.offset ?? 0
  let newest = -1
  let due = NOTHING_DUE

  const noted = (entry: Entry): Entry => {
    if (entry.now !== undefined && entry.now._pos > newest) newest = entry.now._pos
    return entry
  }
  const find = (key: Key): Stored | undefined => noted(entries.of(key)).now
  const decide = createDecide(decider, find)
  const result = (poison?: FoldedSpan['poison']): FoldedSpan => ({
    chunks: entries.misses.length > 0 ? [] : chunks.close(),
    outcomes,
    points,
    due,
    misses: entries.misses,
    contested: cache.isSoleWriter ? NO_KEYS : entries.contested(first),
    ...(poison === undefined ? {} : { poison }),
  })

  for (const logged of events) {
    newest = -1
    try {
      const decision = decide(logged)
      const touched = decision.changes.map((change) => noted(entries.of(change)))
      const isApplied = newest >= logged.offset
      // The changes are added before the outcome is recorded. `add` throws if an item is too large: then the event is poison and has no outcome.
      if (!isApplied) chunks.add(decision.changes, touched, logged)
      if (!isApplied) for (const point of decision.points) points.push({ ...point, version: logged.offset + 1 })
      outcomes.push(isApplied ? undefined : decision.outcome)
      if (!isApplied) due = earliest(due, decision.due)
    } catch (error) {
      // A retriable fault is not caused by the event. So the event is not poison.
      if (isRetriable(error)) throw error
      if (entries.misses.length > 0) continue
      return result({ logged, error })
    }
  }
  return result()
}

const NO_KEYS: readonly Key[] = []

/** Keeps the items of the span in maps by PK and then by SK. With a joined key, each lookup would create and hash a new string. */
const createEntries = (cache: ItemCache, { isWrittenOnce }: Decider) => {
  const rows = new Map<string, Map<string, Entry>>()
  const misses: Key[] = []
  let newest = -1
  let lastPk = ''
  let lastRow: Map<string, Entry> | undefined

  /** The entries of one PK. The last result is kept, because the keys of a fold mostly have the same PK. */
  const rowOf = (PK: string): Map<string, Entry> => {
    if (lastRow !== undefined && PK === lastPk) return lastRow
    const row = rows.get(PK) ?? new Map<string, Entry>()
    if (row.size === 0) rows.set(PK, row)
    lastPk = PK
    lastRow = row
    return row
  }
  const entryOf = (key: Key): Entry => {
    const found = cache.find(key)
    if (found === MISSING && !isOutcome(key) && !isWrittenOnce(key)) misses.push(key)
    if (found === MISSING || found === undefined) return { key, now: undefined, expect: null, open: false }
    if (found._pos > newest) newest = found._pos
    return { key, now: found, expect: found._pos, open: false }
  }
  const of = (key: Key): Entry => {
    const row = rowOf(key.PK)
    let entry = row.get(key.SK)
    if (entry === undefined) {
      entry = entryOf(key)
      row.set(key.SK, entry)
    }
    return entry
  }
  const contested = (first: number): readonly Key[] =>
    newest < first ? NO_KEYS : [...rows.values()].flatMap((row) => [...row.values()].map(({ key }) => key))
  return { of, misses, contested }
}

/** The lifetime of a tombstone: longer than a process that lost its partition can continue to write. */
export const TOMBSTONE_SECONDS = 7 * 24 * 60 * 60

/** Collects changes into chunks. All changes of one event are in the same chunk. */
const createChunks = ({ ttl, measure, leavesTombstone }: Decider) => {
  const done: Chunk[] = []
  let open: Entry[] = []
  let bytes = 0

  const cut = () => {
    const writes: Write[] = []
    for (const entry of open) {
      const write = writeOf(entry)
      if (write !== undefined) writes.push(write)
      entry.open = false
      entry.expect = entry.now === undefined ? null : entry.now._pos
    }
    if (writes.length > 0) done.push(writes)
    open = []
    bytes = 0
  }
  const add = (changes: readonly Change[], touched: readonly Entry[], logged: LoggedEvent) => {
    let added = 0
    let fresh = 0
    for (const change of changes) added += measure(change)
    for (const entry of touched) if (!entry.open) fresh += 1
    if (open.length + fresh > MAX_ACTIONS || bytes + added > MAX_CHUNK_BYTES) cut()
    bytes += added
    for (let index = 0; index < changes.length; index += 1) {
      const change = changes[index] as Change
      const entry = touched[index] as Entry
      if (!('_removed' in change)) entry.now = stamped(change as Item, logged.offset)
      else entry.now = leavesTombstone(entry.key) ? tombstone(entry.key, logged, ttl) : undefined
      if (entry.open) continue
      entry.open = true
      open.push(entry)
    }
  }
  const close = (): readonly Chunk[] => {
    cut()
    return done
  }
  return { add, close }
}

/** The `_pos` of a tombstone is the offset of the removal. A repeated fold of the event sees that it was applied. Readers do not see tombstones. */
const tombstone = ({ PK, SK }: Key, { event, offset }: LoggedEvent, ttl: string): Stored =>
  ({
    PK,
    SK,
    _removed: true,
    [ttl]: Math.floor(event.meta.recordedAt / 1000) + TOMBSTONE_SECONDS,
    _pos: offset,
  }) as Stored

const writeOf = ({ key, now, expect }: Entry): Write | undefined => {
  if (now !== undefined) return { put: now, expect }
  return expect === null ? undefined : { remove: { PK: key.PK, SK: key.SK }, expect }
}
