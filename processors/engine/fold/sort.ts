import { withKeys, type Codec } from '../../../schemas/codec.ts'
import { Fault, isRetriable } from '../../../schemas/fault.ts'
import { EVERY_PROJECTION, type LogRecord, type Position } from '../ports/log.ts'
import type { Decider, LoggedEvent } from './decide.ts'
import type { KeySpan } from './span.ts'

/** An event that cannot be folded. */
export interface Poison {
  readonly projection: string
  readonly key: string | null
  readonly position: Position
  readonly error: unknown
  readonly type?: string
  readonly eventId?: string
  readonly recordedAt?: number
  /** The personal data of the event. The error can repeat it, and no row may store it. */
  readonly personal?: unknown
  /** The offsets of the later events of the key, which are not folded either. */
  readonly behind?: readonly number[]
}

export interface SortedBatch {
  readonly spans: readonly KeySpan[]
  /** The records that cannot be read. */
  readonly poisons: readonly Poison[]
  /** The offsets that are skipped because their key is parked. */
  readonly parkedOffsets: readonly number[]
  /** The keys of these offsets. */
  readonly parkedKeys: ReadonlySet<string>
  /** The same offsets, by the name of the parked entry (`projection#key`). */
  readonly parkedByEntry: ReadonlyMap<string, readonly number[]>
}

export interface Sorting {
  readonly codec: Codec
  readonly deciders: readonly Decider[]
  /** True if the key is parked at or before this offset. The events before the parked one are folded. */
  readonly isParked: (projection: string, key: string, offset: number) => boolean
}

/** Decodes a batch and groups its events by projection and key, in order. First loads the data keys that the events are sealed with. */
export const sortBatch = (records: readonly LogRecord[], sorting: Sorting): Promise<SortedBatch> =>
  withKeys(
    sorting.codec,
    () => records.map(({ value }) => value),
    () => sortRecords(records, sorting),
  )

const sortRecords = (records: readonly LogRecord[], { codec, deciders, isParked }: Sorting): SortedBatch => {
  const spans = createSpans(deciders)
  const poisons = new Map<string, Poison>()
  const parkedOffsets: number[] = []
  const parkedKeys = new Set<string>()
  const parkedByEntry = new Map<string, number[]>()
  const skip = (projection: string, key: string, offset: number) => {
    parkedOffsets.push(offset)
    parkedKeys.add(key)
    const entry = `${projection}#${key}`
    const offsets = parkedByEntry.get(entry)
    if (offsets === undefined) parkedByEntry.set(entry, [offset])
    else offsets.push(offset)
  }
  for (const record of records) {
    const { key } = record
    if (key !== null && ((poisons.size > 0 && poisons.has(key)) || isParked(EVERY_PROJECTION, key, record.offset))) {
      skip(EVERY_PROJECTION, key, record.offset)
      continue
    }
    const logged = readRecord(codec, record)
    if (logged === 'discarded') continue
    if (isPoison(logged)) poisons.set(key ?? `@${record.offset}`, logged)
    else
      for (let index = 0; index < deciders.length; index += 1) {
        const { folds, name } = (deciders[index] as Decider).projection
        if (folds[logged.event.type] === undefined || record.discarded?.includes(name) === true) continue
        if (isParked(name, logged.event.meta.key, record.offset)) skip(name, logged.event.meta.key, record.offset)
        else spans.of(index, logged.event.meta.key).events.push(logged)
      }
  }
  const unreadable = [...poisons].map(([key, poison]) => ({
    ...poison,
    behind: parkedByEntry.get(`${EVERY_PROJECTION}#${key}`) ?? [],
  }))
  return { spans: spans.all(), poisons: unreadable, parkedOffsets, parkedKeys, parkedByEntry }
}

type OpenSpan = KeySpan & { readonly events: LoggedEvent[] }

/** One span per decider and key, in the order of their first events. */
const createSpans = (deciders: readonly Decider[]) => {
  const byKey = deciders.map(() => new Map<string, OpenSpan>())
  const all: OpenSpan[] = []
  const of = (index: number, key: string): OpenSpan => {
    const spans = byKey[index] as Map<string, OpenSpan>
    let span = spans.get(key)
    if (span === undefined) {
      span = { decider: deciders[index] as Decider, key, events: [] }
      spans.set(key, span)
      all.push(span)
    }
    return span
  }
  return { of, all: (): readonly KeySpan[] => all }
}

const isPoison = (read: LoggedEvent | Poison): read is Poison => 'error' in read

/** The event of a record; its poison, if it cannot be decoded or belongs to another key; or `discarded`, if no projection folds it. */
export const readRecord = (codec: Codec, record: LogRecord): LoggedEvent | Poison | 'discarded' => {
  const { partition, offset, key, value, timestamp, discarded, crashes } = record
  if (discarded !== undefined && discarded.includes(EVERY_PROJECTION)) return 'discarded'
  const poison = (error: unknown): Poison => ({
    projection: EVERY_PROJECTION,
    key,
    position: { partition, offset },
    error,
    recordedAt: timestamp,
  })
  if (crashes === true) return poison(crashedProcesses(partition, offset))
  try {
    const event = codec.decode(value, record)
    if (event.meta.key === key) return { event, partition, offset }
    const error = new Fault(
      'key-mismatch',
      `The record at ${partition}:${offset} has the key ${JSON.stringify(key)}, but its event has the key ${JSON.stringify(event.meta.key)}. Find out which producer appended it.`,
    )
    return { ...poison(error), type: event.type, eventId: event.meta.eventId }
  } catch (error) {
    // A retriable fault, such as a data key that is not loaded, has another cause than the event.
    if (isRetriable(error)) throw error
    return poison(error)
  }
}

/** The fault of an event that crashes processes. The event is not decoded again, because decoding it could be the cause. */
export const crashedProcesses = (partition: number, offset: number): Fault =>
  new Fault(
    'killed-the-process',
    `Every process that folded the event at ${partition}:${offset} crashed. Fix the cause and retry the event, or discard it.`,
  )
