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
  /** The names of the projections that skip this event, or `EVERY_PROJECTION`. They are from a verdict (poison/verdicts.ts) and not in the log. */
  readonly discarded?: readonly string[]
  /** True if a verdict states that this event crashes every process that folds it. It is folded only after an operator requests a retry. */
  readonly crashes?: true
}

/** Used instead of the name of a projection: all projections of the domain. */
export const EVERY_PROJECTION = '*'

export interface NewRecord {
  readonly key: string
  readonly value: Uint8Array
  /** The event that `value` encodes. If present, the headers are derived from this event without decoding `value`. No log stores this field. */
  readonly event?: Pick<Event, 'type' | 'meta'>
  /** Headers for consumers outside of the program. The program does not read headers. A log without `hasHeaders` ignores them. */
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
   * True if callers wait for the results of this subscriber. Then a log in the same process writes a large append in parts, and writes each
   * part only after the subscriber has processed the part before. So callers with other keys need not wait for the whole append.
   */
  readonly isAwaited?: boolean
  /** Called when this member gets a partition. Resolves to the first offset to deliver. On an error, the log calls `failed` and tries again. */
  assigned(marks: Watermarks): Promise<number>
  /**
   * Receives the next records of one partition, in order and without gaps, one call at a time per partition. After the call resolves, a log
   * with stored group offsets (Kafka) commits the next offset there. Only external tools read that offset. If the call throws, the log
   * delivers the same records again. If it throws the fault `checkpoint-moved`, the log first calls `assigned` again and continues at the
   * offset that `assigned` returns.
   */
  batch(records: readonly LogRecord[], assignment: Assignment): Promise<void>
  /** The partition is no longer assigned to this member: no further batch of it follows. */
  revoked(partition: number): void
  /** Receives each error of the subscription. After a retriable error the log tries again. After any other error it delivers no more records. */
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
  /** True if the log stores the headers of records. Absent: the log ignores headers. */
  readonly hasHeaders?: true
  /**
   * Appends records, in order per key. Resolves to their positions when they are durable. A log may write the records in several steps,
   * with records of other appends between them. Faults: `log-unavailable` (no record is written), `append-unknown` (all, some or no records
   * are written), `record-too-large`, `log-full`, `log-second-writer`. `patienceMs` limits the time of the attempts: after this time the
   * call fails with `log-unavailable` or `append-unknown`. Default: the log's own limit.
   */
  append(records: readonly NewRecord[], patienceMs?: number): Promise<readonly Position[]>
  subscribe(group: string, subscriber: Subscriber): Promise<Subscription>
  /** Yields the records of a partition from `from` to before `to` (default: the present end). Fault `log-trimmed` below the low watermark. */
  read(partition: number, from: number, to?: number): AsyncIterable<readonly LogRecord[]>
  /** Yields the records of one key from `from` (default: 0) to the present end, in order. Fault `log-trimmed` below the low watermark. */
  readKey(key: string, from?: number): AsyncIterable<readonly LogRecord[]>
  partitionOf(key: string): number
  watermarks(): Promise<readonly Watermarks[]>
}
