import type { Key, Stored } from '../../projections/item.ts'
import type { Reader } from '../../projections/table.ts'
import { Fault } from '../../schemas/fault.ts'
import { parkedKey, parkedPartition } from './keys.ts'
import type { Position } from './log.ts'
import type { Span } from './store.ts'

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
  /** Set by `parked retry`: the partition's owner heals the key when it sees it. */
  readonly retry?: boolean
}
export type StoredParked = Parked & { readonly _pos: number }

export interface Poison {
  readonly projection: string
  readonly key: string | null
  readonly position: Position
  readonly error: unknown
  readonly type?: string
  readonly eventId?: string
}

export const parkedFrom = ({ projection, key, position, error, type = '', eventId = '' }: Poison, through: number): Parked => ({
  ...parkedKey(position.partition, projection, key ?? `@${position.offset}`),
  projection,
  key,
  partition: position.partition,
  offset: position.offset,
  through,
  code: error instanceof Fault ? error.code : 'fold-threw',
  reason: error instanceof Error ? error.message : String(error),
  stack: error instanceof Error ? (error.stack ?? '') : '',
  type,
  eventId,
})

/** The same name as shown to people: `partition:projection:key`. */
export const parkedId = ({ partition, projection, key, offset }: Parked): string => `${partition}:${projection}:${key ?? `@${offset}`}`

export const parking = (parked: Parked): Span => [[{ put: { ...parked, _pos: parked.offset } as Stored, expect: null }]]

/** Passes over more of its events. Whoever does so writes it, and so learns when another has healed the key meanwhile. */
export const passing = (was: StoredParked, through: number): StoredParked => ({ ...was, through: Math.max(was.through, through), _pos: was._pos + 1 })

export const passed = (was: StoredParked, now: StoredParked): Span => [[{ put: now as Stored, expect: was._pos }]]

/** Its events fold now up to a later one: the entry moves there. */
export const reparking = (was: StoredParked, parked: Parked): Span => [[{ put: { ...parked, _pos: was._pos + 1 } as Stored, expect: was._pos }]]

export const unparking = ({ PK, SK, _pos }: StoredParked): Span => [[{ remove: { PK, SK }, expect: _pos }]]

/** Every entry of a partition; pages are followed, since all of them must be known before an event is folded. */
export const parkedOf = async (reader: Reader, partition: number): Promise<readonly StoredParked[]> => {
  const found: StoredParked[] = []
  let cursor: string | undefined
  do {
    const page = await reader.query({ pk: parkedPartition(partition), limit: 200, ...(cursor === undefined ? {} : { cursor }) })
    found.push(...(page.items as readonly StoredParked[]))
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}
