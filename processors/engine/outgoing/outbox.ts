import { v5 } from 'uuid'
import type { Item } from '../../../projections/item.ts'
import type { Derived } from '../../../projections/projection.ts'
import type { Codec } from '../../../schemas/codec.ts'
import { DERIVED_SOURCE, type Event, type EventMeta } from '../../../schemas/event.ts'
import type { Cause, LoggedEvent } from '../fold/decide.ts'
import { outboxKey } from './keys.ts'

/** The UUID namespace of the ids of derived events and timers. This value must never change, because each replay must compute the same ids. */
export const NAMESPACE = '8f0d8d5e-3d0b-5d86-9d1c-5a3a1f2d9c11'

/** A derived event that is to be sent. The row is written in the same commit as the items of the event that caused the derived event. */
export type OutboxRow = Item & {
  readonly id: string
  readonly kind: 'derived'
  /** The key of the derived event. */
  readonly key: string
  /** The projection that derived the event. */
  readonly projection: string
  /** The key of the event that caused the derived event. */
  readonly cause: string
  readonly value: string
}

/** True for a row whose event is to be sent. False for a row of kind `effect`: only earlier releases stored such rows, and nothing sends them. */
export const isDerivedRow = (row: Item): row is OutboxRow => row['kind'] === 'derived'

/** Returns one row per derived event. */
export const outboxOf =
  (codec: Codec) =>
  (cause: Cause, derived: readonly Derived[]): readonly OutboxRow[] =>
    derived.map((each, index) => ({
      ...outboxKey(cause, cause.projection, index),
      ...derivedRow(codec, cause, each),
      projection: cause.projection,
      cause: cause.event.meta.key,
    }))

export const sentId = (cause: Event, purpose: string): string => v5(`${cause.meta.eventId}:${purpose}`, NAMESPACE)

const derivedRow = (codec: Codec, { event: cause }: LoggedEvent, { purpose, event }: Derived) => {
  const id = sentId(cause, purpose)
  const value = encodeCaused(codec, cause, { event, meta: { eventId: id, key: event.key, source: DERIVED_SOURCE } })
  return { id, kind: 'derived' as const, key: event.key, value }
}

interface Caused {
  readonly event: Derived['event']
  /** The metadata of the event that differs from the metadata of its cause. */
  readonly meta: Pick<EventMeta, 'eventId' | 'source'> & Partial<EventMeta>
}

/** Encodes an event that another event caused. Returns the bytes in base64, for a row. */
export const encodeCaused = (
  codec: Codec,
  { meta: cause }: Event,
  { event: { type, data, personal = null, subjectId }, meta }: Caused,
): string => {
  const chain = { correlationId: cause.correlationId ?? cause.eventId, causationId: cause.eventId }
  return Buffer.from(
    codec.encode({
      type,
      meta: { ...cause, ...chain, subjectId: subjectId ?? null, request: null, ...meta },
      data,
      personal,
    }),
  ).toString('base64')
}
