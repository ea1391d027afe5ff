import type { Item, Key, Stored } from '../../../projections/item.ts'
import type { ChangeFeed } from '../../../projections/changes.ts'
import type { Reader, TableSpec } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'

/** A conditional write of one item. It is applied only if the stored item has `_pos` = `expect`. `expect: null`: only if no item is stored. */
export type Write =
  { readonly put: Stored; readonly expect: number | null } | { readonly remove: Key; readonly expect: number }

type Put = Extract<Write, { readonly put: Stored }>

/** Replaces the item `was`, which the caller has read (undefined: none). The write fails if another writer has changed the item since. */
export const replacing = (was: { readonly _pos: number } | undefined, item: Item): Put => ({
  put: { ...item, _pos: (was?._pos ?? 0) + 1 },
  expect: was?._pos ?? null,
})
export const removing = ({ PK, SK, _pos }: Stored): Write => ({ remove: { PK, SK }, expect: _pos })

/** Writes that are applied together or not at all. At most `MAX_ACTIONS` writes and `MAX_CHUNK_BYTES`; each key at most once. */
export type Chunk = readonly Write[]

/** The chunks of one log key, applied in order. If a chunk fails, the chunks after it are not applied. */
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
  /** `applied`: the number of chunks before the failed one. `current`: the items that are stored under the keys of the failed chunk. */
  | { readonly applied: number; readonly current: readonly Stored[] }

/** The projection store port: one generation of one domain's table. */
export interface Store {
  /** Returns an item without await, even if the item is expired. Absent if the store is remote. */
  readonly peek?: (key: Key) => Stored | undefined
  /** The items in the order of `keys`, by strongly consistent reads, expired items included. Undefined: no item, or a key that no store can store. */
  load(keys: readonly Key[]): Promise<readonly (Stored | undefined)[]>
  /**
   * Applies the spans, in any order or concurrently. Writes the checkpoint after them, and only if every span was applied (embedded: in the
   * same transaction).
   * Faults: `store-throttled`, `store-unavailable`, `table-missing` (retriable; a repeated call applies no chunk twice).
   * `checkpoint-moved`: the stored checkpoint is neither `checkpoint.from` nor `checkpoint.offset`, and nothing is written. DynamoDB checks it
   * before and after the spans: if another process moves it in between, the call fails although the spans are applied.
   * `RejectedSpans`: the store can never apply these spans. Their earlier chunks and the other spans are applied, the checkpoint is not written.
   */
  commit(spans: readonly Span[], checkpoint?: Checkpoint): Promise<readonly SpanOutcome[]>
  checkpoints(): Promise<ReadonlyMap<number, number>>
  /** Writes items without a check of `_pos`, best sorted by key. For a generation without readers only. `pace` receives write units or items. */
  bulk(items: Iterable<Stored> | AsyncIterable<Stored>, pace?: Pace): Promise<void>
  /** Yields all items of the table in pages, with expired items and without checkpoints. Partition keys have no particular order. */
  scan(): AsyncIterable<readonly Stored[]>
  /** True if a scan is sorted by the UTF-8 bytes of the keys. */
  readonly sorted?: true
  /** Erases from the disk all data that was overwritten or removed before the call. Absent if the disk belongs to another system. */
  scrub?(): Promise<void>
  /** Writes a consistent copy into an empty folder while reads and writes continue. Absent if the disk belongs to another system. */
  copy?(folder: string): Promise<void>
  /** Reports the changes of the table's items. Absent unless the table's spec sets `watched`. */
  readonly changes?: ChangeFeed
  /** The fault of the last write to the disk, until a write succeeds. Absent unless commits resolve before they are written to the disk. */
  readonly failing?: () => Fault | undefined
  /** A reader that hides items expired at `now`. Reads longer than `patienceMs` fail with `store-unavailable`. Default: the store's own limit. */
  reader(now: () => number, patienceMs?: number): Reader
  close(): Promise<void>
}

/** Called before each write with the size of the write. Resolves when the write may begin. */
export type Pace = (writes: number) => Promise<void>

export interface Stores {
  /** Opens a generation's table. Fault `table-missing` if there is none: `open` never creates a table. */
  open(spec: TableSpec, generation: number): Promise<Store>
  /** Creates the table if there is none, and opens it. */
  create(spec: TableSpec, generation: number): Promise<Store>
  /** Removes a generation's table. No effect if the table does not exist. */
  drop(spec: TableSpec, generation: number): Promise<void>
  /** The approximate size of a generation. Undefined if its table does not exist. */
  measure(spec: TableSpec, generation: number): Promise<Measured | undefined>
  /** Lets the store remove expired items. Called when a processor begins to follow the generation. Absent if the store never removes items. */
  enableTtl?(spec: TableSpec, generation: number): Promise<void>
  /** Turns on the change feed of the table. Called when a processor begins to follow the generation. Absent if the store needs no setting for it. */
  enableChanges?(spec: TableSpec, generation: number): Promise<void>
  close(): Promise<void>
}

export interface Measured {
  /** The number of items. Null if only the process that builds the generation can count them. */
  readonly items: number | null
  readonly bytes: number
}

export const MAX_ACTIONS = 100
export const MAX_CHUNK_BYTES = 4 * 1024 * 1024

/** The fault of a commit with spans that the store can never apply. `spans`: the fault of each such span, by its index in the commit. */
export class RejectedSpans extends Fault {
  readonly spans: ReadonlyMap<number, Fault>

  constructor(spans: ReadonlyMap<number, Fault>) {
    const [first] = spans.values()
    super(first?.code ?? 'item-rejected', first?.message ?? 'The store rejects an item.', { cause: first })
    this.spans = spans
  }
}
