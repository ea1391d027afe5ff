import { isRetriable } from '../../../schemas/fault.ts'
import { advance } from '../fold/advance.ts'
import { crashedProcesses, sortBatch, type Poison } from '../fold/sort.ts'
import { TOMBSTONE_SECONDS } from '../fold/span.ts'
import { attemptAlone } from '../poison/delivery-attempts.ts'
import { parkedFrom, parkedInPartition, removeEntry, replaceEntry, type StoredParked } from '../poison/parked-entry.ts'
import { poisonOf } from '../poison/parking.ts'
import { isolateRejected } from '../poison/rejected-spans.ts'
import { EVERY_PROJECTION, type Log, type LogRecord } from '../ports/log.ts'
import { retrying } from '../timing/retry.ts'
import { park } from './park-batch.ts'
import type { PartitionWork } from './processor-parts.ts'

/** Folds the parked keys of the partition whose retry was requested. Resolves to the number of healed keys. */
export const healPartition = async (work: PartitionWork): Promise<number> => {
  const { parts, state } = work
  const entries = await parkedInPartition(parts.store.reader(parts.clock.now), state.partition)
  let healed = 0
  for (const entry of entries.filter(({ retry, discarding }) => retry === true && discarding !== true))
    healed += (await healKey(work, entry, entries)) ? 1 : 0
  return healed
}

/**
 * Folds the skipped events of a key in order, with the present folds. `_pos` shows which events were applied before. Resolves to true if no
 * event of the key is poison any more.
 */
const healKey = async (
  work: PartitionWork,
  entry: StoredParked,
  entries: readonly StoredParked[],
): Promise<boolean> => {
  const { parts, state } = work
  const { store, clock } = parts
  const still = await foldSkipped(work, entry, entries)
  const same = still.map((poison) => parkedFrom(poison, entry.through)).find(({ SK }) => SK === entry.SK)
  await park(
    work,
    still.filter((poison) => parkedFrom(poison, 0).SK !== entry.SK),
    entry.through,
  )
  const expires = { [parts.domain.table.ttl]: Math.floor(clock.now() / 1000) + TOMBSTONE_SECONDS }
  const [outcome] = await store.commit(
    [same === undefined ? removeEntry(entry, expires) : replaceEntry(entry, same)],
    state.checkpoint(),
  )
  // If the entry was not replaced, another process has extended or healed it in the meantime. The next call reads the new entry.
  if (outcome?.applied !== 'all') return false
  if (same === undefined) state.unpark(entry)
  else state.park({ ...same, _pos: entry._pos + 1 })
  return still.length === 0
}

/** Folds the events of an entry. Resolves to the events that are still poison. */
const foldSkipped = async (
  work: PartitionWork,
  entry: StoredParked,
  entries: readonly StoredParked[],
): Promise<readonly Poison[]> => {
  const { parts, deciders, state, signal } = work
  const { store, codec, clock, failed = () => {} } = parts
  const own = deciders.filter(
    ({ projection }) => entry.projection === EVERY_PROJECTION || projection.name === entry.projection,
  )
  // If another projection has its own parked entry for this key, it folds only the events before its parked event.
  const isParked = (projection: string, key: string, offset: number) =>
    entries.some(
      (other) =>
        other.SK !== entry.SK &&
        other.projection !== EVERY_PROJECTION &&
        other.projection === projection &&
        other.key === key &&
        other.offset <= offset,
    )
  const records = await recordsOf(parts.log, entry)
  return guarded(work, entry, async () => {
    const { spans, poisons } = await sortBatch(records, { codec, deciders: own, isParked })
    const advanced = await retrying(
      () => advance({ store, series: parts.series, spans, checkpoint: state.checkpoint(), isolate: isolateRejected }),
      { clock, when: { error: isRetriable }, signal, failed },
    )
    return [...poisons, ...advanced.flatMap(poisonOf)]
  })
}

/** Limits the attempts of a retry. If `fold` crashes the process each time, the key stays parked with `killed-the-process`. */
const guarded = async (
  { parts, state }: PartitionWork,
  entry: StoredParked,
  fold: () => Promise<readonly Poison[]>,
): Promise<readonly Poison[]> => {
  const { attempts, clock, recordCrashing } = parts
  if (attempts === undefined) return fold()
  const { partition, offset, through, key, projection, since } = entry
  const name = `${state.partition}#heal`
  let found: readonly Poison[] = []
  const result = await attemptAlone({ attempts, clock }, { name, at: offset, through }, async () => {
    found = await fold()
  })
  if (result === 'crashes') {
    // A verdict applies to all projections. If only one projection parks the key, no verdict is stored, because the others still fold this key.
    if (projection === EVERY_PROJECTION) await recordCrashing?.({ partition, offset, key })
    found = [
      {
        projection,
        key,
        position: { partition, offset },
        error: crashedProcesses(partition, offset),
        type: entry.type,
        eventId: entry.eventId,
        recordedAt: since,
        behind: Array.from({ length: entry.waiting }, () => through),
      },
    ]
  }
  await attempts.change(name, () => null)
  return found
}

const recordsOf = async (
  log: Log,
  { key, partition, offset, through }: StoredParked,
): Promise<readonly LogRecord[]> => {
  const found: LogRecord[] = []
  const source = key === null ? log.read(partition, offset, offset + 1) : log.readKey(key, offset)
  for await (const records of source)
    found.push(...records.filter((record) => record.offset >= offset && record.offset <= through))
  return found
}
