import { isTombstone, type Item, type Key } from '../../../projections/item.ts'
import { IDEM, isOutcome } from '../fold/keys.ts'
import { DERIVED, isAsk, isOutbox, isTimer } from '../outgoing/keys.ts'
import { isParkedEntry } from '../poison/keys.ts'

/**
 * True for rows of requests (`IDEM#`), of events to send (`OUTBOX#`) and of the positions of sent events (`DERIVED#`). These rows record
 * what the engine did. A comparison of two generations leaves them out.
 */
export const isRequestOrOutbox = (key: Key): boolean =>
  key.PK.startsWith(IDEM) || isOutbox(key) || key.PK.startsWith(DERIVED)

/** True for a row that the engine writes in the table of a generation, next to the items of the domain. */
export const isBookkeeping = (key: Key): boolean =>
  isRequestOrOutbox(key) || isOutcome(key) || isParkedEntry(key) || isTimer(key) || isAsk(key)

/** True for a row that depends on what was sent, healed or removed, and not only on the log. A verification skips such rows. */
export const isTransient = (item: Item): boolean =>
  isOutbox(item) || item.PK.startsWith(DERIVED) || isParkedEntry(item) || isTombstone(item)
