import { isExpired, type Item, type Key } from '../../projections/item.ts'
import type { Change, Domain, Get, Outcome } from '../../projections/projection.ts'
import type { Codec } from '../../schemas/codec.ts'
import { isFault } from '../../schemas/fault.ts'
import type { BuildTarget } from './build-target.ts'
import { APPLIED, decide, decidersOf, type Decider, type Heard } from './decide.ts'
import type { Log, LogRecord } from './log.ts'
import { outboxOf } from './outbox.ts'
import { parkedFrom, parkedName, parkedOf, type Parked, type Poison, type StoredParked } from './parking.ts'
import { totalOf, type Positions } from './positions.ts'
import { isRetriable } from './retry.ts'
import { gathering, type Gathering, type Series } from './series.ts'
import { EVERY, read } from './sort.ts'
import { requireStorable } from './storable.ts'
import { timerChanges } from './timers.ts'
import { createWorkingSet, type WorkingSet } from './working-set.ts'

export interface BuildParts {
  readonly domain: Domain
  readonly log: Pick<Log, 'read'>
  readonly codec: Codec
  readonly target: BuildTarget
  /** The generation's own, where the domain has points. */
  readonly series?: Pick<Series, 'write'> | undefined
  /** Where to stop, by partition: fixed, so that two builds of the same log agree. */
  readonly ends: Positions
  readonly signal?: AbortSignal
  /** How many events lie behind it, those of earlier runs among them. */
  readonly progress?: (events: number) => void
  /** About as many bytes of changed items as are kept in memory before they are flushed. */
  readonly workingSet?: number
  /** Only these keys, as one of several workers over the same log; the target keeps each one's checkpoints apart. */
  readonly share?: (key: string | null) => boolean
  /** Events for which the serving generation sends nothing. Only these get outbox rows. */
  readonly owed?: readonly Owed[]
}

/** The events of a key from an offset on. */
export interface Owed {
  readonly projection: string
  /** Null: every key of the partition. */
  readonly key: string | null
  readonly partition?: number
  readonly offset: number
}

export interface Built {
  readonly events: number
  readonly parked: readonly Parked[]
  /** Points that the series store will not take. */
  readonly rejected: number
}

/**
 * Folds the log afresh, from the target's checkpoints to fixed ends. The same decisions as live, in the order of the log;
 * no conditions, no skipping, nothing sent but what is owed. Items and checkpoints are flushed together, so a build can go on where it was cut.
 */
export const build = async (parts: BuildParts): Promise<Built> => {
  const { log, target, ends, signal, share } = parts
  const checkpoints = new Map(await target.checkpoints())
  const working = createWorkingSet(target, { limit: parts.workingSet ?? WORKING_SET, fresh: checkpoints.size === 0 || share !== undefined, events: totalOf(ends) })
  if (share !== undefined) for await (const page of target.scan()) working.know(page)
  let folder: Folder | undefined
  const points = gathering(parts.series)
  const flush = async () => {
    folder?.settle()
    // First, as it is live: what the checkpoints say is there.
    await points.flush()
    await working.flush(checkpoints)
  }
  const parked: Parked[] = []
  let events = 0
  for (const [partition, end] of ends) {
    folder?.settle()
    const standing = (await parkedOf(target.reader(() => 0), partition)).filter(({ key }) => share === undefined || share(key))
    const { fold } = (folder = createFolder(parts, { items: working, points, parked, standing, through: end - 1 }))
    for await (const records of log.read(partition, checkpoints.get(partition) ?? 0, end)) {
      await foldAll(records, { fold, codec: parts.codec, share })
      events += records.length
      checkpoints.set(partition, (records.at(-1) as LogRecord).offset + 1)
      parts.progress?.(totalOf(checkpoints))
      working.rest()
      if (points.isFull()) await points.flush()
      if (working.isFull()) await flush()
      signal?.throwIfAborted()
    }
    checkpoints.set(partition, end)
  }
  await flush()
  await working.settled()
  return { events, parked, rejected: points.rejected() }
}

interface FoldAll extends Pick<BuildParts, 'codec'> {
  readonly fold: Folder['fold']
  readonly share: BuildParts['share'] | undefined
}

/** An event is read before anything of it is folded: one whose key is not in memory is simply begun again. */
const foldAll = async (records: readonly LogRecord[], { fold, codec, share }: FoldAll): Promise<void> => {
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index] as LogRecord
    if (share !== undefined && !share(record.key)) continue
    try {
      fold(record)
    } catch (error) {
      if (codec.keysOf === undefined || !isFault(error, 'key-not-loaded')) throw error
      await codec.keysOf(records.slice(index).filter(({ key }) => share?.(key) ?? true).map(({ value }) => value))
      fold(record)
    }
  }
}

/** A packed item takes at most so many bytes for each byte of its size: a number of one digit has 2 bytes and takes up to 9. */
const PACKED = 5

const WORKING_SET = 6 * 1024 * 1024

