import type { Event } from '../../schemas/event.ts'

/** The event log port: one topic. Order holds per partition, and a key always lies in one partition. */
export interface Position {
  readonly partition: number
  readonly offset: number
}

export interface LogRecord extends Position {
  /** When the log took it, epoch milliseconds. */
  readonly timestamp: number
  readonly key: string | null
  readonly value: Uint8Array
  /** Known beside the log (marks.ts): the projections that leave this event out, `*` for all of them. */
  readonly discarded?: readonly string[]
  /** Known beside the log: whoever folded it died, so nobody tries it unasked. */
  readonly killed?: true
}

export interface NewRecord {
  readonly key: string
  readonly value: Uint8Array
  /** The event that was encoded, if the caller has it: the headers are made of it, and the value is not decoded for them. No log stores it. */
  readonly event?: Pick<Event, 'type' | 'meta'>
  /** For consumers outside the program. Nothing here reads them back. Ignored by a log without `keepsHeaders`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** `low` is the first offset still there, `high` the one the next record will get. */
export interface Watermarks {
  readonly partition: number
  readonly low: number
  readonly high: number
}

/** What tells one incarnation of a topic from another. */
export interface TopicIdentity {
  readonly cluster: string
  readonly topic: string
  readonly partitions: number
}

export interface Subscriber {
  /**
   * True if callers wait for what this subscriber does. A log in the same process then holds back the rest of a large append until this
   * subscriber has passed the part before, so that one key's records never form a long queue before those of another key.
   */
  readonly isAwaited?: boolean
  /** A partition is ours now: where to begin. Throwing refuses it; the fault is reported through `failed` and tried again. */
  assigned(marks: Watermarks): Promise<number>
  /**
   * The next records of one partition, in order and without a gap; one call at a time per partition.
   * When it resolves, a log that stores offsets of groups commits the next offset, for tools outside the program. When it throws, the same records come again; when it throws the fault
   * `checkpoint-moved`, the subscription calls `assigned` again and continues at the offset that it returns.
   */
  batch(records: readonly LogRecord[], lease: Lease): Promise<void>
  /** No further batch of this partition will come. */
  revoked(partition: number): void
  /** Something is wrong that the subscription goes on trying to mend (or, if not retriable, stands still for). */
  failed(error: unknown): void
}

export interface Lease {
  readonly partition: number
  /** False as soon as the partition is known to be another's. */
  held(): boolean
}

export interface Subscription {
  /** Finishes the batches under way, commits, leaves. Concurrent calls share one promise. */
  stop(): Promise<void>
}

export interface Log {
  readonly topic: string
  /** The log stores the headers of records. */
  readonly keepsHeaders?: true
  /**
   * Durable when it resolves, in order per key. A log may write the records in several steps, with records of other appends between them.
   * Faults: `log-unavailable` (nothing written), `append-unknown` (all, some or none written), `record-too-large`, `log-full`, `log-second-writer`.
   * `patienceMs` bounds the attempts: after that time the call fails with one of the first two. Default: the log's own limit.
   */
  append(records: readonly NewRecord[], patienceMs?: number): Promise<readonly Position[]>
  subscribe(group: string, subscriber: Subscriber): Promise<Subscription>
  /** Records of a partition from `from` (inclusive) to `to` (exclusive; default the end as of now). Fault `log-trimmed` when `from` is below the low watermark. */
  read(partition: number, from: number, to?: number): AsyncIterable<readonly LogRecord[]>
  /** All records of one key from `from` (default 0) to the end as of now, in order. Fault `log-trimmed` when `from` is below the low watermark of the key's partition. */
  readKey(key: string, from?: number): AsyncIterable<readonly LogRecord[]>
  partitionOf(key: string): number
  watermarks(): Promise<readonly Watermarks[]>
  identity(): Promise<TopicIdentity>
  /** The topic's settings that let it remove events, as `name=value`; empty if there are none. Absent where a log never removes events. */
  retention?(): Promise<readonly string[]>
  /** Whether anybody follows the log as this group now. */
  followed(group: string): Promise<boolean>
  /** Removes a group and whatever the log stores of it; without effect if there is none. Fault `group-active` (retriable) while it has members. */
  removeGroup(group: string): Promise<void>
}

/** Opens topics; a topic that does not exist is created with the settings of the adapter. */
export interface Logs {
  open(topic: string, kept?: TopicIdentity): Promise<Log>
  /** Writes a consistent copy of all topics into an empty folder while appends go on, where the log's disk is ours. */
  copy?(folder: string): Promise<void>
  close(): Promise<void>
}
