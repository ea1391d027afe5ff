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

interface Slot {
  readonly key: Key
  item: Stored | undefined
  dirty: boolean
}

export const createWorkingSet = (target: BuildTarget, limit: number): WorkingSet => {
  // Two generations make a cheap recency order: what was not asked for since the last flush but one is let go.
  let young = new Map<string, Slot>()
  let old = new Map<string, Slot>()
  let writing: Promise<void> = Promise.resolve()

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
    }
    old = young
    young = new Map()
    writing = target.write(puts, removes, new Map(checkpoints))
    writing.catch(() => undefined)
  }
  return {
    find,
    put: (item, offset) => set(item, { ...item, _pos: offset }),
    remove: (key) => set(key, undefined),
    isFull: () => young.size >= limit,
    flush,
    settled: () => writing,
  }
}
