import type { Event } from '../../../schemas/event.ts'

export interface Position {
  readonly partition: number
  readonly offset: number
}

export interface LogRecord extends Position {
  /** The instant at which the log stored the record, in epoch milliseconds. */
  readonly timestamp: number
  readonly key: string | null
  readonly value: Uint8Array
  /** The projections that skip this event, by a verdict outside of the log (poison/verdicts.ts). See `EVERY_PROJECTION`. */
  readonly discarded?: readonly string[]
  /** True if, by such a verdict, the event crashed every process that folded it. It is folded again only on request. */
  readonly crashes?: true
}

/** Stands for all projections, where a projection is named. */
export const EVERY_PROJECTION = '*'

export interface NewRecord {
  readonly key: string
  readonly value: Uint8Array
  /** The event that `value` encodes. If present, the headers are derived from it without decoding the value. No log stores it. */
  readonly event?: Pick<Event, 'type' | 'meta'>
  /** For consumers outside of the program. The program does not read them. A log without `hasHeaders` ignores them. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The bounds of a partition: `low` is the first offset that the log still has, `high` the offset of the next record. */
export interface Watermarks {
  readonly partition: number
  readonly low: number
  readonly high: number
}

export interface Subscriber {
  /**
   * True if callers wait for the result of this subscriber. A log in the same process then holds back the rest of a large append until
   * the subscriber has processed the part before, so that the records of one key do not delay those of another key.
   */
  readonly isAwaited?: boolean
  /** The partition is assigned to this member. Returns the offset to begin at. If it throws, the log calls `failed` and tries again. */
  assigned(marks: Watermarks): Promise<number>
  /**
   * Receives the next records of one partition, in order and without gaps, one call at a time per partition.
   * After it resolves, a log that stores offsets of groups commits the next offset, for tools outside of the program.
   * If it throws, the log delivers the same records again. If it throws the fault `checkpoint-moved`, the log calls `assigned` again and
   * continues at the offset that it returns.
   */
  batch(records: readonly LogRecord[], assignment: Assignment): Promise<void>
  /** The partition is no longer assigned to this member: no further batch of it follows. */
  revoked(partition: number): void
  /** Receives each error of the subscription. The log retries after a retriable error, and otherwise delivers nothing more. */
  failed(error: unknown): void
}

/** The assignment of a partition to a member of a consumer group. */
export interface Assignment {
  readonly partition: number
  /** False as soon as the log knows that the partition is assigned to another member. */
  isCurrent(): boolean
}

export interface Subscription {
  /** Finishes the running batches, commits and leaves the group. Concurrent calls share one promise. */
  stop(): Promise<void>
}

/** The event log port: one topic. Each partition keeps its records in order, and all records of a key are in the same partition. */
export interface Log {
  readonly topic: string
  /** The log stores the headers of records. */
  readonly hasHeaders?: true
  /**
   * Resolves when the records are durable, in order per key. A log may write the records in several steps, with records of other appends between them.
   * Faults: `log-unavailable` (no record is written), `append-unknown` (all, some or no records are written), `record-too-large`, `log-full`, `log-second-writer`.
   * `patienceMs` limits the attempts: after that time the call fails with one of the first two. Default: the log's own limit.
   */
  append(records: readonly NewRecord[], patienceMs?: number): Promise<readonly Position[]>
  subscribe(group: string, subscriber: Subscriber): Promise<Subscription>
  /** The records of a partition from `from` (inclusive) to `to` (exclusive). Default of `to`: the present end. Fault `log-trimmed` if `from` is below the low watermark. */
  read(partition: number, from: number, to?: number): AsyncIterable<readonly LogRecord[]>
  /** The records of one key from `from` (default 0) to the present end, in order. Fault `log-trimmed` if `from` is below the low watermark of the key's partition. */
  readKey(key: string, from?: number): AsyncIterable<readonly LogRecord[]>
  partitionOf(key: string): number
  watermarks(): Promise<readonly Watermarks[]>
}
