import type { Item, Key } from './item.ts'
import type { Change } from './projection.ts'

/** Returns the stored item, also if it is expired, or the tombstone. Undefined if there is none. */
export type Find = (key: Key) => Item | undefined

/** Checks that a fold uses only items of the log key of its event. Each function throws the fault `foreign-item` otherwise. */
export interface OwnItems {
  requireRead(key: Key, logKey: string, find: Find): void
  requireWrite(change: Change, logKey: string, find: Find): void
}
