import { isTombstone, type Item, type Key } from '../../../projections/item.ts'
import { IDEM, isOutcome } from '../fold/keys.ts'
import { DERIVED, isOutbox, isTimer } from '../outgoing/keys.ts'
import { isParkedEntry } from '../poison/keys.ts'

/** Rows of requests and of events to send: they record what was done, and no rule derives them. */
export const isRequestOrOutbox = (key: Key): boolean =>
  key.PK.startsWith(IDEM) || isOutbox(key) || key.PK.startsWith(DERIVED)

/** The rows that the engine writes in the table of a generation, next to the items of the domain. */
export const isBookkeeping = (key: Key): boolean =>
  isRequestOrOutbox(key) || isOutcome(key) || isParkedEntry(key) || isTimer(key)

/** Rows that depend on what was sent, healed or removed, and not only on the log. A verification skips them. */
export const isTransient = (item: Item): boolean =>
  isOutbox(item) || item.PK.startsWith(DERIVED) || isParkedEntry(item) || isTombstone(item)
