import { earliest, NOTHING_DUE, type Due } from '../../../projections/outgoing-rows.ts'
import type { Outcome } from '../../../projections/projection.ts'
import { messageOf } from '../../../schemas/fault.ts'
import type { AdvancedSpan } from '../fold/advance.ts'
import type { SortedBatch } from '../fold/sort.ts'
import type { LogRecord } from '../ports/log.ts'

/** The result of one batch. For each event below `next`: its effects are in the items, or its key is parked. */
export interface BatchResult {
  readonly partition: number
  /** The first offset of the batch. */
  readonly from: number
  /** The offset after the last event of the batch. */
  readonly next: number
  /** By offset: the outcomes other than `applied`. Undefined if the outcome must be read from the items. */
  readonly exceptions: ReadonlyMap<number, Outcome | undefined>
  readonly events: number
  readonly parked: number
  readonly conflicts: number
  /** When the sender, the timers and the fetcher have rows of this batch to send. */
  readonly due: Due
  /** `recordedAt` of the newest event in epoch milliseconds. 0 if no event could be read. */
  readonly newest: number
}

export interface Tally {
  conflicted(): void
  add(sorted: SortedBatch, advanced: readonly AdvancedSpan[]): void
  result(partition: number): BatchResult
}

/** Counts the outcomes of a batch's events. */
export const createTally = (records: readonly LogRecord[]): Tally => {
  const exceptions = new Map<number, Outcome | undefined>()
  let parked = 0
  let conflicts = 0
  let due = NOTHING_DUE
  let newest = 0

  const addParked = (offset: number, reason: string, behind = false) => {
    const known = exceptions.get(offset)
    if (known?.kind !== 'parked') parked += 1
    // An event can wait in one projection and be poison in another. Then the outcome with the error of the poison is kept.
    if (known?.kind !== 'parked' || known.behind === true || !behind)
      exceptions.set(offset, behind ? { kind: 'parked', reason, behind } : { kind: 'parked', reason })
  }
  const addSpan = ({ span, outcomes, poison, due: ofSpan }: AdvancedSpan) => {
    due = earliest(due, ofSpan)
    for (const [index, { offset, event }] of span.events.entries()) {
      if (event.meta.recordedAt > newest) newest = event.meta.recordedAt
      if (index >= outcomes.length)
        addParked(
          offset,
          poison?.error instanceof Error ? poison.error.message : 'the key is parked',
          index > outcomes.length,
        )
      else if (outcomes[index]?.kind !== 'applied' && span.decider.decides.has(event.type))
        exceptions.set(offset, outcomes[index])
    }
  }
  return {
    conflicted: () => void (conflicts += 1),
    add: (sorted, advanced) => {
      for (const each of advanced) addSpan(each)
      for (const offset of sorted.parkedOffsets)
        addParked(offset, 'an earlier event of this key could not be folded', true)
      for (const { position, error } of sorted.poisons) addParked(position.offset, messageOf(error))
    },
    result: (partition) => ({
      partition,
      from: records[0]?.offset ?? 0,
      next: (records.at(-1)?.offset ?? 0) + 1,
      exceptions,
      events: records.length,
      parked,
      conflicts,
      due,
      newest,
    }),
  }
}
