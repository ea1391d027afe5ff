import { v5 } from 'uuid'
import type { Item } from '../../projections/item.ts'
import type { Derived, Result } from '../../projections/projection.ts'
import type { Codec } from '../../schemas/codec.ts'
import { DERIVED_SOURCE, type Event, type EventMeta } from '../../schemas/event.ts'
import type { Heard } from './decide.ts'
import { outboxKey } from './keys.ts'

/** Fixed for ever: ids of derived events and timers are made in it. */
export const NAMESPACE = '8f0d8d5e-3d0b-5d86-9d1c-5a3a1f2d9c11'

/** A row of what is to be sent, written in the same commit as the items of the event that caused it. */
export type OutboxRow = Item & {
  readonly id: string
  readonly kind: 'derived'
  /** The key of the derived event. */
  readonly key: string
  /** The projection whose fold derived it. */
  readonly projection: string
  /** The key of the event that it is derived from. */
  readonly cause: string
  readonly value: string
}

/** False for a row of kind `effect`, which only earlier releases stored and which nothing sends. */
export const isDerivedRow = (row: Item): row is OutboxRow => row['kind'] === 'derived'

/** One row per event that an event's result derives. */
export const outboxOf = (codec: Codec) => (heard: Heard, { derived = [] }: Result, projection: string): readonly OutboxRow[] =>
  derived.map((one, index) => ({ ...outboxKey(heard, projection, index), ...derivedRow(codec, heard, one), projection, cause: heard.event.meta.key }))

export const sentId = (cause: Event, purpose: string): string => v5(`${cause.meta.eventId}:${purpose}`, NAMESPACE)

const derivedRow = (codec: Codec, { event: cause }: Heard, { purpose, event }: Derived) => {
  const id = sentId(cause, purpose)
  const value = encodeCaused(codec, cause, { event, meta: { eventId: id, key: event.key, source: DERIVED_SOURCE } })
  return { id, kind: 'derived' as const, key: event.key, value }
}

interface Caused {
  readonly event: Derived['event']
  /** Where it is not as of its cause. */
  readonly meta: Pick<EventMeta, 'eventId' | 'source'> & Partial<EventMeta>
}

/** An event that another caused, as rows hold it. */
export const encodeCaused = (codec: Codec, { meta: cause }: Event, { event: { type, data, personal = null, subjectId }, meta }: Caused): string => {
  const chain = { correlationId: cause.correlationId ?? cause.eventId, causationId: cause.eventId }
  return Buffer.from(codec.encode({ type, meta: { ...cause, ...chain, subjectId: subjectId ?? null, request: null, ...meta }, data, personal })).toString('base64')
}
