import type { Event } from '../schemas/event.ts'
import type { Item, Key } from './item.ts'

/** One item before and after an event. Undefined: the item does not exist. */
export interface Change extends Key {
  readonly before: Item | undefined
  readonly after: Item | undefined
}

export type Lines = readonly (readonly string[])[]

/** Formats one kind of item for `tributary explain`. Without a formatter, `explain` lists the changed attributes. */
export interface ItemFormatter {
  /** The formatter applies to items whose sort key begins with this text. */
  readonly sk: string
  /** The names of the columns. */
  readonly head: readonly string[]
  /** The columns that contain numbers. */
  readonly numbers: readonly string[]
  /** Starts the output for one item. The caller passes the changes of every event of the key, in order. */
  begin(item: Key): {
    /** The lines of an event. Empty if the event did not change the item. */
    lines(changes: readonly Change[], event: Event): Lines
    /** The lines after the table. */
    end(): readonly string[]
  }
}
