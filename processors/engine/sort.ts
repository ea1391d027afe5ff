import { withKeys, type Codec } from '../../schemas/codec.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Decider, Heard } from './decide.ts'
import type { LogRecord } from './log.ts'
import type { Poison } from './parking.ts'
import { isRetriable } from './retry.ts'
import type { KeySpan } from './span.ts'

export interface Sorted {
  readonly spans: readonly KeySpan[]
  /** Records that could not be read; what follows of their key was left alone. */
  readonly poisons: readonly Poison[]
  /** Offsets left alone because their key stands still. */
  readonly parked: readonly number[]
  /** The keys they are of. */
  readonly standing: ReadonlySet<string>
  /** The same offsets by the entry for which they were left alone. */
  readonly left: ReadonlyMap<string, readonly number[]>
}

export interface Sorting {
  readonly codec: Codec
  readonly deciders: readonly Decider[]
  /** True if the key is parked at or before this offset. Events before the parked one are folded. */
  readonly isParked: (projection: string, key: string, offset: number) => boolean
}

/** The name under which a key is parked for every projection. */
export const EVERY = '*'

/** The same, with the keys of what is sealed fetched first where they are not in memory. */
export const sortReadable = (records: readonly LogRecord[], sorting: Sorting): Promise<Sorted> =>
  withKeys(sorting.codec, () => records.map(({ value }) => value), () => sortRecords(records, sorting))

/** Decodes a batch and groups it by projection and key, in order. */
const sortRecords = (records: readonly LogRecord[], { codec, deciders, isParked }: Sorting): Sorted => {
  const spans = createSpans(deciders)
  const poisons = new Map<string, Poison>()
  const parked: number[] = []
  const standing = new Set<string>()
  const left = new Map<string, number[]>()
  const leave = (name: string, key: string, offset: number) => {
    parked.push(offset)
    standing.add(key)
    const others = left.get(`${name}#${key}`)
    if (others === undefined) left.set(`${name}#${key}`, [offset])
    else others.push(offset)
  }
  for (const record of records) {
    const { key } = record
    if (key !== null && ((poisons.size > 0 && poisons.has(key)) || isParked(EVERY, key, record.offset))) {
      leave(EVERY, key, record.offset)
      continue
    }
    const heard = read(codec, record)
    if (heard === 'discarded') continue
    if (isPoison(heard)) poisons.set(key ?? `@${record.offset}`, heard)
    else
      for (let index = 0; index < deciders.length; index += 1) {
        const { folds, name } = (deciders[index] as Decider).projection
        if (folds[heard.event.type] === undefined || record.discarded?.includes(name) === true) continue
        if (isParked(name, heard.event.meta.key, record.offset)) leave(name, heard.event.meta.key, record.offset)
        else spans.of(index, heard.event.meta.key).heard.push(heard)
      }
  }
  const unread = [...poisons].map(([key, poison]) => ({ ...poison, behind: left.get(`${EVERY}#${key}`) ?? [] }))
  return { spans: spans.all(), poisons: unread, parked, standing, left }
}

type OpenSpan = KeySpan & { readonly heard: Heard[] }

/** One span a decider and key, in the order in which they first come. */
const createSpans = (deciders: readonly Decider[]) => {
  const byKey = deciders.map(() => new Map<string, OpenSpan>())
  const all: OpenSpan[] = []
  const of = (index: number, key: string): OpenSpan => {
    const mine = byKey[index] as Map<string, OpenSpan>
    let span = mine.get(key)
    if (span === undefined) {
      span = { decider: deciders[index] as Decider, key, heard: [] }
      mine.set(key, span)
      all.push(span)
    }
    return span
  }
  return { of, all: (): readonly KeySpan[] => all }
}

const isPoison = (found: Heard | Poison): found is Poison => 'error' in found

/** A record is an event of its own key, or it is poison, or nobody is to hear it. */
export const read = (codec: Codec, record: LogRecord): Heard | Poison | 'discarded' => {
  const { partition, offset, key, value, timestamp, discarded, killed } = record
  if (discarded !== undefined && discarded.includes(EVERY)) return 'discarded'
  const poison = (error: unknown): Poison => ({ projection: EVERY, key, position: { partition, offset }, error, recordedAt: timestamp })
  if (killed === true) return poison(killer(partition, offset))
  try {
    const event = codec.decode(value, record)
    if (event.meta.key === key) return { event, partition, offset }
    const error = new Fault('key-mismatch', `The record at ${partition}:${offset} lies under key ${JSON.stringify(key)} but says it is of ${JSON.stringify(event.meta.key)}. Find out who produced it.`)
    return { ...poison(error), type: event.type, eventId: event.meta.eventId }
  } catch (error) {
    // A key that cannot be had now is no fault of the event.
    if (isRetriable(error)) throw error
    return poison(error)
  }
}

/** The event is not decoded again: the step that killed the processes is unknown. */
export const killer = (partition: number, offset: number): Fault =>
  new Fault('killed-the-process', `Every process that folded the event at ${partition}:${offset} died of it. Mend what it runs into and retry it, or discard it.`)
