import type { Item, Key, Stored } from '../../projections/item.ts'
import type { ChangeFeed } from '../../projections/changes.ts'
import type { Reader, TableSpec } from '../../projections/table.ts'
import type { Fault } from '../../schemas/fault.ts'
import type { Pace } from './pace.ts'

/** Conditioned on the `_pos` the item was folded from; null means the item was absent. */
export type Write =
  | { readonly put: Stored; readonly expect: number | null }
  | { readonly remove: Key; readonly expect: number }

type Put = Extract<Write, { readonly put: Stored }>

/** Over what was read, unless somebody else has written it since. */
export const replacing = (was: { readonly _pos: number } | undefined, item: Item): Put => ({ put: { ...item, _pos: (was?._pos ?? 0) + 1 }, expect: was?._pos ?? null })
export const removing = ({ PK, SK, _pos }: Stored): Write => ({ remove: { PK, SK }, expect: _pos })

/** Written all or nothing. At most 100 writes and 4 MB; no key twice. */
export type Chunk = readonly Write[]

/** The chunks of one log key, to be applied in order; the first that fails ends its span. */
export type Span = readonly Chunk[]

/** Moves a partition's checkpoint from `from` to `offset`. If both are equal, the commit only requires that the checkpoint is there. */
export interface Checkpoint {
  readonly partition: number
  /** The checkpoint that this writer read or wrote last; 0 if the store had none. */
  readonly from: number
  /** The next offset to process: everything before it is in the items. */
  readonly offset: number
}

export type SpanOutcome =
  | { readonly applied: 'all' }
  /** `current` are the items the failed chunk's writes met, as they are now (absent ones left out). */
  | { readonly applied: number; readonly current: readonly Stored[] }

/** The projection store port: one generation of one domain's table. */
export interface Store {
  /** Reads without await, where the store can (embedded). Expired items included. */
  readonly peek?: (key: Key) => Stored | undefined
  /** Strongly consistent, in the order asked for; expired items included. An item whose key no store can hold is absent. */
  load(keys: readonly Key[]): Promise<readonly (Stored | undefined)[]>
  /**
   * Spans are independent of each other and may run side by side. The checkpoint is written after all of them
   * (embedded: in the same transaction) and only if every span applied.
   * Faults: `store-throttled`, `store-unavailable`, `table-missing` (retriable; calling again finds what applied).
   * `checkpoint-moved`: the stored checkpoint is neither `from` nor `offset`; nothing is written. (DynamoDB reads it before the spans, and
   * the write of the checkpoint requires it again.)
   * `RejectedSpans`: the store will never take these spans. Their earlier chunks and the other spans are applied, the checkpoint is not.
   */
  commit(spans: readonly Span[], checkpoint?: Checkpoint): Promise<readonly SpanOutcome[]>
  checkpoints(): Promise<ReadonlyMap<number, number>>
  /** Unconditional, for a generation nobody reads yet. Items should come sorted by key. `pace` is asked in write units, where the store has them. */
  bulk(items: Iterable<Stored> | AsyncIterable<Stored>, pace?: Pace): Promise<void>
  /** Every item of the table, in pages, in no particular order across partitions; expired items included. Checkpoints are not items. */
  scan(): AsyncIterable<readonly Stored[]>
  /** Where a scan comes in the order of its keys' UTF-8 bytes. */
  readonly sorted?: true
  /** Leaves nothing on disk of what was overwritten or removed before the call, where the store's disk is ours. */
  scrub?(): Promise<void>
  /** Writes a consistent copy into an empty folder while reads and writes go on, where the store's disk is ours. */
  copy?(folder: string): Promise<void>
  /** What changes in it, for those who watch; only of a table whose spec says that somebody does. */
  readonly changes?: ChangeFeed
  /** The fault of the last write of accepted commits, until a write succeeds; only of a store that writes later than it accepts. */
  readonly failing?: () => Fault | undefined
  /**
   * Answers questions as of a clock. `patienceMs`: a read that takes longer, attempts included, fails with `store-unavailable`.
   * Default: the store's own attempts.
   */
  reader(now: () => number, patienceMs?: number): Reader
  close(): Promise<void>
}

export interface Stores {
  /** Opens a generation's table. Fault `table-missing` if there is none: only a rebuild, and the first start, create tables. */
  open(spec: TableSpec, generation: number): Promise<Store>
  /** Creates the table if there is none, and opens it. */
  create(spec: TableSpec, generation: number): Promise<Store>
  /** Without effect where it is gone already. */
  drop(spec: TableSpec, generation: number): Promise<void>
  /** About what a generation holds; undefined where it is not there. */
  measure(spec: TableSpec, generation: number): Promise<Measured | undefined>
  /** The generation follows the log now, so what has expired may be removed for good, where the store does that. */
  enableTtl?(spec: TableSpec, generation: number): Promise<void>
  /** The generation follows the log now, so what changes in it may be watched, where the store must be told. */
  enableChanges?(spec: TableSpec, generation: number): Promise<void>
  close(): Promise<void>
}

export interface Measured {
  /** Null where only the process that builds it can tell. */
  readonly items: number | null
  readonly bytes: number
}

export const MAX_ACTIONS = 100
export const MAX_CHUNK_BYTES = 4 * 1024 * 1024
