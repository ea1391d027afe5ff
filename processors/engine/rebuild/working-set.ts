import { stamped, type Item, type Key, type Stored } from '../../../projections/item.ts'
import type { BuildTarget } from './build-target.ts'
import { createKeyFilter } from './key-filter.ts'
import { createPacker, createSlots, type Slot } from './slots.ts'

/** A limited number of items in memory, in front of a local store. A flush writes the changed items, sorted, and the checkpoints to this store. */
export interface WorkingSet {
  find(key: Key): Stored | undefined
  /** Registers items that the local store has already, so that `find` reads them from there. */
  registerStored(items: readonly Stored[]): void
  /** `weight` is at least the size of the item in the store, in bytes. */
  put(item: Item, offset: number, weight: number): void
  remove(key: Key): void
  /**
   * Saves memory after a batch: converts changed items that were not used lately to bytes, and removes unchanged ones. Called between two
   * batches.
   */
  packIdle(): void
  isFull(): boolean
  /** Waits for the write of the last flush, then starts to write the changed items. Folding continues during the write. */
  flush(checkpoints: ReadonlyMap<number, number>): Promise<void>
  /** Resolves when the write of the last flush has ended. */
  flushed(): Promise<void>
}

export interface WorkingSetOptions {
  /** The approximate size in bytes of the changed items at which the set is full. */
  readonly limit: number
  /** True if the target has no items except those that this working set registers or flushes. */
  readonly fresh: boolean
  /** The approximate number of events that will be folded. */
  readonly events: number
}

/** Tracks which slots (items in memory) the present batch and the batch before used. */
const createRecent = () => {
  let batch = 0
  let used: Slot[] = []
  let usedBefore: Slot[] = []
  return {
    touch: (slot: Slot): Slot => {
      if (slot.batch !== batch) {
        slot.batch = batch
        used.push(slot)
      }
      return slot
    },
    /** Begins a batch. Returns the slots that the last batch did not use but the batch before it did. */
    next: (): readonly Slot[] => {
      const cold = usedBefore.filter((slot) => slot.batch !== batch)
      usedBefore = used
      used = []
      batch += 1
      return cold
    },
    clear: (): readonly Slot[] => {
      const all = [...usedBefore, ...used]
      used = usedBefore = []
      batch += 1
      return all
    },
  }
}

export const createWorkingSet = (target: BuildTarget, { limit, fresh, events }: WorkingSetOptions): WorkingSet => {
  // All keys that were ever put. Most reads are for keys that were never put: these reads need no lookup. Undefined if the target has other items.
  const seen = fresh ? createKeyFilter(events) : undefined
  const { pack, itemOf, ...packer } = createPacker(target.packing, limit)
  const recent = createRecent()
  let slots = createSlots()
  /** The slots whose items are being written to the local store. */
  let writingSlots = createSlots()
  /** The size of the changed items that are in memory as objects and not as bytes. */
  let weight = 0
  let writing: Promise<void> = Promise.resolve()

  const find = (key: Key): Stored | undefined => {
    if (seen !== undefined && !seen.mayContain(key)) return undefined
    const slot = slots.find(key)
    if (slot !== undefined) return (recent.touch(slot).item = itemOf(slot))
    const unwritten = writingSlots.find(key)
    const item = unwritten === undefined ? target.peek(key) : itemOf(unwritten)
    return item && recent.touch(slots.add(key, item)).item
  }
  const set = (key: Key, item: Stored | undefined, itemWeight: number) => {
    const slot = recent.touch((seen?.add(key) ? undefined : slots.find(key)) ?? slots.add(key, item))
    weight += itemWeight - (slot.bytes === undefined ? slot.weight : 0)
    slot.item = item
    slot.bytes = undefined
    slot.weight = itemWeight
    slot.dirty = true
  }
  const packOrDrop = (slot: Slot) => {
    if (slot.item === undefined) return
    if (!slot.dirty) slots.drop(slot)
    else if (slot.bytes !== undefined) slot.item = undefined
    else if (pack(slot, slot.item)) weight -= slot.weight
  }
  const flush = async (checkpoints: ReadonlyMap<number, number>) => {
    await writing
    recent.clear().forEach(packOrDrop)
    const { puts, removes } = slots.changes()
    writingSlots = slots
    slots = createSlots()
    packer.swap()
    weight = 0
    writing = target.write(puts, removes, new Map(checkpoints)).then(() => {
      writingSlots = createSlots()
    })
    writing.catch(() => undefined)
  }
  return {
    find,
    registerStored: (items) => {
      for (const item of items) seen?.add(item)
    },
    put: (item, offset, itemWeight) => set(item, stamped(item, offset), itemWeight),
    remove: (key) => set(key, undefined, 0),
    packIdle: () => recent.next().forEach(packOrDrop),
    isFull: () => weight >= limit || packer.isFull(),
    flush,
    flushed: () => writing,
  }
}
