import type { Key, Stored } from '../../projections/item.ts'
import type { Packed, Packing } from './build-target.ts'

/** An item, the bytes it was packed to, or neither where it was removed. */
export interface Slot extends Key {
  item: Stored | undefined
  bytes: Buffer | undefined
  start: number
  end: number
  weight: number
  dirty: boolean
  /** The batch in which it was asked for last. */
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

/** By PK, then by SK: a fold asks for a key and then writes it, and the two strings keep their hashes in between. */
export const createSlots = () => {
  const rows = new Map<string, Row>()
  let last: Row | undefined
  /** A fold's keys mostly share their PK: the row is looked for once. */
  const rowOf = (PK: string): Row | undefined => (last?.PK === PK ? last : (last = rows.get(PK)))
  const newRow = (PK: string): Row => {
    const row = { PK, slots: new Map<string, Slot>() }
    rows.set(PK, row)
    return row
  }
  return {
    find: ({ PK, SK }: Key): Slot | undefined => rowOf(PK)?.slots.get(SK),
    keep: ({ PK, SK }: Key, item: Stored | undefined): Slot => {
      const row = rowOf(PK) ?? newRow(PK)
      const slot: Slot = { PK: row.PK, SK, item, bytes: undefined, start: 0, end: 0, weight: 0, dirty: false, batch: -1 }
      row.slots.set(SK, slot)
      return slot
    },
    drop: ({ PK, SK }: Key): void => void rows.get(PK)?.slots.delete(SK),
    /** In the order of the keys, so that the store writes its pages once. */
    changes: (): Changes => {
      const puts: (Stored | Packed)[] = []
      const removes: Key[] = []
      for (const pk of [...rows.keys()].sort()) {
        const { slots } = rows.get(pk) as Row
        for (const sk of [...slots.keys()].sort()) {
          const slot = slots.get(sk) as Slot
          if (!slot.dirty) continue
          if (slot.item !== undefined) puts.push(slot.item)
          else if (isPressed(slot)) puts.push(slot)
          else removes.push(slot)
        }
      }
      return { puts, removes }
    },
  }
}

const isPressed = (slot: Slot): slot is Slot & Packed => slot.bytes !== undefined

/** Room behind the limit for what comes until the next flush; at most as much again. */
const SPARE = 1024 * 1024
const NO_BYTES = Buffer.alloc(0)

/** Two stretches of memory that take turns: one is filled while the other is written. */
export const createPress = (packing: Packing | undefined, limit: number) => {
  const arena = (): Buffer => (packing === undefined ? NO_BYTES : Buffer.allocUnsafeSlow(limit + Math.min(limit, SPARE)))
  let [filling, writing] = [arena(), arena()]
  let used = 0
  return {
    isFull: (): boolean => used >= limit,
    turn: (): void => {
      [filling, writing] = [writing, filling]
      used = 0
    },
    /** False where there is no room, or the item must remain what it is. */
    press: (slot: Slot, item: Stored): boolean => {
      if (packing === undefined || filling.length - used < slot.weight) return false
      const end = packing.pack(item, filling, used)
      if (end < 0) return false
      slot.bytes = filling
      slot.start = used
      slot.end = used = end
      slot.item = undefined
      return true
    },
    itemOf: (slot: Slot): Stored | undefined => slot.item ?? (isPressed(slot) ? packing?.unpack(slot) : undefined),
  }
}
