import type { Codec } from '../../schemas/codec.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Decider, Heard } from './decide.ts'
import type { LogRecord } from './log.ts'
import type { Poison } from './parking.ts'
import type { KeySpan } from './span.ts'

export interface Sorted {
  readonly spans: readonly KeySpan[]
  /** Records that could not be read; what follows of their key was left alone. */
  readonly poisons: readonly Poison[]
  /** Offsets left alone because their key stands still. */
  readonly parked: readonly number[]
  /** The keys they are of. */
  readonly standing: ReadonlySet<string>
}

export interface Sorting {
  readonly codec: Codec
  readonly deciders: readonly Decider[]
  /** Whether the key stands still at this offset. What lies before the event it stands for is folded, or was. */
  readonly isParked: (projection: string, key: string, offset: number) => boolean
}

/** The name under which a key is parked for every projection. */
export const EVERY = '*'

/** Decodes a batch and groups it by projection and key, in order. */
export const sortRecords = (records: readonly LogRecord[], { codec, deciders, isParked }: Sorting): Sorted => {
  const spans = new Map<string, KeySpan & { readonly heard: Heard[] }>()
  const poisons = new Map<string, Poison>()
  const parked: number[] = []
  const standing = new Set<string>()
  const leave = (key: string, offset: number) => {
    parked.push(offset)
    standing.add(key)
  }
  for (const record of records) {
    const { key } = record
    if (key !== null && (poisons.has(key) || isParked(EVERY, key, record.offset))) {
      leave(key, record.offset)
      continue
    }
    const heard = read(codec, record)
    if (isPoison(heard)) poisons.set(key ?? `@${record.offset}`, heard)
    else
      for (const decider of deciders) {
        const { folds, name } = decider.projection
        if (folds[heard.event.type] === undefined) continue
        if (isParked(name, heard.event.meta.key, record.offset)) leave(heard.event.meta.key, record.offset)
        else spanOf(spans, decider, heard.event.meta.key).heard.push(heard)
      }
  }
  return { spans: [...spans.values()], poisons: [...poisons.values()], parked, standing }
}

const spanOf = (spans: Map<string, KeySpan & { readonly heard: Heard[] }>, decider: Decider, key: string) => {
  const id = `${decider.projection.name}\u0000${key}`
  const known = spans.get(id)
  if (known !== undefined) return known
  const made = { decider, key, heard: [] }
  spans.set(id, made)
  return made
}

const isPoison = (found: Heard | Poison): found is Poison => 'error' in found

/** A record is an event of its own key, or it is poison. */
export const read = (codec: Codec, { partition, offset, key, value }: LogRecord): Heard | Poison => {
  try {
    const event = codec.decode(value)
    if (event.meta.key === key) return { event, partition, offset }
    const error = new Fault('key-mismatch', `The record at ${partition}:${offset} lies under key ${JSON.stringify(key)} but says it is of ${JSON.stringify(event.meta.key)}. Find out who produced it.`)
    return { projection: EVERY, key, position: { partition, offset }, error, type: event.type, eventId: event.meta.eventId }
  } catch (error) {
    return { projection: EVERY, key, position: { partition, offset }, error }
  }
}
