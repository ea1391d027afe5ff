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

/** Items as the bytes that will be stored: a build holds many, and as objects the collector would carry them about. */
export interface Packing {
  /** Where the item ends that was written at `at`, or -1 where it must remain an object. There must be room for its size. */
  pack(item: Stored, bytes: Buffer, at: number): number
  unpack(bytes: Buffer, at: number): Stored
}

export interface Packed extends Key {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

export const isPacked = (put: Stored | Packed): put is Packed => put['bytes'] instanceof Buffer
