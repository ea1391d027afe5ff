import type { Key, Stored } from '../../projections/item.ts'
import type { Store } from './store.ts'

/** A local store that reads without await and takes many items in one unconditional transaction. */
export interface BuildTarget extends Store {
  readonly peek: (key: Key) => Stored | undefined
  /** How many items there are. */
  count(): Promise<number>
  write(puts: readonly (Stored | Packed)[], removes: readonly Key[], checkpoints: ReadonlyMap<number, number>): Promise<void>
  /** Where the store can write items that were packed before. */
  readonly packing?: Packing
}

/** Items as the bytes that will be stored: a build holds many, and as objects they cost much garbage collection. */
export interface Packing {
  /** Writes the item to `bytes` at `at` and returns the offset of its end. Returns -1 if the item must remain an object. There must be room for its size. */
  pack(item: Stored, bytes: Buffer, at: number): number
  unpack(packed: Packed): Stored
}

export interface Packed extends Key {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

export const isPacked = (put: Stored | Packed): put is Packed => put['bytes'] instanceof Buffer
