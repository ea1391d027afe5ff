import { tableName } from '../../../projections/table.ts'
import { isFault, type Fault } from '../../../schemas/fault.ts'
import type { Assignment } from '../ports/log.ts'
import type { Checkpoint } from '../ports/store.ts'
import { checkpointMoved } from './fencing.ts'
import type { ProcessorParts } from './processor-parts.ts'

/** Keeps the partitions whose folding fails, each with its last failure. */
export const createStalls = () => {
  const stalled = new Map<number, unknown>()
  /** The number of revocations of each partition. It identifies an assignment: work that ends after its assignment records no failure. */
  const revocations = new Map<number, number>()
  const noteOf = (partition: number) => {
    const assignment = revocations.get(partition)
    return (error: unknown): void => void (revocations.get(partition) === assignment && stalled.set(partition, error))
  }
  return {
    revoked: (partition: number): void => {
      revocations.set(partition, (revocations.get(partition) ?? 0) + 1)
      stalled.delete(partition)
    },
    any: (): unknown => [...stalled.values()][0],
    noting: (partition: number, failed: (error: unknown) => void) => {
      const note = noteOf(partition)
      return (error: unknown): void => {
        note(error)
        failed(error)
      }
    },
    /** Runs `work` for a partition and records its failure. The next success for the partition removes the recorded failure. */
    during: async <T>(partition: number, work: () => Promise<T>): Promise<T> => {
      const note = noteOf(partition)
      try {
        const done = await work()
        stalled.delete(partition)
        return done
      } catch (error) {
        note(error)
        throw error
      }
    },
  }
}

/**
 * Reports a write that failed because another member has the partition now. It is reported here, because the log reports no errors of a
 * lost partition.
 */
export const reportLate =
  (assignment: Assignment, failed: (error: unknown) => void) =>
  (error: unknown): never => {
    if (isFault(error, 'checkpoint-moved') && !assignment.isCurrent()) failed(error)
    throw error
  }

/**
 * Resolves to the fault `checkpoint-moved` if a stored checkpoint is below one that this process wrote, because the table was replaced.
 * `written` must be determined before this call reads the stored checkpoints.
 */
export const rewound = async (
  { domain, generation, store }: ProcessorParts,
  written: readonly Checkpoint[],
): Promise<Fault | undefined> => {
  const stored = await store.checkpoints()
  const behind = written.find(({ partition, from }) => (stored.get(partition) ?? 0) < from)
  return behind && checkpointMoved(tableName(domain.table, generation), behind, stored.get(behind.partition) ?? 0)
}
