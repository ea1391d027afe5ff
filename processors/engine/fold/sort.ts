import { withKeys, type Codec } from '../../../schemas/codec.ts'
import { Fault, isRetriable } from '../../../schemas/fault.ts'
import { EVERY_PROJECTION, type LogRecord, type Position } from '../ports/log.ts'
import type { Decider, LoggedEvent } from './decide.ts'
import type { KeySpan } from './span.ts'

/** An event that cannot be folded in a projection, or in all projections (`*`). */
export interface Poison {
  readonly projection: string
  readonly key: string | null
  readonly position: Position
  readonly error: unknown
  readonly type?: string
  readonly eventId?: string
  readonly recordedAt?: number
  /** The personal data of the event. It is removed from the text of the error before the error is stored. */
  readonly personal?: unknown
  /** The offsets of the later events of the key in the same batch. They are not folded. */
  readonly behind?: readonly number[]
}

export interface SortedBatch {
  readonly spans: readonly KeySpan[]
  /** The records that cannot be folded in any projection, at most one per key: the later records of the key are skipped. */
  readonly poisons: readonly Poison[]
  /** The offsets that are skipped because their key is parked. */
  readonly parkedOffsets: readonly number[]
  /** The log keys of the skipped events. */
  readonly parkedKeys: ReadonlySet<string>
  /** The skipped offsets, by the name of the entry of the parked key (`projection#key`). */
  readonly parkedByEntry: ReadonlyMap<string, readonly number[]>
}

export interface Sorting {
  readonly codec: Codec
  readonly deciders: readonly Decider[]
  /** Returns true if the key is parked at this offset or before it. The events before the parked event are folded. */
  readonly isParked: (projection: string, key: string, offset: number) => boolean
}

/** Decodes a batch and groups its events by projection and key, in order. If a data key is not in memory, loads it and decodes the batch again. */
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

/** Collects events into spans: one span per projection and key. The spans are in the order of their first events. */
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

/**
 * Decodes a record. Returns its event, or `discarded` if a verdict discards the event for all projections. Returns a `Poison` if the record
 * cannot be decoded, if the event has another key than the record, or if a verdict states that the event crashes processes.
 */
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
    // A retriable fault, such as a data key that is not loaded, is not caused by the event. So the event is not poison.
    if (isRetriable(error)) throw error
    return poison(error)
  }
}

/** The fault of an event that crashes processes. Such an event is not decoded again, because the decoding could be the cause. */
export const crashedProcesses = (partition: number, offset: number): Fault =>
  new Fault(
    'killed-the-process',
    `Every process that folded the event at ${partition}:${offset} crashed. Fix the cause and retry the event, or discard it.`,
  )
