import type { Due } from '../../../projections/outgoing-rows.ts'
import type { Domain } from '../../../projections/projection.ts'
import type { Codec } from '../../../schemas/codec.ts'
import type { Cause, RowRules } from '../fold/decide.ts'
import { createOwnItems } from '../rows/own-items.ts'
import { requireStorable } from '../rows/storable.ts'
import { askChanges } from './asks.ts'
import { isOutbox, tombstonesOf } from './keys.ts'
import { outboxOf } from './outbox.ts'
import { timerChanges } from './timers.ts'

/** True if the outbox rows of the event are written. */
export type IsOutgoing = (cause: Cause) => boolean

/**
 * Returns the rules for the rows that an event writes: derived events, timers and asks get rows, and each row must fit the limits of a
 * table. `isSent` decides which events get outbox rows. Default: all. The derived events of the others are encoded too, because a derived
 * event that cannot be encoded parks the key, whoever folds it.
 */
export const rowRulesOf = (
  domain: Pick<Domain, 'name' | 'table' | 'partitions' | 'asks' | 'withoutTombstone'>,
  codec: Codec,
  isSent: IsOutgoing = () => true,
): RowRules => {
  const [outbox, timers, asked] = [outboxOf(codec), timerChanges(codec), askChanges(domain.asks)]
  return {
    outgoing: (cause, { derived = [], timers: set = [], asks: requested = [] }, get) => {
      const encoded = outbox(cause, derived)
      const rows = encoded.length > 0 && isSent(cause) ? encoded : []
      const [timerRows, askRows] = [timers(cause, set, get), asked(cause, requested, get)]
      return {
        changes: [...rows, ...timerRows, ...askRows],
        // Counts the derived events instead of their outbox rows: a build writes no outbox rows and must reach the same decision.
        count: derived.length + timerRows.length + askRows.length,
        due: {
          ...(rows.length > 0 && { sender: 0 }),
          ...dueAt('timers', set),
          ...dueAt('fetcher', requested),
        } satisfies Due,
      }
    },
    measure: (change) => requireStorable(domain.table, change),
    isWrittenOnce: isOutbox,
    leavesTombstone: tombstonesOf(domain),
    ownItems: createOwnItems(domain),
  }
}

const dueAt = (role: keyof Due, set: readonly { readonly at: number | null }[]): Due => {
  const times = set.flatMap(({ at }) => at ?? [])
  return times.length === 0 ? {} : { [role]: Math.min(...times) }
}
