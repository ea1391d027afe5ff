import type { Stored } from '../../../projections/item.ts'
import { pages } from '../../../projections/table.ts'
import type { Log, LogRecord } from '../ports/log.ts'
import type { Parked } from '../poison/parked-entry.ts'
import type { Store } from '../ports/store.ts'

/**
 * Chooses `count` keys of the log: the keys with the lowest values of `hash`. With a random salt in `hash`, each key has the same
 * probability, whatever its number of events. Reads the log once and decodes no event.
 */
export const drawKeys = async (
  log: Pick<Log, 'read' | 'watermarks'>,
  count: number,
  hash: (key: string) => number,
): Promise<readonly string[]> => {
  const drawn = new Map<string, number>()
  let highest = Infinity
  for (const { partition, high } of await log.watermarks()) {
    for await (const records of log.read(partition, 0, high)) {
      for (const { key } of records) {
        if (key === null || drawn.has(key)) continue
        const rank = hash(key)
        if (rank >= highest && drawn.size >= count) continue
        drawn.set(key, rank)
        if (drawn.size > count) drawn.delete(last(drawn))
        highest = drawn.get(last(drawn)) ?? Infinity
      }
    }
  }
  return [...drawn.keys()].sort()
}

const last = (drawn: ReadonlyMap<string, number>): string =>
  [...drawn].reduce((highest, each) => (each[1] > highest[1] ? each : highest))[0]

/** Returns the log with only the records of these keys. Reads one key with `readKey`, and several keys in one pass over the log. */
export const onlyKeys = (
  log: Pick<Log, 'read' | 'readKey' | 'partitionOf'>,
  keys: readonly string[],
): Pick<Log, 'read'> => {
  const wanted = new Set<string | null>(keys)
  const [only] = keys
  return {
    async *read(partition, from, to) {
      if (!keys.some((key) => log.partitionOf(key) === partition)) return
      const source = keys.length === 1 && only !== undefined ? log.readKey(only, from) : log.read(partition, from, to)
      for await (const records of source) {
        const within = records.filter(({ key, offset }) => wanted.has(key) && (to === undefined || offset < to))
        if (within.length > 0) yield within
      }
    },
  }
}

/**
 * Returns the log as the generation has folded it: the parked event and the later events of its key are marked as discarded, so that a fold
 * skips them.
 */
export const upToParked = <L extends Pick<Log, 'read'>>(
  log: L,
  parked: readonly Pick<Parked, 'partition' | 'offset' | 'key' | 'projection'>[],
): L => {
  if (parked.length === 0) return log
  const withoutParked = (record: LogRecord): LogRecord => {
    const found = parked.filter(
      ({ key, partition, offset }) =>
        key !== null && key === record.key && partition === record.partition && offset <= record.offset,
    )
    return found.length === 0
      ? record
      : { ...record, discarded: [...(record.discarded ?? []), ...found.map(({ projection }) => projection)] }
  }
  return {
    ...log,
    async *read(partition: number, from: number, to?: number) {
      for await (const records of log.read(partition, from, to)) yield records.map(withoutParked)
    },
  }
}

const PAGE = 500

/** Returns a scan of only the items with these partition keys. */
export const onlyPartitions = (store: Pick<Store, 'reader'>, partitions: readonly string[]): Store['scan'] =>
  async function* () {
    const reader = store.reader(() => 0)
    for (const pk of partitions)
      for await (const items of pages(reader, { pk, limit: PAGE })) yield items as readonly Stored[]
  }
