import type { Item, Key, Stored } from '../../../projections/item.ts'
import type { ChangeFeed } from '../../../projections/changes.ts'
import type { Reader, TableSpec } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'

/** Applied only if the stored item has `_pos` = `expect`. `expect: null`: only if there is no item. */
export type Write =
  { readonly put: Stored; readonly expect: number | null } | { readonly remove: Key; readonly expect: number }

type Put = Extract<Write, { readonly put: Stored }>

/** Replaces the item that was read (undefined: there was none). The write fails if another writer changed it since. */
export const replacing = (was: { readonly _pos: number } | undefined, item: Item): Put => ({
  put: { ...item, _pos: (was?._pos ?? 0) + 1 },
  expect: was?._pos ?? null,
})
export const removing = ({ PK, SK, _pos }: Stored): Write => ({ remove: { PK, SK }, expect: _pos })

/** Writes that are applied together or not at all. At most `MAX_ACTIONS` writes and `MAX_CHUNK_BYTES`; each key at most once. */
export type Chunk = readonly Write[]

/** The chunks of one log key, applied in order. The first chunk that fails ends the span. */
export type Span = readonly Chunk[]

/** Moves a partition's checkpoint from `from` to `offset`. If both are equal, the commit only requires that the stored checkpoint is `from`. */
export interface Checkpoint {
  readonly partition: number
  /** The checkpoint that this writer read or wrote last. 0: the store had none. */
  readonly from: number
  /** The next offset to process: the effects of all events before it are stored. */
  readonly offset: number
}

export type SpanOutcome =
  | { readonly applied: 'all' }
  /** `applied` is the number of applied chunks. `current` has the stored items that the failed chunk would have written, without absent ones. */
  | { readonly applied: number; readonly current: readonly Stored[] }

/** The projection store port: one generation of one domain's table. */
export interface Store {
  /** Reads without await, expired items included. Absent if the store is remote. */
  readonly peek?: (key: Key) => Stored | undefined
  /** A strongly consistent read, in the order of `keys`, expired items included. Undefined for a key that no store can hold. */
  load(keys: readonly Key[]): Promise<readonly (Stored | undefined)[]>
  /**
   * Applies the spans, concurrently or not. Writes the checkpoint after them (embedded: in the same transaction), and only if every span applied.
   * Faults: `store-throttled`, `store-unavailable`, `table-missing` (retriable; a repeated call finds the chunks that applied).
   * `checkpoint-moved`: the stored checkpoint is neither `from` nor `offset`; nothing is written. DynamoDB reads the checkpoint before the
   * spans, and its write of the checkpoint requires it again.
   * `RejectedSpans`: the store can never apply these spans. Their earlier chunks and the other spans are applied, the checkpoint is not.
   */
  commit(spans: readonly Span[], checkpoint?: Checkpoint): Promise<readonly SpanOutcome[]>
  checkpoints(): Promise<ReadonlyMap<number, number>>
  /** Writes items without conditions, for a generation that has no readers yet. Items should be sorted by key. `pace` is called with write units if the store has them. */
  bulk(items: Iterable<Stored> | AsyncIterable<Stored>, pace?: Pace): Promise<void>
  /** All items of the table in pages, expired items included, checkpoints not. Partitions have no particular order. */
  scan(): AsyncIterable<readonly Stored[]>
  /** True if a scan is sorted by the UTF-8 bytes of the keys. */
  readonly sorted?: true
  /** Erases from the disk all data that was overwritten or removed before the call. Absent if the disk belongs to another system. */
  scrub?(): Promise<void>
  /** Writes a consistent copy into an empty folder while reads and writes continue. Absent if the disk belongs to another system. */
  copy?(folder: string): Promise<void>
  /** The changes of the table's items. Absent unless the table's spec sets `watched`. */
  readonly changes?: ChangeFeed
  /** The fault of the last write, until a write succeeds. Absent unless the store writes commits after it accepted them. */
  readonly failing?: () => Fault | undefined
  /**
   * A reader that hides the items that have expired at `now`. A read that takes longer than `patienceMs`, retries included, fails with
   * `store-unavailable`. Default: the store's own limit.
   */
  reader(now: () => number, patienceMs?: number): Reader
  close(): Promise<void>
}

/** Called before each write with its size. Resolves when the write may begin. */
export type Pace = (writes: number) => Promise<void>

export interface Stores {
  /** Opens a generation's table. Fault `table-missing` if there is none: only a rebuild, and the first start, create tables. */
  open(spec: TableSpec, generation: number): Promise<Store>
  /** Creates the table if there is none, and opens it. */
  create(spec: TableSpec, generation: number): Promise<Store>
  /** No effect if the table does not exist. */
  drop(spec: TableSpec, generation: number): Promise<void>
  /** The approximate size of a generation. Undefined if its table does not exist. */
  measure(spec: TableSpec, generation: number): Promise<Measured | undefined>
  /** Lets the store remove expired items, from when the generation follows the log. Absent if the store never removes them by itself. */
  enableTtl?(spec: TableSpec, generation: number): Promise<void>
  /** Turns on the change feed of the table, from when the generation follows the log. Absent if the store needs no setting for it. */
  enableChanges?(spec: TableSpec, generation: number): Promise<void>
  close(): Promise<void>
}

export interface Measured {
  /** Null if only the process that builds the generation can count them. */
  readonly items: number | null
  readonly bytes: number
}

export const MAX_ACTIONS = 100
export const MAX_CHUNK_BYTES = 4 * 1024 * 1024

/** Spans that the store can never apply: each with its index in the commit and its fault. */
export class RejectedSpans extends Fault {
  readonly spans: ReadonlyMap<number, Fault>

  constructor(spans: ReadonlyMap<number, Fault>) {
    const [first] = spans.values()
    super(first?.code ?? 'item-rejected', first?.message ?? 'The store rejects an item.', { cause: first })
    this.spans = spans
  }
}
