import { Fault } from '../schemas/fault.ts'
import { isTrace, type Item, type Key, type Stored } from './item.ts'

/** One change of one item. Changes of an item come in order; a version told before may come again. */
export interface ItemChange extends Key {
  /** The position of the event that made it. */
  readonly version: number
  /** Undefined when the item is gone. */
  readonly item: Item | undefined
  /** It went because its time was over, not because somebody removed it. */
  readonly expired?: true
}

export interface ChangePage {
  readonly changes: readonly ItemChange[]
  /** Behind this page. */
  readonly cursor: string
}

/** What changes in one generation's table, as it changes. Never the truth: only what somebody who watches need not ask for again. */
export interface ChangeFeed {
  /**
   * From behind a cursor, or from now on. The first page comes at once, be it empty, and everything committed after that is in a later one.
   * Fault `changes-trimmed` where what follows the cursor is no longer known: read the items anew.
   */
  follow(from: { readonly after?: string; readonly signal: AbortSignal }): AsyncIterable<ChangePage>
}

/** What a follower is told whose cursor leads nowhere. */
export const changesTrimmed = (): Fault => new Fault('changes-trimmed', 'What changed since that cursor is no longer known. Read the items anew, and follow from there.')

/** A put as those who watch see it: what only marks a removal is one. */
export const changeOf = (stored: Stored): ItemChange => ({
  PK: stored.PK,
  SK: stored.SK,
  version: stored._pos,
  item: isTrace(stored) ? undefined : stored,
})
