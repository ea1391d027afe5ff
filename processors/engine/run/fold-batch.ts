import { isRetriable } from '../../../schemas/fault.ts'
import { advance } from '../fold/advance.ts'
import { sortBatch, type SortedBatch } from '../fold/sort.ts'
import { extendEntry, parkedInPartition, parkedName, updateEntry } from '../poison/parked-entry.ts'
import { poisonOf } from '../poison/parking.ts'
import { isolateRejected } from '../poison/rejected-spans.ts'
import type { Assignment, LogRecord } from '../ports/log.ts'
import type { Checkpoint } from '../ports/store.ts'
import { retrying } from '../timing/retry.ts'
import { partsOf } from './batch-parts.ts'
import { park } from './park-batch.ts'
import type { PartitionWork } from './processor-parts.ts'
import { createTally, type BatchResult, type Tally } from './tally.ts'

/** Folds a batch part by part. Stops if the partition is revoked: its next owner folds the rest. */
export const foldInParts = async (
  work: PartitionWork,
  records: readonly LogRecord[],
  assignment: Assignment,
): Promise<void> => {
  const { clock, batchFolded } = work.parts
  for (const [index, part] of partsOf(records, work.parts).entries()) {
    if (index > 0) await clock.yield?.()
    if (!assignment.isCurrent()) return
    const result = await foldBatch(work, part)
    batchFolded?.(result)
  }
}

const foldBatch = async (work: PartitionWork, records: readonly LogRecord[]): Promise<BatchResult> => {
  const { parts, state, signal } = work
  const { clock, failed = () => {} } = parts
  const last = (records.at(-1) as LogRecord).offset
  const tally = createTally(records)
  await retrying(() => saveBatch(work, { records, through: last, checkpoint: state.checkpoint(last + 1), tally }), {
    clock,
    when: { error: isRetriable },
    signal,
    failed,
  })
  state.advance(last + 1)
  return tally.result(state.partition)
}

interface Saving {
  readonly records: readonly LogRecord[]
  /** The last offset of the batch. */
  readonly through: number
  readonly checkpoint: Checkpoint
  readonly tally: Tally
}

/** Writes the items first, then parks the keys of poison events, and then moves the checkpoint. */
const saveBatch = async (work: PartitionWork, { records, through, checkpoint, tally }: Saving): Promise<void> => {
  const { store, series } = work.parts
  const sorted = await sortAndExtend(work, records, through)
  const advanced = await advance({
    store,
    series,
    spans: sorted.spans,
    conflicted: tally.conflicted,
    checkpoint: sorted.poisons.length > 0 ? work.state.checkpoint() : checkpoint,
    isolate: isolateRejected,
  })
  const found = [...sorted.poisons, ...advanced.flatMap(poisonOf)]
  if (found.length > 0) {
    await park(work, found, through)
    await store.commit([], checkpoint)
  }
  tally.add(sorted, advanced)
}

/**
 * Sorts the batch and extends the entries of the parked keys whose events it skips. If an entry was changed in the meantime, reads the
 * entries again and sorts again: events may be skipped only while their key is parked.
 */
const sortAndExtend = async (
  { parts, deciders, state }: PartitionWork,
  records: readonly LogRecord[],
  through: number,
): Promise<SortedBatch> => {
  const { store, codec, clock } = parts
  for (;;) {
    const sorted = await sortBatch(records, { codec, deciders, isParked: state.isParked })
    const entries = state
      .parkedEntries(sorted.parkedKeys)
      .map((was) => ({ was, now: extendEntry(was, through, sorted.parkedByEntry.get(parkedName(was))) }))
    if (entries.length === 0) return sorted
    const outcomes = await store.commit(
      entries.map(({ was, now }) => updateEntry(was, now)),
      state.checkpoint(),
    )
    if (outcomes.every(({ applied }) => applied === 'all')) {
      for (const { now } of entries) state.park(now)
      return sorted
    }
    state.replaceParked(await parkedInPartition(store.reader(clock.now), state.partition))
  }
}
