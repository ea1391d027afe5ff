import { tableName } from '../../projections/table.ts'
import { isFault, type Fault } from '../../schemas/fault.ts'
import type { Lease } from './log.ts'
import type { ProcessorParts } from './processor.ts'
import { checkpointMoved } from './store-faults.ts'
import type { Checkpoint } from './store.ts'

/** The partitions that do not get on, each with its last failure. */
export const createStalls = () => {
  const stalled = new Map<number, unknown>()
  /** How often each partition was revoked: work that outlives its assignment notes nothing. */
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
    /** Stalled from a failure until the next success. */
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

/** Reports a write that was refused because another member has the partition now. The log itself reports no errors of a lost partition. */
export const reportLate = (lease: Lease, failed: (error: unknown) => void) => (error: unknown): never => {
  if (isFault(error, 'checkpoint-moved') && !lease.held()) failed(error)
  throw error
}

/** Reads what the store contains after it was noted what was written: it never contains less, unless it was replaced. */
export const rewound = async ({ domain, generation, store }: ProcessorParts, written: readonly Checkpoint[]): Promise<Fault | undefined> => {
  const stored = await store.checkpoints()
  const behind = written.find(({ partition, from }) => (stored.get(partition) ?? 0) < from)
  return behind && checkpointMoved(tableName(domain.table, generation), behind, stored.get(behind.partition) ?? 0)
}
