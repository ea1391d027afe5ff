import { stamped, type Item, type Key, type Stored } from '../../projections/item.ts'
import type { BuildTarget } from './build-target.ts'
import { createKeyFilter } from './key-filter.ts'
import { createPress, createSlots, type Slot } from './slots.ts'

/** A bounded set of items in memory over a local store; what changed is flushed, sorted, with the checkpoints. */
export interface WorkingSet {
  find(key: Key): Stored | undefined
  /** These lie in the target already. */
  know(items: readonly Stored[]): void
  /** `weight`: at least its bytes in the store. */
  put(item: Item, offset: number, weight: number): void
  remove(key: Key): void
  /** Between two batches: what was not asked for in the last one is packed. */
  rest(): void
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
  /** About how many events will be folded. */
  readonly events: number
}

/** Those asked for in this batch and in the one before. */
const createRecent = () => {
  let batch = 0
  let asked: Slot[] = []
  let askedBefore: Slot[] = []
  return {
    touch: (slot: Slot): Slot => {
      if (slot.batch !== batch) {
        slot.batch = batch
        asked.push(slot)
      }
      return slot
    },
    /** A new batch begins; those that the last one did not ask for any more. */
    turn: (): readonly Slot[] => {
      const cold = askedBefore.filter((slot) => slot.batch !== batch)
      askedBefore = asked
      asked = []
      batch += 1
      return cold
    },
    clear: (): readonly Slot[] => {
      const all = [...askedBefore, ...asked]
      asked = askedBefore = []
      batch += 1
      return all
    },
  }
}

export const createWorkingSet = (target: BuildTarget, { limit, fresh, events }: WorkingSetOptions): WorkingSet => {
  // Every key that was ever put: most keys are asked for once, before they are first written, and then need no look anywhere.
  const seen = fresh ? createKeyFilter(events) : undefined
  const { press, itemOf, ...arenas } = createPress(target.packing, limit)
  const recent = createRecent()
  let slots = createSlots()
  /** Those being written. */
  let flying = createSlots()
  /** Of the items that changed and are not packed. */
  let weight = 0
  let writing: Promise<void> = Promise.resolve()

  const find = (key: Key): Stored | undefined => {
    if (seen !== undefined && !seen.mayHold(key)) return undefined
    const slot = slots.find(key)
    if (slot !== undefined) return (recent.touch(slot).item = itemOf(slot))
    const flown = flying.find(key)
    const item = flown === undefined ? target.peek(key) : itemOf(flown)
    return item && recent.touch(slots.keep(key, item)).item
  }
  const set = (key: Key, item: Stored | undefined, heavy: number) => {
    const slot = recent.touch((seen?.isNew(key) ? undefined : slots.find(key)) ?? slots.keep(key, item))
    weight += heavy - (slot.bytes === undefined ? slot.weight : 0)
    slot.item = item
    slot.bytes = undefined
    slot.weight = heavy
    slot.dirty = true
  }
  const cool = (slot: Slot) => {
    if (slot.item === undefined) return
    if (!slot.dirty) slots.drop(slot)
    else if (slot.bytes !== undefined) slot.item = undefined
    else if (press(slot, slot.item)) weight -= slot.weight
  }
  const flush = async (checkpoints: ReadonlyMap<number, number>) => {
    await writing
    recent.clear().forEach(cool)
    const { puts, removes } = slots.changes()
    flying = slots
    slots = createSlots()
    arenas.turn()
    weight = 0
    writing = target.write(puts, removes, new Map(checkpoints)).then(() => {
      flying = createSlots()
    })
    writing.catch(() => undefined)
  }
  return {
    find,
    know: (items) => {
      for (const item of items) seen?.isNew(item)
    },
    put: (item, offset, heavy) => set(item, stamped(item, offset), heavy),
    remove: (key) => set(key, undefined, 0),
    rest: () => recent.turn().forEach(cool),
    isFull: () => weight >= limit || arenas.isFull(),
    flush,
    settled: () => writing,
  }
}
