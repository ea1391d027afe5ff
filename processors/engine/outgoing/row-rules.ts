import type { TableSpec } from '../../../projections/table.ts'
import type { Codec } from '../../../schemas/codec.ts'
import type { RowRules } from '../fold/decide.ts'
import { requireStorable } from '../rows/storable.ts'
import { isOutbox, leavesTombstone } from './keys.ts'
import { outboxOf } from './outbox.ts'
import { timerChanges } from './timers.ts'

/** Returns the rules of a generation that follows the log: derived events and timers get rows, and each row must fit the limits of a table. */
export const rowRulesOf = (table: Pick<TableSpec, 'indexes'>, codec: Codec): RowRules => ({
  outbox: outboxOf(codec),
  timers: timerChanges(codec),
  measure: (change) => requireStorable(table, change),
  isWrittenOnce: isOutbox,
  leavesTombstone,
})
