import { keyOf, type Item, type Key, type Stored } from '../../projections/item.ts'
import type { BuildTarget } from './build.ts'

/** A bounded set of items in memory over a local store; what changed is flushed, sorted, with the checkpoints. */
export interface WorkingSet {
  find(key: Key): Stored | undefined
  put(item: Item, offset: number): void
  remove(key: Key): void
  isFull(): boolean
  /** Begins to write what changed; the write before it is waited for first, so folding goes on meanwhile. */
  flush(checkpoints: ReadonlyMap<number, number>): Promise<void>
  settled(): Promise<void>
}

/** Which keys were ever flushed, or perhaps were: most keys a build asks for are new, and asking the store for them is the dearest part of a fold. */
const createFilter = () => {
  const bits = new Int32Array(1 << 22)
  const mixed = (id: string): number => {
    let hash = 0x811c9dc5
    for (let index = 0; index < id.length; index += 1) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193)
    return hash
  }
  const first = (hash: number): number => (hash ^ (hash >>> 15)) & FILTER_MASK
  const second = (hash: number): number => Math.imul(hash, 0x9e3779b1) >>> 5 & FILTER_MASK
  const has = (at: number): boolean => ((bits[at >>> 5] as number) & (1 << (at & 31))) !== 0
  const set = (at: number) => {
    bits[at >>> 5] = (bits[at >>> 5] as number) | (1 << (at & 31))
  }
  return {
    add: (id: string) => {
      const hash = mixed(id)
      set(first(hash))
      set(second(hash))
    },
    mayHold: (id: string): boolean => {
      const hash = mixed(id)
      return has(first(hash)) && has(second(hash))
    },
  }
}
const FILTER_MASK = (1 << 27) - 1

interface Slot {
  readonly key: Key
  item: Stored | undefined
  dirty: boolean
}

export interface WorkingSetOptions {
  readonly limit: number
  /** Nothing was written to the target before: what was not flushed here is not there. */
  readonly fresh: boolean
}

export const createWorkingSet = (target: BuildTarget, { limit, fresh }: WorkingSetOptions): WorkingSet => {
  // Two generations make a cheap recency order: what was not asked for since the last flush but one is let go.
  let young = new Map<string, Slot>()
  let old = new Map<string, Slot>()
  let writing: Promise<void> = Promise.resolve()
  const flushed = fresh ? createFilter() : undefined

  const slotOf = (id: string): Slot | undefined => {
    const slot = young.get(id)
    if (slot !== undefined) return slot
    const kept = old.get(id)
    if (kept !== undefined) young.set(id, kept)
    return kept
  }
  const set = (key: Key, item: Stored | undefined) => {
    const id = keyOf(key)
    const slot = slotOf(id)
    if (slot === undefined) young.set(id, { key, item, dirty: true })
    else {
      slot.item = item
      slot.dirty = true
    }
  }
  const find = (key: Key): Stored | undefined => {
    const id = keyOf(key)
    const slot = slotOf(id)
    if (slot !== undefined) return slot.item
    if (flushed !== undefined && !flushed.mayHold(id)) return undefined
    const item = target.peek(key)
    // What is absent is not kept: most keys are asked for once, before they are first written.
    if (item !== undefined) young.set(id, { key, item, dirty: false })
    return item
  }
  const flush = async (checkpoints: ReadonlyMap<number, number>) => {
    await writing
    const puts: Stored[] = []
    const removes: Key[] = []
    for (const id of [...young.keys()].sort()) {
      const slot = young.get(id) as Slot
      if (!slot.dirty) continue
      slot.dirty = false
      if (slot.item === undefined) removes.push(slot.key)
      else puts.push(slot.item)
      flushed?.add(id)
    }
    old = young
    young = new Map()
    writing = target.write(puts, removes, new Map(checkpoints))
    writing.catch(() => undefined)
  }
  return {
    find,
    put: (item, offset) => set(item, stamped(item, offset)),
    remove: (key) => set(key, undefined),
    isFull: () => young.size >= limit,
    flush,
    settled: () => writing,
  }
}

/** In place: what a fold answered with is the build's own, and copying every item once more is what a build would mostly do. */
const stamped = (item: Item & { _pos?: number }, offset: number): Stored => {
  item._pos = offset
  return item as Stored
}
