import type { Item, Key, Stored } from '../../projections/item.ts'
import type { BuildTarget } from './build.ts'
import { createKeyFilter } from './key-filter.ts'

/** A bounded set of items in memory over a local store; what changed is flushed, sorted, with the checkpoints. */
export interface WorkingSet {
  find(key: Key): Stored | undefined
  /** These lie in the target already. */
  know(items: readonly Stored[]): void
  put(item: Item, offset: number): void
  remove(key: Key): void
  isFull(): boolean
  /** Begins to write what changed; the write before it is waited for first, so folding goes on meanwhile. */
  flush(checkpoints: ReadonlyMap<number, number>): Promise<void>
  settled(): Promise<void>
}

export interface WorkingSetOptions {
  readonly limit: number
  /** Nothing is in the target that is not told by `know` or flushed from here. */
  readonly fresh: boolean
}

interface Slot {
  readonly key: Key
  item: Stored | undefined
  dirty: boolean
}

/** By PK, then by SK: a fold asks for a key and then writes it, and the two strings keep their hashes in between. */
type Slots = Map<string, Map<string, Slot>>

export const createWorkingSet = (target: BuildTarget, { limit, fresh }: WorkingSetOptions): WorkingSet => {
  // Two generations make a cheap recency order: what was not asked for since the last flush but one is let go.
  let young: Slots = new Map()
  let old: Slots = new Map()
  let size = 0
  let writing: Promise<void> = Promise.resolve()
  const flushed = fresh ? createKeyFilter() : undefined

  const keep = (slot: Slot): Slot => {
    const { PK, SK } = slot.key
    const row = young.get(PK)
    if (row === undefined) young.set(PK, new Map([[SK, slot]]))
    else row.set(SK, slot)
    size += 1
    return slot
  }
  const slotOf = ({ PK, SK }: Key): Slot | undefined => {
    const slot = young.get(PK)?.get(SK)
    if (slot !== undefined) return slot
    const kept = old.get(PK)?.get(SK)
    return kept && keep(kept)
  }
  const set = (key: Key, item: Stored | undefined) => {
    const slot = slotOf(key)
    if (slot === undefined) keep({ key, item, dirty: true })
    else {
      slot.item = item
      slot.dirty = true
    }
  }
  const find = (key: Key): Stored | undefined => {
    const slot = slotOf(key)
    if (slot !== undefined) return slot.item
    if (flushed !== undefined && !flushed.mayHold(key)) return undefined
    const item = target.peek(key)
    // What is absent is not kept: most keys are asked for once, before they are first written.
    return item && keep({ key, item, dirty: false }).item
  }
  const flush = async (checkpoints: ReadonlyMap<number, number>) => {
    await writing
    const { puts, removes } = changesOf(young)
    for (const item of puts) flushed?.add(item)
    old = young
    young = new Map()
    size = 0
    writing = target.write(puts, removes, new Map(checkpoints))
    writing.catch(() => undefined)
  }
  return {
    find,
    know: (items) => {
      for (const item of items) flushed?.add(item)
    },
    put: (item, offset) => set(item, stamped(item, offset)),
    remove: (key) => set(key, undefined),
    isFull: () => size >= limit,
    flush,
    settled: () => writing,
  }
}

/** In the order of the keys, so that the store writes its pages once. */
const changesOf = (slots: Slots): { readonly puts: readonly Stored[]; readonly removes: readonly Key[] } => {
  const puts: Stored[] = []
  const removes: Key[] = []
  for (const pk of [...slots.keys()].sort()) {
    const row = slots.get(pk) as Map<string, Slot>
    for (const sk of [...row.keys()].sort()) {
      const slot = row.get(sk) as Slot
      if (!slot.dirty) continue
      slot.dirty = false
      if (slot.item === undefined) removes.push(slot.key)
      else puts.push(slot.item)
    }
  }
  return { puts, removes }
}

/** In place: what a fold answered with is the build's own, and copying every item once more is what a build would mostly do. */
const stamped = (item: Item & { _pos?: number }, offset: number): Stored => {
  item._pos = offset
  return item as Stored
}
