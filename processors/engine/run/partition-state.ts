import { EVERY_PROJECTION } from '../ports/log.ts'
import type { Checkpoint } from '../ports/store.ts'
import { parkedName, type StoredParked } from '../poison/parked-entry.ts'

/** The state of a partition in a processor, while the partition is assigned to it. */
export interface PartitionState {
  readonly partition: number
  /** The next offset to process. */
  readonly next: number
  advance(next: number): void
  /** The checkpoint for a commit. Without `offset`, the commit only checks the stored checkpoint and does not move it. */
  checkpoint(offset?: number): Checkpoint
  isParked(projection: string, key: string, offset: number): boolean
  /** The parked entries of these keys. */
  parkedEntries(keys: ReadonlySet<string>): readonly StoredParked[]
  /** Replaces all parked entries by entries that were just read. */
  replaceParked(entries: readonly StoredParked[]): void
  park(entry: StoredParked): void
  unpark(entry: StoredParked): void
  /** Runs batches and healings one after the other, so that a partition has one writer at a time. */
  exclusively<T>(work: () => Promise<T>): Promise<T>
}

export const createPartitionState = (
  partition: number,
  start: number,
  entries: readonly StoredParked[],
): PartitionState => {
  const parked = new Map(entries.map((entry) => [parkedName(entry), entry]))
  let next = start
  let last: Promise<unknown> = Promise.resolve()
  return {
    partition,
    get next() {
      return next
    },
    advance: (to) => {
      next = to
    },
    checkpoint: (offset = next) => ({ partition, from: next, offset }),
    isParked: (projection, key, offset) =>
      parked.size > 0 &&
      [projection, EVERY_PROJECTION].some((name) => (parked.get(`${name}#${key}`)?.offset ?? offset + 1) <= offset),
    parkedEntries: (keys) =>
      keys.size === 0 ? [] : [...parked.values()].filter(({ key }) => key !== null && keys.has(key)),
    replaceParked: (all) => {
      parked.clear()
      for (const entry of all) parked.set(parkedName(entry), entry)
    },
    park: (entry) => void parked.set(parkedName(entry), entry),
    unpark: (entry) => void parked.delete(parkedName(entry)),
    exclusively: (work) => {
      const result = last.then(work, work)
      last = result.catch(() => undefined)
      return result
    },
  }
}
