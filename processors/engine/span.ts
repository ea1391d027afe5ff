import { isExpired, keyOf, type Item, type Key, type Stored, type Value } from '../../projections/item.ts'
import type { Change, Get, Outcome } from '../../projections/projection.ts'
import { Fault } from '../../schemas/fault.ts'
import { decide, type Decider, type Heard } from './decide.ts'
import { isByPosition } from './keys.ts'
import { MAX_ACTIONS, MAX_CHUNK_BYTES, type Chunk, type Write } from './store.ts'

/** Some events of one log key, in order, for one projection. */
export interface KeySpan {
  readonly decider: Decider
  readonly key: string
  readonly heard: readonly Heard[]
}

/** Items as they are known: absent is `undefined`, not yet loaded is `MISSING`. */
export interface Known {
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
}

interface Entry {
  readonly key: Key
  now: Stored | undefined
  /** What the store holds before the open chunk: the condition of its write. */
  expect: number | null
  open: boolean
}

export const MAX_ITEM_BYTES = 400 * 1024

/** Folds one key's events over what is known, cut into commits that are prefixes (law 5). */
export const foldSpan = ({ decider, heard }: KeySpan, known: Known): FoldedSpan => {
  const entries = new Map<string, Entry>()
  const misses: Key[] = []
  const outcomes: (Outcome | undefined)[] = []
  const chunks = createChunks()
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

  for (const one of heard) {
    newest = -1
    at = one.event.meta.recordedAt
    try {
      const { outcome, changes } = decide(decider, one, get)
      const touched = changes.map((change) => ({ change, entry: entryOf(change) }))
      for (const { entry } of touched) if (entry.now !== undefined && entry.now._pos > newest) newest = entry.now._pos
      const before = newest >= one.offset
      outcomes.push(before ? undefined : outcome)
      if (before) continue
      chunks.add(touched, one.offset)
      sends ||= changes.some(({ PK }) => PK.startsWith('OUTBOX#'))
    } catch (error) {
      if (misses.length > 0) continue
      return { chunks: chunks.close(), outcomes, sends, poison: { heard: one, error }, misses }
    }
  }
  return { chunks: misses.length > 0 ? [] : chunks.close(), outcomes, sends, misses }
}

type Touched = readonly { readonly change: Change; readonly entry: Entry }[]

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
  const add = (touched: Touched, offset: number) => {
    const sizes = touched.map(({ change }) => sizeOfChange(change))
    const added = sizes.reduce((sum, size) => sum + size, 0)
    const fresh = touched.filter(({ entry }) => !entry.open).length
    if (open.length + fresh > MAX_ACTIONS || bytes + added > MAX_CHUNK_BYTES) cut()
    bytes += added
    for (const { change, entry } of touched) {
      entry.now = '_removed' in change ? undefined : { ...(change as Item), _pos: offset }
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

const writeOf = ({ key, now, expect }: Entry): Write | undefined => {
  if (now !== undefined) return { put: now, expect }
  return expect === null ? undefined : { remove: { PK: key.PK, SK: key.SK }, expect }
}

const sizeOfChange = (change: Change): number => {
  const size = '_removed' in change ? 100 : roughSize(change)
  if (size > MAX_ITEM_BYTES && exactSize(change as Item) > MAX_ITEM_BYTES) {
    throw new Fault('item-too-large', `The item ${change.PK} / ${change.SK} would exceed 400 KB. Fold less into one item.`)
  }
  return size
}

/** At least what the item weighs in a store, cheaply. */
const roughSize = (value: Value | undefined): number => {
  if (typeof value === 'string') return value.length * 3 + 3
  if (value === null || typeof value !== 'object') return 22
  let size = 3
  if (Array.isArray(value)) for (const member of value) size += roughSize(member as Value) + 1
  else for (const name in value) size += name.length * 3 + roughSize((value as { [name: string]: Value })[name]) + 1
  return size
}

const exactSize = (item: Item): number =>
  Buffer.byteLength(JSON.stringify(item, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member)))
