import type { Reader } from '../../projections/table.ts'
import { isFault } from '../../schemas/fault.ts'
import type { Log } from './log.ts'
import type { Positions } from './positions.ts'
import type { Store } from './store.ts'

type Served = Pick<Store, 'checkpoints' | 'reader'>

export interface LostParts {
  readonly log: Pick<Log, 'committed'>
  readonly group: string
}

/**
 * The serving generation for a rebuild or a flip that replaces it. If its table is missing, it counts as empty, and as far as its
 * consumer group committed: from there on the next generation sends what is to be sent.
 */
export const evenIfLost = (open: () => Promise<Served>, { log, group }: LostParts): Served => {
  const reading = (now: () => number) => async <T>(read: (reader: Reader) => Promise<T>, none: T): Promise<T> =>
    open().then((store) => read(store.reader(now))).catch(unlessMissing(() => none))
  return {
    checkpoints: () => open().then((store) => store.checkpoints()).catch(unlessMissing(() => log.committed(group))),
    reader: (now) => {
      const read = reading(now)
      return {
        get: (key) => read((reader) => reader.get(key), undefined),
        getMany: (keys) => read((reader) => reader.getMany(keys), keys.map(() => undefined)),
        query: (query) => read((reader) => reader.query(query), { items: [] }),
      }
    },
  }
}

type Opening = () => Promise<Pick<Store, 'checkpoints'>>

/** Undefined if the table is missing. */
export const checkpointsUnlessLost = (open: Opening): Promise<Positions | undefined> => open().then((store) => store.checkpoints()).catch(unlessMissing(() => undefined))

export const isLost = async (open: Opening): Promise<boolean> => (await checkpointsUnlessLost(open)) === undefined

const unlessMissing = <T>(then: () => T) => (error: unknown): T => {
  if (!isFault(error, 'table-missing')) throw error
  return then()
}