interface Folding {
  readonly items: Pick<WorkingSet, 'find' | 'put' | 'remove'>
  readonly points: Pick<Gathering, 'add'>
  readonly parked: Parked[]
  readonly standing: readonly StoredParked[]
  /** Where this partition's build ends: what a parked key has behind it by then was passed over. */
  readonly through: number
}

/** The outcome of one record. `heard` is absent if the record was not decoded. */
interface Folded {
  readonly heard?: Heard
  readonly outcome: Outcome
}

const DISCARDED: Outcome = { kind: 'refused', refusal: { code: 'discarded', detail: 'An operator discarded the event. tributary parked --discarded shows who and why.' } }
const BEHIND: Outcome = { kind: 'parked', reason: 'an earlier event of this key could not be folded', behind: true }

interface Folder {
  fold(record: LogRecord): Folded
  /** Writes down how many events wait behind what stands still. */
  settle(): void
}

/** Folds records in the order of the log into `items`, without conditions. A build and a history of one key fold with it. */
export const createFolder = ({ domain, codec, owed }: Pick<BuildParts, 'domain' | 'codec' | 'owed'>, { items, points, parked, standing, through }: Folding): Folder => {
  const deciders = decidersOf(domain, { outbox: unsent(outboxOf(codec), owed), timers: timerChanges(codec) })
  const still = new Map(standing.map((entry) => [parkedName(entry), { entry: { ...entry, through }, behind: 0 }]))
  const { ttl } = domain.table
  let at = 0
  const get: Get = <I extends Item>(key: Key) => {
    const item = items.find(key)
    return item === undefined || isExpired(item, ttl, at) ? undefined : (item as Item as I)
  }
  const park = (poison: Poison): Outcome => {
    const entry = parkedFrom(poison, through)
    still.set(parkedName(entry), { entry: { ...entry, _pos: entry.offset }, behind: 0 })
    parked.push(entry)
    return { kind: 'parked', reason: entry.reason }
  }
  const isStill = (name: string, key: string): boolean => {
    const found = still.size === 0 ? undefined : still.get(`${name}#${key}`)
    if (found !== undefined) found.behind += 1
    return found !== undefined
  }
  const settle = () => {
    for (const [name, { entry, behind }] of still) {
      const settled = { ...entry, waiting: entry.waiting + behind }
      still.set(name, { entry: settled, behind: 0 })
      items.put(settled, settled._pos, PACKED * requireStorable(domain.table, settled))
    }
  }
  /** Undefined if the projection does not fold the event. */
  const foldOne = (decider: Decider, heard: Heard, discarded: LogRecord['discarded']): Outcome | undefined => {
    const { meta, type } = heard.event
    const { name, folds } = decider.projection
    if (folds[type] === undefined || discarded?.includes(name) === true) return undefined
    if (isStill(name, meta.key)) return BEHIND
    try {
      const { outcome, changes, points: said } = decide(decider, heard, get)
      apply(changes, { items, offset: heard.offset, measure: decider.measure })
      for (const point of said) points.add({ ...point, version: heard.offset + 1 })
      return outcome
    } catch (error) {
      if (isRetriable(error)) throw error
      return park({ projection: name, key: meta.key, position: heard, error, type, eventId: meta.eventId, recordedAt: meta.recordedAt, personal: heard.event.personal })
    }
  }
  const fold = (record: LogRecord): Folded => {
    if (record.key !== null && isStill(EVERY, record.key)) return { outcome: BEHIND }
    const heard = read(codec, record)
    if (heard === 'discarded') return { outcome: DISCARDED }
    if ('error' in heard) return { outcome: park(heard) }
    at = heard.event.meta.recordedAt
    let outcome = APPLIED
    for (const decider of deciders) {
      const found = foldOne(decider, heard, record.discarded)
      if (found !== undefined && decider.decides.has(heard.event.type)) outcome = found
    }
    return { heard, outcome }
  }
  return { fold, settle }
}

/** Measures all changes before it puts the first one: a change that is too large parks the key, and nothing of its event may remain. */
const apply = (changes: readonly Change[], { items, offset, measure }: Pick<Folding, 'items'> & Pick<Decider, 'measure'> & { readonly offset: number }): void => {
  const sizes = changes.map(measure)
  for (let index = 0; index < changes.length; index += 1) {
    const change = changes[index] as Change
    if ('_removed' in change) items.remove(change)
    else items.put(change, offset, PACKED * (sizes[index] as number))
  }
}

/** Encodes every derived event, because one that cannot be encoded parks its key in a build as it does live. Returns rows only for owed events: the others were sent. */
const unsent = (outbox: NonNullable<Decider['outbox']>, owed: readonly Owed[] = []): NonNullable<Decider['outbox']> => (heard, result, projection) => {
  const rows = outbox(heard, result, projection)
  const { key } = heard.event.meta
  const isOwed = (one: Owed): boolean => (one.key ?? key) === key && (one.partition ?? heard.partition) === heard.partition && one.offset <= heard.offset
  return owed.some((one) => isOwed(one) && (one.projection === projection || one.projection === EVERY)) ? rows : []
}
