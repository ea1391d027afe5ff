import { keyOf, type Key, type Stored } from '../../../projections/item.ts'
import type { TableSpec } from '../../../projections/table.ts'
import type { Fault } from '../../../schemas/fault.ts'
import { isPacked, type BuildTarget, type Packed, type Packing } from '../../engine/rebuild/build-target.ts'
import { isStorableKey, MAX_KEY_BYTES, requireStorable, requireStorableChunk } from '../../engine/rows/storable.ts'
import { requireCheckpoint } from '../../engine/run/fencing.ts'
import { isRejection } from '../../engine/rows/store-faults.ts'
import { asFault } from './environment.ts'
import { createFeed } from './feed.ts'
import { createGathering, type Gathering } from './gathering.ts'
import { membershipOf, withoutUndefined, type Tables } from './items.ts'
import { advance, type Overlay } from './pending.ts'
import { createReader } from './reader.ts'
import { createRecent } from './recent.ts'
import { checkpointsIn, openWriter, type GenerationParts, type Writer } from './writer.ts'
import {
  type Chunk,
  type Pace,
  RejectedSpans,
  type Span,
  type SpanOutcome,
  type Store,
} from '../../engine/ports/store.ts'

/** The store of one generation on LMDB. `write` resolves when its items are on disk. It is fastest if the items are sorted by key. */
export interface LmdbStore extends BuildTarget {
  /** Resolves when all writes accepted so far are on disk. */
  sync(): Promise<void>
}

const BULK = 20_000
const PAGE = 1_000
/** The assumed size on disk, in bytes, of an item of a bulk write. The writer uses it to check before each write that the disk has room. */
const ITEM_BYTES = 2_048

/**
 * One generation of a table. A commit is accepted or rejected at once, in memory, against all earlier commits. A thread of LMDB writes the
 * gathered commits a moment later, in one transaction with their checkpoints. A `kill -9` therefore loses whole commits together with their
 * checkpoints, and the processor folds the events of these commits again. Commits to a `durable` table resolve when they are on disk, because no
 * log contains their items.
 */
export const openGeneration = ({ durable, ...parts }: GenerationParts & { readonly durable: boolean }): LmdbStore => {
  const { spec } = parts
  const writer = openWriter(parts)
  const recent = createRecent()
  const feed = feedOf(spec)
  const gathering = createGathering(writer, recent, feed.add)
  const { drain, overlay } = gathering
  const find = findIn(spec, { writer, overlay })
  const checkpoints = checkpointsIn(writer.tables(), parts)
  let closing: Promise<void> | undefined
  const drainedTables = async (): Promise<Tables> => {
    await drain()
    return writer.tables()
  }
  const write: LmdbStore['write'] = async (puts, removes, newCheckpoints) => {
    const items = changesOf(spec, puts, removes)
    await drain()
    for (const [partition, offset] of newCheckpoints) advance(checkpoints, partition, offset)
    await writer.write({
      items,
      bytes: items.length * ITEM_BYTES,
      checkpoints: new Map([...newCheckpoints.keys()].map((partition) => [partition, checkpoints.get(partition) ?? 0])),
    })
    recent.clear()
  }
  return {
    peek: find,
    load: async (keys) => keys.map(find),
    commit: async (spans, checkpoint) => {
      await gathering.ready()
      if (checkpoint !== undefined) requireCheckpoint(spec.name, checkpoint, checkpoints.get(checkpoint.partition) ?? 0)
      const { outcomes, rejected, bytes } = applySpans(spans, { spec, find, accept: gathering.accept })
      if (
        checkpoint !== undefined &&
        checkpoint.offset !== checkpoint.from &&
        rejected.size === 0 &&
        outcomes.every(({ applied }) => applied === 'all')
      ) {
        checkpoints.set(checkpoint.partition, checkpoint.offset)
        gathering.setCheckpoint(checkpoint.partition, checkpoint.offset)
      }
      await (durable ? drain() : gathering.drainLater(bytes))
      if (rejected.size > 0) throw new RejectedSpans(rejected)
      return outcomes
    },
    checkpoints: async () => new Map(checkpoints),
    bulk: (items, pace) => bulkWrite(items, { write, pace }),
    scan: () => scan(drainedTables),
    sorted: true,
    ...feed.part,
    reader: (now) => createReader({ spec, now, find: recent.cached(find), tables: writer.tables, overlay }),
    write,
    packing: packingOf(spec, writer.tables),
    count: async () => ((await drainedTables()).items.getStats() as { readonly entryCount: number }).entryCount,
    sync: drain,
    failing: gathering.failing,
    scrub: () => drain().then(writer.scrub),
    copy: writer.copy,
    close: () => (closing ??= drain().finally(() => writer.close())),
  }
}

