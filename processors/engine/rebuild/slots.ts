import type { Key, Stored } from '../../../projections/item.ts'
import type { Packed, Packing } from './build-target.ts'

/** An item in memory: as an object (`item`), packed (its `bytes` from `start` to `end`), or both. If both are undefined, the item was removed. */
export interface Slot extends Key {
  item: Stored | undefined
  bytes: Buffer | undefined
  start: number
  end: number
  weight: number
  dirty: boolean
  /** The number of the last batch that used the slot. */
  batch: number
}

interface Row {
  /** All slots of the row use this string, which saves memory. */
  readonly PK: string
  readonly slots: Map<string, Slot>
}

export interface Changes {
  readonly puts: readonly (Stored | Packed)[]
  readonly removes: readonly Key[]
}

/** Keeps the slots in a map by PK of maps by SK. With one map by a joined key, each lookup would create and hash a new string. */
export const createSlots = () => {
  const rows = new Map<string, Row>()
  let last: Row | undefined
  /** The row of one PK. The last row is kept, because the keys of a fold mostly have the same PK. */
  const rowOf = (PK: string): Row | undefined => (last?.PK === PK ? last : (last = rows.get(PK)))
  const newRow = (PK: string): Row => {
    const row = { PK, slots: new Map<string, Slot>() }
    rows.set(PK, row)
    return row
  }
  return {
    find: ({ PK, SK }: Key): Slot | undefined => rowOf(PK)?.slots.get(SK),
    add: ({ PK, SK }: Key, item: Stored | undefined): Slot => {
      const row = rowOf(PK) ?? newRow(PK)
      const slot: Slot = {
        PK: row.PK,
        SK,
        item,
        bytes: undefined,
        start: 0,
        end: 0,
        weight: 0,
        dirty: false,
        batch: -1,
      }
      row.slots.set(SK, slot)
      return slot
    },
    drop: ({ PK, SK }: Key): void => void rows.get(PK)?.slots.delete(SK),
    /** Returns the changed items, sorted by key, so that the store writes each page once. */
    changes: (): Changes => {
      const puts: (Stored | Packed)[] = []
      const removes: Key[] = []
      for (const pk of [...rows.keys()].sort()) {
        const { slots } = rows.get(pk) as Row
        for (const sk of [...slots.keys()].sort()) {
          const slot = slots.get(sk) as Slot
          if (!slot.dirty) continue
          if (slot.item !== undefined) puts.push(slot.item)
          else if (isPacked(slot)) puts.push(slot)
          else removes.push(slot)
        }
      }
      return { puts, removes }
    },
  }
}

const isPacked = (slot: Slot): slot is Slot & Packed => slot.bytes !== undefined

/**
 * The bytes of a buffer beyond its limit (fewer if the limit is smaller than this): room for the items that are packed after the limit was
 * reached and before the next flush.
 */
const SPARE = 1024 * 1024
const NO_BYTES = Buffer.alloc(0)

/** Packs items (converts them to bytes) into one of two buffers while the other buffer is written to the store. */
export const createPacker = (packing: Packing | undefined, limit: number) => {
  const arena = (): Buffer =>
    packing === undefined ? NO_BYTES : Buffer.allocUnsafeSlow(limit + Math.min(limit, SPARE))
  let [filling, writing] = [arena(), arena()]
  let used = 0
  return {
    isFull: (): boolean => used >= limit,
    swap: (): void => {
      ;[filling, writing] = [writing, filling]
      used = 0
    },
    /** Packs the item into the slot. Returns false if there is no room, or if the item must stay an object. */
    pack: (slot: Slot, item: Stored): boolean => {
      if (packing === undefined || filling.length - used < slot.weight) return false
      const end = packing.pack(item, filling, used)
      if (end < 0) return false
      slot.bytes = filling
      slot.start = used
      slot.end = used = end
      slot.item = undefined
      return true
    },
    itemOf: (slot: Slot): Stored | undefined => slot.item ?? (isPacked(slot) ? packing?.unpack(slot) : undefined),
  }
}
