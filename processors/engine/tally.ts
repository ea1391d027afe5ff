import type { Outcome } from '../../projections/projection.ts'
import { messageOf } from '../../schemas/fault.ts'
import type { Advanced } from './advance.ts'
import type { LogRecord } from './log.ts'
import type { Sorted } from './sort.ts'

/** What one batch came to. Every event below `next` is in the items, or its key is parked. */
export interface Passed {
  readonly partition: number
  /** The first offset of the batch, and the one behind its last. */
  readonly from: number
  readonly next: number
  /** Events that were not simply applied; `undefined` where only the items can tell. */
  readonly exceptions: ReadonlyMap<number, Outcome | undefined>
  readonly events: number
  readonly parked: number
  readonly conflicts: number
  /** Whether something was put into the outbox. */
  readonly sends: boolean
  /** `recordedAt` of the newest event, epoch milliseconds; 0 when none could be read. */
  readonly newest: number
}

export interface Tally {
  conflicted(): void
  add(sorted: Sorted, advanced: readonly Advanced[]): void
  passed(partition: number): Passed
}

/** Counts what becomes of a batch's events, slice by slice. */
export const createTally = (records: readonly LogRecord[]): Tally => {
  const exceptions = new Map<number, Outcome | undefined>()
  let parked = 0
  let conflicts = 0
  let sends = false
  let newest = 0

  const stands = (offset: number, reason: string, behind = false) => {
    const known = exceptions.get(offset)
    if (known?.kind !== 'parked') parked += 1
    // Where it waits in one projection and could not be folded in another, the latter is what its sender must hear.
    if (known?.kind !== 'parked' || known.behind === true || !behind) exceptions.set(offset, behind ? { kind: 'parked', reason, behind } : { kind: 'parked', reason })
  }
  const addSpan = ({ span, outcomes, poison, sends: some }: Advanced) => {
    sends ||= some
    for (const [index, { offset, event }] of span.heard.entries()) {
      if (event.meta.recordedAt > newest) newest = event.meta.recordedAt
      if (index >= outcomes.length) stands(offset, poison?.error instanceof Error ? poison.error.message : 'the key is parked', index > outcomes.length)
      else if (outcomes[index]?.kind !== 'applied' && span.decider.decides.has(event.type)) exceptions.set(offset, outcomes[index])
    }
  }
  return {
    conflicted: () => void (conflicts += 1),
    add: (sorted, advanced) => {
      for (const one of advanced) addSpan(one)
      for (const offset of sorted.parked) stands(offset, 'an earlier event of this key could not be folded', true)
      for (const { position, error } of sorted.poisons) stands(position.offset, messageOf(error))
    },
    passed: (partition) => ({
      partition,
      from: records[0]?.offset ?? 0,
      next: (records.at(-1)?.offset ?? 0) + 1,
      exceptions,
      events: records.length,
      parked,
      conflicts,
      sends,
      newest,
    }),
  }
}
