import type { Item, Key } from './item.ts'

/** One item as an event found it and left it; absent is undefined. */
export interface Change extends Key {
  readonly before: Item | undefined
  readonly after: Item | undefined
}

export type Lines = readonly (readonly string[])[]

/** How one kind of item is told to people, where a list of changed attributes would say little. */
export interface Telling {
  /** Of items whose sort key begins so. */
  readonly sk: string
  readonly head: readonly string[]
  /** Those of its columns that are numbers. */
  readonly numbers: readonly string[]
  /** Begins to tell one item: what every event of the key changed is heard in order. */
  begin(item: Key): {
    /** The lines of an event; none where it did not change the item. */
    hear(changes: readonly Change[]): Lines
    /** What stands under it all. */
    end(): readonly string[]
  }
}
