import { isTombstone, type Key, type Stored } from '../../../projections/item.ts'
import { everyItem, type Reader } from '../../../projections/table.ts'
import { Fault, messageOf } from '../../../schemas/fault.ts'
import type { Poison } from '../fold/sort.ts'
import { replacing, type Span, type Store } from '../ports/store.ts'
import { parkedKey, parkedPartition } from './keys.ts'

/** The entry of a parked key: one of its events could not be folded. The events stay in the log. */
export type Parked = Key & {
  readonly projection: string
  /** The log key. Null for a record without a key: such a record is parked by its position. */
  readonly key: string | null
  readonly partition: number
  /** The offset of the event that could not be folded. */
  readonly offset: number
  /** The last offset that was skipped while the key was parked. A healing folds the key's events up to this offset. */
  readonly through: number
  readonly code: string
  readonly reason: string
  readonly stack: string
  readonly type: string
  readonly eventId: string
  /** The instant at which the event was recorded, in epoch milliseconds. The items of the key contain no later events. */
  readonly since: number
  /** The number of later events of the key that were skipped. */
  readonly waiting: number
  /** True after an operator requested a retry: the owner of the partition folds the key again. */
  readonly retry?: boolean
  /** True while the event is being discarded: no process heals the key until the discard is recorded. */
  readonly discarding?: boolean
}
export type StoredParked = Parked & { readonly _pos: number }

/** The maximum lengths of texts in an entry. An entry is an item, and the size of an item is limited. */
const REASON_LENGTH = 1_000
const STACK_LENGTH = 4_000

/** Returns the text with each string of the personal data replaced by `[personal]`. */
const withoutPersonal = (text: string, personal: unknown): string => {
  if (typeof personal === 'string') return personal === '' ? text : text.replaceAll(personal, '[personal]')
  if (typeof personal !== 'object' || personal === null) return text
  return Object.values(personal).reduce<string>((rest, member) => withoutPersonal(rest, member), text)
}

export const parkedFrom = (
  { projection, key, position, error, type = '', eventId = '', recordedAt = 0, personal, behind = [] }: Poison,
  through: number,
): Parked => ({
  ...parkedKey(position.partition, projection, key ?? `@${position.offset}`),
  projection,
  key,
  partition: position.partition,
  offset: position.offset,
  through,
  code: error instanceof Fault ? error.code : 'fold-threw',
  reason: withoutPersonal(messageOf(error), personal).slice(0, REASON_LENGTH),
  stack: withoutPersonal(error instanceof Error ? (error.stack ?? '') : '', personal).slice(0, STACK_LENGTH),
  type,
  eventId,
  since: recordedAt,
  waiting: behind.length,
})

/** The name of an entry within its partition. A key has one entry per projection. A record without a key is named by its offset. */
export const parkedName = ({ projection, key, offset }: Pick<Parked, 'projection' | 'key' | 'offset'>): string =>
  `${projection}#${key ?? `@${offset}`}`

/** The name of an entry as people read it: `partition:projection:key`. */
export const parkedId = ({ partition, projection, key, offset }: Parked): string =>
  `${partition}:${projection}:${key ?? `@${offset}`}`

export const insertEntry = (parked: Parked): Span => [
  [{ put: { ...parked, _pos: parked.offset } as Stored, expect: null }],
]

/**
 * Returns the entry after more events of the key were skipped. The write of this entry fails if another process has healed the key in the
 * meantime.
 */
export const extendEntry = (was: StoredParked, through: number, offsets: readonly number[] = []): StoredParked => ({
  ...was,
  through: Math.max(was.through, through),
  waiting: was.waiting + offsets.filter((offset) => offset > was.through).length,
  _pos: was._pos + 1,
})

export const updateEntry = (was: StoredParked, now: StoredParked): Span => [[{ put: now as Stored, expect: was._pos }]]

/**
 * Replaces the entry after a healing that stopped: the key is now parked at the event that could not be folded, and the events before it
 * are folded.
 */
export const replaceEntry = (was: StoredParked, parked: Parked): Span => [[replacing(was, parked)]]

/**
 * Replaces the entry of a healed key by a tombstone that keeps `through`, the last skipped offset. A process that is behind then finds that
 * the events up to this offset were healed, and does not park the key again.
 */
export const removeEntry = (
  { PK, SK, through, _pos }: StoredParked,
  expires: { readonly [ttl: string]: number },
): Span => [[replacing({ _pos }, { PK, SK, _removed: true, through, ...expires })]]

/**
 * Returns the write that parks a key, and the new entry. `met` is the stored entry, if there is one. Adds the skipped events to an entry of
 * another process. Returns `healed` if `met` is a tombstone that covers all these events.
 */
export const mergeEntry = (
  met: StoredParked | undefined,
  entry: Parked,
  behind: readonly number[],
): { readonly made: StoredParked; readonly write: Span } | 'healed' => {
  if (met === undefined) return { made: { ...entry, _pos: entry.offset }, write: insertEntry(entry) }
  const isHealed = isTombstone(met as Stored) && [entry.offset, ...behind].every((offset) => offset <= met.through)
  if (isHealed) return 'healed'
  const made = isTombstone(met as Stored)
    ? { ...entry, _pos: Math.max(entry.offset, met._pos + 1) }
    : extendEntry(met, entry.through, behind)
  return { made, write: updateEntry(met, made) }
}

/** Reads all entries of a partition. A processor must read them before it folds an event of the partition. */
export const parkedInPartition = async (reader: Reader, partition: number): Promise<readonly StoredParked[]> =>
  (await everyItem(reader, { pk: parkedPartition(partition), limit: 200 })) as readonly StoredParked[]

export const parkedIn = async (
  store: Pick<Store, 'reader'>,
  partitions: Iterable<number>,
): Promise<readonly StoredParked[]> => {
  const reader = store.reader(() => 0)
  return (await Promise.all([...partitions].map((partition) => parkedInPartition(reader, partition)))).flat()
}
