import type { Key, Stored } from '../../../projections/item.ts'
import type { Store } from '../ports/store.ts'

/** A local store that reads without await. It writes many items in one transaction and does not check their `_pos`. */
export interface BuildTarget extends Store {
  readonly peek: (key: Key) => Stored | undefined
  /** The number of items. */
  count(): Promise<number>
  write(
    puts: readonly (Stored | Packed)[],
    removes: readonly Key[],
    checkpoints: ReadonlyMap<number, number>,
  ): Promise<void>
  /** Converts items to bytes before they are written. Absent if the store writes only objects. */
  readonly packing?: Packing
}

/**
 * Converts items to the bytes that the store writes. A build has many items in memory, and objects make more work for the garbage collector
 * than bytes.
 */
export interface Packing {
  /**
   * Writes the item to `bytes` at `at` and returns the offset of its end. Returns -1 if the item must stay an object. `bytes` must have
   * room for the item's size.
   */
  pack(item: Stored, bytes: Buffer, at: number): number
  unpack(packed: Packed): Stored
}

export interface Packed extends Key {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

export const isPacked = (put: Stored | Packed): put is Packed => put['bytes'] instanceof Buffer
