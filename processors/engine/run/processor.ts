import { Fault } from '../../../schemas/fault.ts'
import { decidersOf } from '../fold/decide.ts'
import { groupOf } from '../generations/generation.ts'
import { endsOf, missingTo, type Positions } from '../generations/positions.ts'
import { trimmedBelow, truncated } from '../generations/trimmed.ts'
import { rowRulesOf } from '../outgoing/row-rules.ts'
import { createCrashGuard, type CrashGuard } from '../poison/crash-guard.ts'
import { parkedInPartition } from '../poison/parked-entry.ts'
import type { Assignment, LogRecord, Watermarks } from '../ports/log.ts'
import { foldInParts } from './fold-batch.ts'
import { healPartition } from './healing.ts'
import { createPartitionState, type PartitionState } from './partition-state.ts'
import type { ProcessorParts } from './processor-parts.ts'
import { createStalls, reportLate, rewound } from './stalls.ts'

export interface Processor {
  stop(): Promise<void>
  /** Resolves when the effects of all events that the log had at the call are in the items. */
  caughtUp(): Promise<void>
  /** Folds the parked keys whose retry was requested. Resolves to the number of healed keys. */
  heal(): Promise<number>
  /** The next offset to process, by assigned partition. */
  positions(): Positions
  /**
   * Resolves to the fault `checkpoint-moved` if the store contains less than this member wrote, because its table was replaced. Otherwise
   * undefined.
   */
  rewound(): Promise<Fault | undefined>
  /** The last failure of the folding. Undefined if the folding has succeeded since. */
  stalled(): unknown
}

/** Starts one member of a generation's consumer group. The member folds each batch, writes the items, and then moves the checkpoint. */
export const startProcessor = async (parts: ProcessorParts): Promise<Processor> => {
  const { domain, generation, log, store, series, codec, clock, failed = () => {} } = parts
  const stalls = createStalls()
  const deciders = decidersOf(domain, rowRulesOf(domain, codec))
  const partitions = new Map<number, AssignedPartition>()
  const stopping = new AbortController()

  const assign = async (marks: Watermarks): Promise<number> => {
    const assigned = await openPartition(parts, marks)
    partitions.set(marks.partition, assigned)
    return assigned.state.next
  }
  const batch = async (records: readonly LogRecord[], assignment: Assignment): Promise<void> => {
    const assigned = partitions.get(assignment.partition)
    if (assigned === undefined)
      throw new Fault('not-assigned', `Partition ${assignment.partition} of ${log.topic} was not assigned.`, {
        retriable: true,
      })
    const { state, guard } = assigned
    await state.exclusively(async () => {
      const fresh = records.filter(({ offset }) => offset >= state.next)
      if (fresh.length === 0 || !assignment.isCurrent()) return
      const work = {
        parts: { ...parts, failed: stalls.noting(state.partition, failed) },
        deciders,
        state,
        signal: stopping.signal,
      }
      await guard.fold(fresh, assignment, (some) => foldInParts(work, some, assignment))
    })
  }
  const revoked = (partition: number) => {
    partitions.delete(partition)
    stalls.revoked(partition)
  }
  const subscription = await log.subscribe(groupOf(domain.name, generation), {
    isAwaited: series === undefined && store.peek !== undefined,
    assigned: (marks) => stalls.during(marks.partition, () => assign(marks)),
    batch: (records, assignment) =>
      stalls.during(assignment.partition, () => batch(records, assignment).catch(reportLate(assignment, failed))),
    revoked,
    failed,
  })

  const heal = async (): Promise<number> => {
    const healed = await Promise.all(
      [...partitions.values()].map(({ state }) =>
        state.exclusively(() => healPartition({ parts, deciders, state, signal: stopping.signal })),
      ),
    )
    return healed.reduce((sum, count) => sum + count, 0)
  }
  const positions = () => new Map([...partitions.values()].map(({ state: { partition, next } }) => [partition, next]))
  const caughtUp = async () => {
    const ends = await endsOf(log)
    while (missingTo(ends, await store.checkpoints()) > 0) await clock.sleep(5)
  }
  const stop = async () => {
    stopping.abort()
    await subscription.stop()
  }
  return {
    stop,
    caughtUp,
    heal,
    positions,
    rewound: () =>
      rewound(
        parts,
        [...partitions.values()].map(({ state }) => state.checkpoint()),
      ),
    stalled: stalls.any,
  }
}

interface AssignedPartition {
  readonly state: PartitionState
  readonly guard: CrashGuard
}

/** Reads the checkpoint and the parked keys of a partition. Throws `log-trimmed` or `log-truncated` if the log does not contain the next offset. */
const openPartition = async (
  parts: ProcessorParts,
  { partition, low, high }: Watermarks,
): Promise<AssignedPartition> => {
  const { log, store, clock, attempts, failed = () => {}, recordCrashing = async () => {} } = parts
  const next = (await store.checkpoints()).get(partition) ?? 0
  if (next < low) throw trimmedBelow(log.topic, { partition, next, mark: low })
  // The watermarks were read before the checkpoint. The previous owner of the partition can have folded events beyond them in the meantime,
  // so a checkpoint above `high` is compared with the present end.
  const end = next > high ? ((await endsOf(log)).get(partition) ?? 0) : high
  if (next > end) throw truncated(log.topic, { partition, next, mark: end })
  return {
    state: createPartitionState(partition, next, await parkedInPartition(store.reader(clock.now), partition)),
    guard: createCrashGuard(
      attempts === undefined ? undefined : { attempts, clock, partition, failed, recordCrashing },
    ),
  }
}