const findIn =
  ({ name }: TableSpec, { writer, overlay }: { readonly writer: Writer; readonly overlay: Overlay }): Find =>
  (key) => {
    const id = keyOf(key)
    const item = overlay.find(id)
    if (item !== undefined) return item ?? undefined
    if (id.length > SURELY_STORABLE && !isStorableKey(key)) return undefined
    try {
      return writer.tables().items.get(id)
    } catch (error) {
      throw asFault(error, 'store-unavailable', `${name} cannot be read now`)
    }
  }

/** A change feed if the table is watched, otherwise none. */
const feedOf = ({ watched }: TableSpec) => {
  if (watched !== true) return { add: () => {}, part: {} }
  const feed = createFeed()
  return { add: feed.add, part: { changes: feed } }
}

/**
 * Converts items and removals into changes. Checks every item before the transaction begins, because an error inside the transaction would leave a
 * part of it written. A packed item (already encoded by a build) is not checked, because the build has checked it.
 */
const changesOf = (spec: TableSpec, puts: readonly (Stored | Packed)[], removes: readonly Key[]) => {
  const changes: (readonly [string, Stored | Uint8Array | null])[] = []
  for (const item of puts) {
    if (isPacked(item)) changes.push([keyOf(item), item.bytes.subarray(item.start, item.end)])
    else {
      requireStorable(spec, item)
      changes.push([keyOf(item), item])
    }
  }
  for (const key of removes) changes.push([keyOf(key), null])
  return changes
}

/**
 * Returns the functions with which a build encodes (packs) and decodes items. `pack` writes the item into `bytes` and returns its end position. It
 * returns -1 if the item does not fit, or if an index contains the item. Such an item must be written without packing, because its index entries are
 * computed from its attributes.
 */
const packingOf = ({ indexes }: TableSpec, tables: Writer['tables']): Packing => ({
  pack: (item, bytes, at) => {
    const packed = membershipOf(indexes, item) === undefined ? tables().pack(item) : undefined
    if (packed === undefined || packed.length > bytes.length - at) return -1
    bytes.set(packed, at)
    return at + packed.length
  },
  unpack: (packed) => tables().unpack(packed),
})

type Find = (key: Key) => Stored | undefined

/** A key with at most this number of UTF-16 units is short enough for LMDB, because a unit has at most three bytes in UTF-8. */
const SURELY_STORABLE = Math.floor(MAX_KEY_BYTES / 3)

interface ApplyParts {
  readonly spec: TableSpec
  readonly find: Find
  readonly accept: Gathering['accept']
}

interface AppliedSpans {
  readonly outcomes: readonly SpanOutcome[]
  readonly rejected: ReadonlyMap<number, Fault>
  /** The estimated number of bytes on disk. */
  readonly bytes: number
}

const applySpans = (spans: readonly Span[], parts: ApplyParts): AppliedSpans => {
  const rejected = new Map<number, Fault>()
  let bytes = 0
  const outcomes = spans.map((span, index): SpanOutcome => {
    for (const [applied, chunk] of span.entries()) {
      try {
        bytes += requireStorableChunk(parts.spec, chunk)
      } catch (error) {
        if (!isRejection(error)) throw error
        rejected.set(index, error)
        return { applied, current: [] }
      }
      const current = applyChunk(chunk, parts)
      if (current !== undefined) return { applied, current }
    }
    return { applied: 'all' }
  })
  return { outcomes, rejected, bytes }
}

/** Applies the chunk if all its conditions hold and returns undefined. Otherwise returns the current items and applies nothing. */
const applyChunk = (chunk: Chunk, { find, accept }: ApplyParts): readonly Stored[] | undefined => {
  const current = chunk.map((write) => find('put' in write ? write.put : write.remove))
  const canApply = chunk.every((write, index) => write.expect === (current[index]?._pos ?? null))
  if (!canApply) return current.filter((item) => item !== undefined)
  for (const write of chunk) accept(write)
  return undefined
}

const bulkWrite = async (
  items: Parameters<Store['bulk']>[0],
  { write, pace }: Pick<LmdbStore, 'write'> & { readonly pace: Pace | undefined },
): Promise<void> => {
  for await (const part of inParts(items)) {
    await pace?.(part.length)
    await write(part, [], new Map())
  }
}

const inParts = async function* (items: Iterable<Stored> | AsyncIterable<Stored>): AsyncGenerator<readonly Stored[]> {
  let part: Stored[] = []
  for await (const item of items) {
    part.push(withoutUndefined(item))
    if (part.length < BULK) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}

const scan = async function* (drainedTables: () => Promise<Tables>): AsyncGenerator<readonly Stored[]> {
  for (let last: string | undefined; ;) {
    const { items } = await drainedTables()
    const page = [...items.getRange({ start: last ?? '', exclusiveStart: last !== undefined, limit: PAGE })]
    if (page.length > 0) yield page.map(({ value }) => value)
    if (page.length < PAGE) return
    last = String(page.at(-1)?.key)
  }
}
