import type { Key, Stored } from '../../../projections/item.ts'
import type { Packed, Packing } from './build-target.ts'

/** An item as an object (`item`) or packed (`bytes`). Neither: the item was removed. */
export interface Slot extends Key {
  item: Stored | undefined
  bytes: Buffer | undefined
  start: number
  end: number
  weight: number
  dirty: boolean
  /** The last batch that used it. */
  batch: number
}

interface Row {
  /** One string for all slots of the row. */
  readonly PK: string
  readonly slots: Map<string, Slot>
}

export interface Changes {
  readonly puts: readonly (Stored | Packed)[]
  readonly removes: readonly Key[]
}

/** Slots by PK and then by SK: with a joined key, each lookup would hash a new string. */
export const createSlots = () => {
  const rows = new Map<string, Row>()
  let last: Row | undefined
  /** Remembers the last row, because the keys of a fold mostly have the same PK. */
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
    /** The changed items, sorted by key, so that the store writes each page once. */
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

/** Additional room for the items between the limit and the next flush, at most as large as the limit. */
const SPARE = 1024 * 1024
const NO_BYTES = Buffer.alloc(0)

/** Packs items into one of two buffers while the other one is written. */
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
    /** Returns false if there is no room, or the item must stay an object. */
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
