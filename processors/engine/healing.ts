import type { Key } from '../../projections/item.ts'
import { advance, type Advanced } from './advance.ts'
import type { Decider } from './decide.ts'
import type { Lane } from './lane.ts'
import type { Log, LogRecord } from './log.ts'
import { parkedFrom, parkedOf, parkingOver, reparking, unparking, type Poison, type StoredParked } from './parking.ts'
import type { ProcessorParts } from './processor.ts'
import { isRetriable, retrying } from './retry.ts'
import { EVERY, killer, sortReadable } from './sort.ts'
import { TRACE_SECONDS } from './span.ts'
import { tryAlone } from './tries.ts'

/** What a batch or a healing works with: one partition of one member. */
export interface Work {
  readonly parts: ProcessorParts
  readonly deciders: readonly Decider[]
  readonly lane: Lane
  readonly signal: AbortSignal
}

/** Parks the keys of what could not be folded, all of whose events up to `through` are passed over from now on. */
export const park = async (work: Work, found: readonly Poison[], through: number) => {
  for (const poison of found) {
    const made = await parkOne(work, poison, through)
    if (made === undefined) continue
    work.lane.park(made)
    work.parts.parked?.(made)
  }
}

/** Undefined where another healed the key past all of this meanwhile. */
const parkOne = async ({ parts: { store }, lane }: Work, poison: Poison, through: number): Promise<StoredParked | undefined> => {
  const entry = parkedFrom(poison, through)
  for (let met: StoredParked | undefined; ; ) {
    const parking = parkingOver(met, entry, poison.behind ?? [])
    if (parking === 'healed') return undefined
    const [outcome] = await store.commit([parking.write], lane.checkpoint())
    if (outcome === undefined || outcome.applied === 'all') return parking.made
    met = outcome.current[0] as Key as StoredParked | undefined
  }
}

export const poisonOf = ({ span, poison }: Advanced): readonly Poison[] => {
  if (poison === undefined) return []
  const { heard, error } = poison
  const { type, meta, personal } = heard.event
  const behind = span.heard.map(({ offset }) => offset).filter((offset) => offset > heard.offset)
  return [{ projection: span.decider.projection.name, key: span.key, position: heard, error, type, eventId: meta.eventId, recordedAt: meta.recordedAt, personal, behind }]
}

/** Tries the parked keys of the partition whose retry was asked for. */
export const healLane = async (work: Work): Promise<number> => {
  const { parts, lane } = work
  const entries = await parkedOf(parts.store.reader(parts.clock.now), lane.partition)
  let healed = 0
  for (const entry of entries.filter(({ retry, discarding }) => retry === true && discarding !== true)) healed += (await healKey(work, entry, entries)) ? 1 : 0
  return healed
}

/** Folds what stood still, in order, through the folds of today; an event applied before shows itself by `_pos`. */
const healKey = async (work: Work, entry: StoredParked, entries: readonly StoredParked[]): Promise<boolean> => {
  const { parts, deciders, lane, signal } = work
  const { store, codec, clock, failed = () => {} } = parts
  const mine = deciders.filter(({ projection }) => entry.projection === EVERY || projection.name === entry.projection)
  // A projection that stands for a reason of its own is not led past it.
  const isParked = (projection: string, key: string, offset: number) =>
    entries.some((other) => other.SK !== entry.SK && other.projection !== EVERY && other.projection === projection && other.key === key && other.offset <= offset)
  const records = await recordsOf(parts.log, entry)
  const still = await guarded(work, entry, async () => {
    const { spans, poisons } = await sortReadable(records, { codec, deciders: mine, isParked })
    const advanced = await retrying(() => advance({ store, series: parts.series, spans, checkpoint: lane.checkpoint() }), { clock, when: { error: isRetriable }, signal, failed })
    return [...poisons, ...advanced.flatMap(poisonOf)]
  })
  const same = still.map((poison) => parkedFrom(poison, entry.through)).find(({ SK }) => SK === entry.SK)
  await park(work, still.filter((poison) => parkedFrom(poison, 0).SK !== entry.SK), entry.through)
  const expires = { [parts.domain.table.ttl]: Math.floor(clock.now() / 1000) + TRACE_SECONDS }
  const [outcome] = await store.commit([same === undefined ? unparking(entry, expires) : reparking(entry, same)], lane.checkpoint())
  // Somebody passed over more of its events meanwhile, or healed it: the next round sees.
  if (outcome?.applied !== 'all') return false
  if (same === undefined) lane.unpark(entry)
  else lane.park({ ...same, _pos: entry._pos + 1 })
  return still.length === 0
}

/** A retry is attempted a limited number of times. If it kills the process, the key stays parked. */
const guarded = async ({ parts, lane }: Work, entry: StoredParked, fold: () => Promise<readonly Poison[]>): Promise<readonly Poison[]> => {
  const { tries, clock, kills } = parts
  if (tries === undefined) return fold()
  const { partition, offset, through, key, projection, since } = entry
  const name = `${lane.partition}#heal`
  let found: readonly Poison[] = []
  const how = await tryAlone({ tries, clock }, { name, at: offset, through }, async () => {
    found = await fold()
  })
  if (how === 'kills') {
    // A mark is for every projection, and the others go on with this key.
    if (projection === EVERY) await kills?.({ partition, offset, key })
    found = [{ projection, key, position: { partition, offset }, error: killer(partition, offset), type: entry.type, eventId: entry.eventId, recordedAt: since, behind: Array.from({ length: entry.waiting }, () => through) }]
  }
  await tries.change(name, () => null)
  return found
}

const recordsOf = async (log: Log, { key, partition, offset, through }: StoredParked): Promise<readonly LogRecord[]> => {
  const found: LogRecord[] = []
  const source = key === null ? log.read(partition, offset, offset + 1) : log.readKey(key, offset)
  for await (const records of source) found.push(...records.filter((record) => record.offset >= offset && record.offset <= through))
  return found
}
