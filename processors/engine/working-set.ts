import { stamped, type Item, type Key, type Stored } from '../../projections/item.ts'
import type { BuildTarget } from './build.ts'
import { createKeyFilter } from './key-filter.ts'

/** A bounded set of items in memory over a local store; what changed is flushed, sorted, with the checkpoints. */
export interface WorkingSet {
  find(key: Key): Stored | undefined
  /** These lie in the target already. */
  know(items: readonly Stored[]): void
  /** `bytes`: about what it weighs. */
  put(item: Item, offset: number, bytes: number): void
  remove(key: Key): void
  isFull(): boolean
  /** Begins to write what changed; the write before it is waited for first, so folding goes on meanwhile. */
  flush(checkpoints: ReadonlyMap<number, number>): Promise<void>
  settled(): Promise<void>
}

export interface WorkingSetOptions {
  /** About as many bytes as may change before they are flushed. */
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

/** Two generations make a cheap recency order: what was not asked for since the last turn but one is let go. */
const createSlots = () => {
  let young: Slots = new Map()
  let old: Slots = new Map()
  let lastPk = ''
  let lastRow: Map<string, Slot> | undefined

  /** A fold's keys mostly share their PK: the row is looked for once. */
  const rowOf = (PK: string): Map<string, Slot> | undefined => {
    if (lastRow !== undefined && PK === lastPk) return lastRow
    lastPk = PK
    lastRow = young.get(PK)
    return lastRow
  }
  const keep = (slot: Slot): Slot => {
    const { PK, SK } = slot.key
    const row = rowOf(PK)
    if (row !== undefined) row.set(SK, slot)
    else {
      lastRow = new Map([[SK, slot]])
      young.set(PK, lastRow)
    }
    return slot
  }
  const find = ({ PK, SK }: Key): Slot | undefined => {
    const slot = rowOf(PK)?.get(SK)
    if (slot !== undefined) return slot
    const kept = old.get(PK)?.get(SK)
    return kept && keep(kept)
  }
  /** What changed, in the order of the keys; a new turn begins. */
  const turn = () => {
    const changes = changesOf(young)
    old = young
    young = new Map()
    lastRow = undefined
    return changes
  }
  return { keep, find, turn }
}

export const createWorkingSet = (target: BuildTarget, { limit, fresh }: WorkingSetOptions): WorkingSet => {
  const slots = createSlots()
  // Every key that was ever put: most keys are asked for once, before they are first written, and then need no look anywhere.
  const seen = fresh ? createKeyFilter() : undefined
  let bytes = 0
  let writing: Promise<void> = Promise.resolve()

  const set = (key: Key, item: Stored | undefined) => {
    const slot = seen?.isNew(key) ? undefined : slots.find(key)
    if (slot === undefined) slots.keep({ key, item, dirty: true })
    else {
      slot.item = item
      slot.dirty = true
    }
  }
  const find = (key: Key): Stored | undefined => {
    if (seen !== undefined && !seen.mayHold(key)) return undefined
    const slot = slots.find(key)
    if (slot !== undefined) return slot.item
    const item = target.peek(key)
    return item && slots.keep({ key, item, dirty: false }).item
  }
  const flush = async (checkpoints: ReadonlyMap<number, number>) => {
    await writing
    const { puts, removes } = slots.turn()
    bytes = 0
    writing = target.write(puts, removes, new Map(checkpoints))
    writing.catch(() => undefined)
  }
  return {
    find,
    know: (items) => {
      for (const item of items) seen?.isNew(item)
    },
    put: (item, offset, weight) => {
      bytes += weight
      set(item, stamped(item, offset))
    },
    remove: (key) => set(key, undefined),
    isFull: () => bytes >= limit,
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
