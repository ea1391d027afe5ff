import { isExpired, keyOf, type Item, type Key, type Stored } from '../../projections/item.ts'
import type { Change, Get, Outcome } from '../../projections/projection.ts'
import { decide, type Decider, type Heard } from './decide.ts'
import { isByPosition, leavesTrace } from './keys.ts'
import { isRetriable } from './retry.ts'
import { sizeOfChange } from './size.ts'
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
  find(id: string, key: Key): Stored | undefined | typeof MISSING
}
export const MISSING = Symbol('missing')

export interface FoldedSpan {
  readonly chunks: readonly Chunk[]
  /** By event, in order; `undefined` where the items show that it was applied before. */
  readonly outcomes: readonly (Outcome | undefined)[]
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
  const entries = new Map<string, Entry>()
  const misses: Key[] = []
  const outcomes: (Outcome | undefined)[] = []
  const chunks = createChunks()
  const first = heard[0]?.offset ?? 0
  let contested = false
  let newest = -1
  let at = 0
  let sends = false

  const entryOf = (key: Key): Entry => {
    const id = keyOf(key)
    const entry = entries.get(id)
    if (entry !== undefined) return entry
    const found = known.find(id, key)
    if (found === MISSING && !isByPosition(key)) misses.push(key)
    const now = found === MISSING ? undefined : found
    contested ||= now !== undefined && now._pos >= first
    const made: Entry = { key, now, expect: now?._pos ?? null, open: false }
    entries.set(id, made)
    return made
  }
  const get: Get = <I extends Item>(key: Key) => {
    const item = entryOf(key).now
    if (item === undefined) return undefined
    if (item._pos > newest) newest = item._pos
    return isExpired(item, decider.ttl, at) ? undefined : (item as Item as I)
  }

  const result = (poison?: FoldedSpan['poison']): FoldedSpan => ({
    chunks: misses.length > 0 ? [] : chunks.close(),
    outcomes,
    sends,
    misses,
    contested: contested && !known.alone ? [...entries.values()].map(({ key }) => key) : [],
    ...(poison === undefined ? {} : { poison }),
  })

  for (const one of heard) {
    newest = -1
    at = one.event.meta.recordedAt
    try {
      const { outcome, changes } = decide(decider, one, get)
      const touched = changes.map((change) => ({ change, entry: entryOf(change) }))
      for (const { entry } of touched) if (entry.now !== undefined && entry.now._pos > newest) newest = entry.now._pos
      const before = newest >= one.offset
      // First, since it throws for an item that is too large: that event is told as parked.
      if (!before) chunks.add(touched, { offset: one.offset, trace: { [decider.ttl]: Math.floor(at / 1000) + TRACE_SECONDS } })
      outcomes.push(before ? undefined : outcome)
      sends ||= !before && changes.some(({ PK }) => PK.startsWith('OUTBOX#'))
    } catch (error) {
      // A store that cannot answer now is no fault of the event.
      if (isRetriable(error)) throw error
      if (misses.length > 0) continue
      return result({ heard: one, error })
    }
  }
  return result()
}

type Touched = readonly { readonly change: Change; readonly entry: Entry }[]

interface Mark {
  readonly offset: number
  /** What a removed item leaves beside its position. */
  readonly trace: { readonly [ttl: string]: number }
}

/** Longer than any writer can lag behind and still be heard. */
const TRACE_SECONDS = 7 * 24 * 60 * 60

/** An event is the atom: its changes go into the open chunk whole, or open the next one. */
const createChunks = () => {
  const done: Chunk[] = []
  let open: Entry[] = []
  let bytes = 0

  const cut = () => {
    const writes = open.map(writeOf).filter((write) => write !== undefined)
    for (const entry of open) {
      entry.open = false
      entry.expect = entry.now?._pos ?? null
    }
    if (writes.length > 0) done.push(writes)
    open = []
    bytes = 0
  }
  const add = (touched: Touched, mark: Mark) => {
    const sizes = touched.map(({ change }) => sizeOfChange(change))
    const added = sizes.reduce((sum, size) => sum + size, 0)
    const fresh = touched.filter(({ entry }) => !entry.open).length
    if (open.length + fresh > MAX_ACTIONS || bytes + added > MAX_CHUNK_BYTES) cut()
    bytes += added
    for (const { change, entry } of touched) {
      entry.now = '_removed' in change ? traceOf(entry.key, mark) : { ...(change as Item), _pos: mark.offset }
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

const traceOf = (key: Key, { offset, trace }: Mark): Stored | undefined =>
  leavesTrace(key) ? ({ PK: key.PK, SK: key.SK, _removed: true, ...trace, _pos: offset } as Stored) : undefined

const writeOf = ({ key, now, expect }: Entry): Write | undefined => {
  if (now !== undefined) return { put: now, expect }
  return expect === null ? undefined : { remove: { PK: key.PK, SK: key.SK }, expect }
}
