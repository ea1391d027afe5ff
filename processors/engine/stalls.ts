import { tableName } from '../../projections/table.ts'
import type { Fault } from '../../schemas/fault.ts'
import type { ProcessorParts } from './processor.ts'
import { checkpointMoved } from './store-faults.ts'
import type { Checkpoint } from './store.ts'

/** The partitions that do not get on, each with its last failure. */
export const createStalls = () => {
  const stalled = new Map<number, unknown>()
  const over = (partition: number) => void stalled.delete(partition)
  return {
    over,
    any: (): unknown => [...stalled.values()][0],
    noting: (partition: number, failed: (error: unknown) => void) => (error: unknown) => {
      stalled.set(partition, error)
      failed(error)
    },
    /** Stalled from a failure until the next success. */
    during: async <T>(partition: number, work: () => Promise<T>): Promise<T> => {
      try {
        const done = await work()
        over(partition)
        return done
      } catch (error) {
        stalled.set(partition, error)
        throw error
      }
    },
  }
}

/** Reads what the store contains after it was noted what was written: it never contains less, unless it was replaced. */
export const rewound = async ({ domain, generation, store }: ProcessorParts, written: readonly Checkpoint[]): Promise<Fault | undefined> => {
  const stored = await store.checkpoints()
  const behind = written.find(({ partition, from }) => (stored.get(partition) ?? 0) < from)
  return behind && checkpointMoved(tableName(domain.table, generation), behind, stored.get(behind.partition) ?? 0)
}
