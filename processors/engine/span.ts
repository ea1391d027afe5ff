import { isExpired, stamped, type Item, type Key, type Stored } from '../../projections/item.ts'
import type { Change, Get, Outcome } from '../../projections/projection.ts'
import { decide, type Decider, type Heard } from './decide.ts'
import { isByPosition, leavesTrace } from './keys.ts'
import { isRetriable } from './retry.ts'
import type { Versioned } from './series.ts'
import { MAX_ACTIONS, MAX_CHUNK_BYTES, type Chunk, type Write } from './store.ts'

/** Some events of one log key, in order, for one projection. */
export interface KeySpan {
  readonly decider: Decider
  readonly key: string
  readonly heard: readonly Heard[]
}

/** Items as they are known: absent is `undefined`, not yet loaded is `MISSING`. */
export interface Known {
  /** Nobody else can write: what is known stays so. */
  readonly alone: boolean
  find(key: Key): Stored | undefined | typeof MISSING
}
export const MISSING = Symbol('missing')

export interface FoldedSpan {
  readonly chunks: readonly Chunk[]
  /** By event, in order; `undefined` where the items show that it was applied before. */
  readonly outcomes: readonly (Outcome | undefined)[]
  /** Of the events that were not applied before. */
  readonly points: readonly Versioned[]
  readonly sends: boolean
  /** The event that could not be folded; those behind it were not tried. */
  readonly poison?: { readonly heard: Heard; readonly error: unknown }
  /** Keys to load before folding again; while there are any, the rest of the result means nothing. */
  readonly misses: readonly Key[]
  /** Keys read, if one of them is at or past the first event: somebody was here before, and may be at it still. */
  readonly contested: readonly Key[]
}

interface Entry {
  readonly key: Key
  now: Stored | undefined
  /** What the store holds before the open chunk: the condition of its write. */
  expect: number | null
  open: boolean
}

/** Folds one key's events over what is known, cut into commits that are prefixes (law 5). */
export const foldSpan = ({ decider, heard }: KeySpan, known: Known): FoldedSpan => {
  const entries = createEntries(known)
  const outcomes: (Outcome | undefined)[] = []
  const points: Versioned[] = []
  const chunks = createChunks(decider)
  const first = heard[0]?.offset ?? 0
  let newest = -1
  let at = 0
  let sends = false

  const seen = (entry: Entry): Entry => {
    if (entry.now !== undefined && entry.now._pos > newest) newest = entry.now._pos
    return entry
  }
  const get: Get = <I extends Item>(key: Key) => {
    const { now } = seen(entries.of(key))
    return now === undefined || isExpired(now, decider.ttl, at) ? undefined : (now as Item as I)
  }
  const result = (poison?: FoldedSpan['poison']): FoldedSpan => ({
    chunks: entries.misses.length > 0 ? [] : chunks.close(),
    outcomes,
    points,
    sends,
    misses: entries.misses,
    contested: known.alone ? NONE : entries.contested(first),
    ...(poison === undefined ? {} : { poison }),
  })

  for (const one of heard) {
    newest = -1
    at = one.event.meta.recordedAt
    try {
      const decision = decide(decider, one, get)
      const touched = decision.changes.map((change) => seen(entries.of(change)))
      const before = newest >= one.offset
      // First, since it throws for an item that is too large: that event is told as parked.
      if (!before) chunks.add(decision.changes, touched, one)
      if (!before) for (const point of decision.points) points.push({ ...point, version: one.offset + 1 })
      outcomes.push(before ? undefined : decision.outcome)
      sends ||= !before && decision.sends
    } catch (error) {
      // A store that cannot answer now is no fault of the event.
      if (isRetriable(error)) throw error
      if (entries.misses.length > 0) continue
      return result({ heard: one, error })
    }
  }
  return result()
}

const NONE: readonly Key[] = []

/** By PK, then by SK: a fold asks for a key and then writes it, and the two strings keep their hashes in between. */
const createEntries = (known: Known) => {
  const rows = new Map<string, Map<string, Entry>>()
  const misses: Key[] = []
  let newest = -1
  let lastPk = ''
  let lastRow: Map<string, Entry> | undefined

  /** A fold's keys mostly share their PK: the row is looked for once. */
  const rowOf = (PK: string): Map<string, Entry> => {
    if (lastRow !== undefined && PK === lastPk) return lastRow
    const row = rows.get(PK) ?? new Map<string, Entry>()
    if (row.size === 0) rows.set(PK, row)
    lastPk = PK
    lastRow = row
    return row
  }
  const made = (key: Key): Entry => {
    const found = known.find(key)
    if (found === MISSING) {
      if (!isByPosition(key)) misses.push(key)
      return { key, now: undefined, expect: null, open: false }
    }
    if (found === undefined) return { key, now: undefined, expect: null, open: false }
    if (found._pos > newest) newest = found._pos
    return { key, now: found, expect: found._pos, open: false }
  }
  const of = (key: Key): Entry => {
    const row = rowOf(key.PK)
    let entry = row.get(key.SK)
    if (entry === undefined) {
      entry = made(key)
      row.set(key.SK, entry)
    }
    return entry
  }
  const contested = (first: number): readonly Key[] => (newest < first ? NONE : [...rows.values()].flatMap((row) => [...row.values()].map(({ key }) => key)))
  return { of, misses, contested }
}

/** Longer than any writer can lag behind and still be heard. */
export const TRACE_SECONDS = 7 * 24 * 60 * 60

/** An event is the atom: its changes go into the open chunk whole, or open the next one. */
const createChunks = ({ ttl, measure }: Decider) => {
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
  const add = (changes: readonly Change[], touched: readonly Entry[], heard: Heard) => {
    let added = 0
    let fresh = 0
    for (const change of changes) added += measure(change)
    for (const entry of touched) if (!entry.open) fresh += 1
    if (open.length + fresh > MAX_ACTIONS || bytes + added > MAX_CHUNK_BYTES) cut()
    bytes += added
    for (let index = 0; index < changes.length; index += 1) {
      const change = changes[index] as Change
      const entry = touched[index] as Entry
      entry.now = '_removed' in change ? traceOf(entry.key, heard, ttl) : stamped(change as Item, heard.offset)
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

const traceOf = (key: Key, { event, offset }: Heard, ttl: string): Stored | undefined =>
  leavesTrace(key)
    ? ({ PK: key.PK, SK: key.SK, _removed: true, [ttl]: Math.floor(event.meta.recordedAt / 1000) + TRACE_SECONDS, _pos: offset } as Stored)
    : undefined

const writeOf = ({ key, now, expect }: Entry): Write | undefined => {
  if (now !== undefined) return { put: now, expect }
  return expect === null ? undefined : { remove: { PK: key.PK, SK: key.SK }, expect }
}
