/** The envelope of every event: `EventMeta` in schemas/common.avdl. */
export interface EventMeta {
  readonly eventId: string
  /** What orders the event: the log's key, and the unit the engine folds by. */
  readonly key: string
  /** When it happened, epoch milliseconds. Folds take time from here and nowhere else. */
  readonly occurredAt: number
  readonly recordedAt: number
  readonly source: string
  readonly correlationId: string | null
  readonly causationId: string | null
  readonly actorId: string | null
  /** Whose `personal` it is. */
  readonly subjectId: string | null
  /** Set when the caller sent an Idempotency-Key: its stored form, and the hash of the body it came with. */
  readonly request: { readonly key: string; readonly hash: string } | null
}

/** Begins the stored form of an Idempotency-Key. Events of older releases contain the key itself. */
export const HASHED_KEY = 'sha256:'

/** `meta.source` of an event that another event caused. */
export const DERIVED_SOURCE = 'derived'

/** What a fold sees instead of personal data whose key was destroyed. */
export const FORGOTTEN = 'forgotten'
export type Forgotten = typeof FORGOTTEN

/** Stands for personal data that is sealed with a key that the reader does not have. Folds never receive it. */
export const SEALED_PERSONAL = 'sealed'

export interface Event<T extends string = string, D = unknown, P = unknown> {
  readonly type: T
  readonly meta: EventMeta
  readonly data: D
  readonly personal: P | Forgotten | null
}
