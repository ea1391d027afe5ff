import { EVERY } from './sort.ts'
import { parkedName, type StoredParked } from './parking.ts'
import type { Checkpoint } from './store.ts'

/** What a processor knows of one partition it holds. */
export interface Lane {
  readonly partition: number
  /** The next offset to process. */
  readonly next: number
  advance(next: number): void
  /** The checkpoint of a commit that leaves it where it is, or moves it to `offset`. */
  checkpoint(offset?: number): Checkpoint
  isParked(projection: string, key: string, offset: number): boolean
  /** The entries of these keys. */
  standing(keys: ReadonlySet<string>): readonly StoredParked[]
  /** All that is parked, as it was just read. */
  learn(entries: readonly StoredParked[]): void
  park(entry: StoredParked): void
  unpark(entry: StoredParked): void
  /** Batches and healing take turns: a partition has one writer, and that one is not even beside itself. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
}

export const createLane = (partition: number, start: number, entries: readonly StoredParked[]): Lane => {
  const parked = new Map(entries.map((entry) => [parkedName(entry), entry]))
  let next = start
  let turn: Promise<unknown> = Promise.resolve()
  return {
    partition,
    get next() {
      return next
    },
    advance: (to) => {
      next = to
    },
    checkpoint: (offset = next) => ({ partition, from: next, offset }),
    isParked: (projection, key, offset) => parked.size > 0 && [projection, EVERY].some((name) => (parked.get(`${name}#${key}`)?.offset ?? offset + 1) <= offset),
    standing: (keys) => (keys.size === 0 ? [] : [...parked.values()].filter(({ key }) => key !== null && keys.has(key))),
    learn: (all) => {
      parked.clear()
      for (const entry of all) parked.set(parkedName(entry), entry)
    },
    park: (entry) => void parked.set(parkedName(entry), entry),
    unpark: (entry) => void parked.delete(parkedName(entry)),
    inTurn: (work) => {
      const mine = turn.then(work, work)
      turn = mine.catch(() => undefined)
      return mine
    },
  }
}
