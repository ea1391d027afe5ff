import { Fault } from '../schemas/fault.ts'
import { isTombstone, type Item, type Key, type Stored } from './item.ts'

/** One change of one item. A feed returns the changes of an item in order. It can return the same version twice. */
export interface ItemChange extends Key {
  /** The offset of the event that made the change. */
  readonly version: number
  /** Undefined if the item was removed. */
  readonly item: Item | undefined
  /** True if the item was removed because its TTL had passed. Absent if an event changed or removed the item. */
  readonly expired?: true
}

export interface ChangePage {
  readonly changes: readonly ItemChange[]
  /** The position after this page. */
  readonly cursor: string
}

/**
 * The changes of one generation's table. A feed only notifies: the items are the source of truth, and a follower can
 * read them again at any time.
 */
export interface ChangeFeed {
  /**
   * Follows the changes after a cursor, or from now on. The first page arrives at once and can be empty. Later pages
   * contain every change that is committed after the first page. Throws the fault `changes-trimmed` if the changes
   * after the cursor are no longer stored. Then the caller must read the items again.
   */
  follow(from: { readonly after?: string; readonly signal: AbortSignal }): AsyncIterable<ChangePage>
}

/** The fault for a cursor whose changes are no longer stored. */
export const changesTrimmed = (): Fault =>
  new Fault(
    'changes-trimmed',
    'The changes after this cursor are no longer stored. Read the items again, and follow the changes from now on.',
  )

/** The change that a stored item represents. For a tombstone, `item` is undefined. */
export const changeOf = (stored: Stored): ItemChange => ({
  PK: stored.PK,
  SK: stored.SK,
  version: stored._pos,
  item: isTombstone(stored) ? undefined : stored,
})
