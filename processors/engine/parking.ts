import { isTrace, type Key, type Stored } from '../../projections/item.ts'
import { everyItem, type Reader } from '../../projections/table.ts'
import { Fault, messageOf } from '../../schemas/fault.ts'
import { parkedKey, parkedPartition } from './keys.ts'
import type { Position } from './log.ts'
import { replacing, type Span, type Store } from './store.ts'

/** A key that stands still: one of its events could not be folded. The events stay in the log. */
export type Parked = Key & {
  readonly projection: string
  /** The log key, or null for an alien record without one (parked singly, by position). */
  readonly key: string | null
  readonly partition: number
  readonly offset: number
  /** The last offset that was passed over while it stood: what there is to fold when it is healed. */
  readonly through: number
  readonly code: string
  readonly reason: string
  readonly stack: string
  readonly type: string
  readonly eventId: string
  /** When the event was recorded at which it stands, epoch milliseconds: what is shown of the key is of then. */
  readonly since: number
  /** How many events of the key wait behind it. */
  readonly waiting: number
  /** Set by `parked retry`: the partition's owner heals the key when it sees it. */
  readonly retry?: boolean
  /** Its event is being discarded: nobody heals it before that is recorded. */
  readonly discarding?: boolean
}
export type StoredParked = Parked & { readonly _pos: number }

export interface Poison {
  readonly projection: string
  readonly key: string | null
  readonly position: Position
  readonly error: unknown
  readonly type?: string
  readonly eventId?: string
  readonly recordedAt?: number
  /** The event's personal record: what threw may repeat it, and an entry may not. */
  readonly personal?: unknown
  /** Offsets of events behind it that are left alone with it. */
  readonly behind?: readonly number[]
}

/** An entry is an item like others, and a message may be as long as it likes. */
const REASON_LENGTH = 1_000
const STACK_LENGTH = 4_000

/** What somebody said, wherever a message repeats it, is left out. */
const withoutWords = (text: string, personal: unknown): string => {
  if (typeof personal === 'string') return personal === '' ? text : text.replaceAll(personal, '[personal]')
  if (typeof personal !== 'object' || personal === null) return text
  return Object.values(personal).reduce<string>((left, member) => withoutWords(left, member), text)
}

export const parkedFrom = ({ projection, key, position, error, type = '', eventId = '', recordedAt = 0, personal, behind = [] }: Poison, through: number): Parked => ({
  ...parkedKey(position.partition, projection, key ?? `@${position.offset}`),
  projection,
  key,
  partition: position.partition,
  offset: position.offset,
  through,
  code: error instanceof Fault ? error.code : 'fold-threw',
  reason: withoutWords(messageOf(error), personal).slice(0, REASON_LENGTH),
  stack: withoutWords(error instanceof Error ? (error.stack ?? '') : '', personal).slice(0, STACK_LENGTH),
  type,
  eventId,
  since: recordedAt,
  waiting: behind.length,
})

/** Tells entries apart: a key is parked once per projection, a record without a key by its offset. */
export const parkedName = ({ projection, key, offset }: Pick<Parked, 'projection' | 'key' | 'offset'>): string => `${projection}#${key ?? `@${offset}`}`

/** The same name as shown to people: `partition:projection:key`. */
export const parkedId = ({ partition, projection, key, offset }: Parked): string => `${partition}:${projection}:${key ?? `@${offset}`}`

export const parking = (parked: Parked): Span => [[{ put: { ...parked, _pos: parked.offset } as Stored, expect: null }]]

/** Passes over more of its events. Whoever does so writes it, and so learns when another has healed the key meanwhile. */
export const passing = (was: StoredParked, through: number, offsets: readonly number[] = []): StoredParked => ({
  ...was,
  through: Math.max(was.through, through),
  waiting: was.waiting + offsets.filter((offset) => offset > was.through).length,
  _pos: was._pos + 1,
})

export const passed = (was: StoredParked, now: StoredParked): Span => [[{ put: now as Stored, expect: was._pos }]]

/** Its events fold now up to a later one: the entry moves there. */
export const reparking = (was: StoredParked, parked: Parked): Span => [[replacing(was, parked)]]

/** A healed key leaves how far it was healed: whoever lags behind and finds the same event poison does not park it a second time. */
export const unparking = ({ PK, SK, through, _pos }: StoredParked, expires: { readonly [ttl: string]: number }): Span =>
  [[replacing({ _pos }, { PK, SK, _removed: true, through, ...expires })]]

/** Parks over what was met: beside another's entry what is passed over here is added there, and what was healed meanwhile stays healed. */
export const parkingOver = (met: StoredParked | undefined, entry: Parked, behind: readonly number[]): { readonly made: StoredParked; readonly write: Span } | 'healed' => {
  if (met === undefined) return { made: { ...entry, _pos: entry.offset }, write: parking(entry) }
  const isDone = isTrace(met as Stored) && [entry.offset, ...behind].every((offset) => offset <= met.through)
  if (isDone) return 'healed'
  const made = isTrace(met as Stored) ? { ...entry, _pos: Math.max(entry.offset, met._pos + 1) } : passing(met, entry.through, behind)
  return { made, write: passed(met, made) }
}

/** Every entry of a partition; pages are followed, since all of them must be known before an event is folded. */
export const parkedOf = async (reader: Reader, partition: number): Promise<readonly StoredParked[]> =>
  (await everyItem(reader, { pk: parkedPartition(partition), limit: 200 })) as readonly StoredParked[]

export const parkedIn = async (store: Pick<Store, 'reader'>, partitions: Iterable<number>): Promise<readonly StoredParked[]> => {
  const reader = store.reader(() => 0)
  return (await Promise.all([...partitions].map((partition) => parkedOf(reader, partition)))).flat()
}
