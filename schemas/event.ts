/** The envelope of every event: `EventMeta` in schemas/common.avdl. */
export interface EventMeta {
  readonly eventId: string
  /** The log key. Events of one key are in order, and the engine folds by key. */
  readonly key: string
  /** The time at which the event happened, in epoch milliseconds. Folds take the time from this field only. */
  readonly occurredAt: number
  readonly recordedAt: number
  readonly source: string
  readonly correlationId: string | null
  readonly causationId: string | null
  readonly actorId: string | null
  /** The person whom `personal` is about. */
  readonly subjectId: string | null
  /** `key`: the stored form of the Idempotency-Key of the request. `hash`: the hash of the request's body. Null if the caller sent no such key. */
  readonly request: { readonly key: string; readonly hash: string } | null
}

/** The stored form of an Idempotency-Key begins with this text, and a hash follows. Events of older releases contain the key itself. */
export const HASHED_KEY = 'sha256:'

/** `meta.source` of an event that another event caused. */
export const DERIVED_SOURCE = 'derived'

/** The value of `personal` in a fold if the person's key was destroyed. */
export const FORGOTTEN = 'forgotten'
/** The value of `personal` after its person was forgotten: `FORGOTTEN`. */
export type Forgotten = typeof FORGOTTEN

/** The value of `personal` if the reader does not have the key of the sealed data. Folds never receive this value. */
export const SEALED_PERSONAL = 'sealed'

/** A decoded event: its type, its envelope, its data, and the personal data that can be forgotten. `personal` is null if the event has none. */
export interface Event<T extends string = string, D = unknown, P = unknown> {
  readonly type: T
  readonly meta: EventMeta
  readonly data: D
  readonly personal: P | Forgotten | null
}
