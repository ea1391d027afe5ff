import { keyOf, type Key, type Stored } from '../../../projections/item.ts'
import type { TableSpec } from '../../../projections/table.ts'
import type { Fault } from '../../../schemas/fault.ts'
import { isPacked, type BuildTarget, type Packed, type Packing } from '../../engine/build-target.ts'
import type { Pace } from '../../engine/pace.ts'
import { isStorableKey, MAX_KEY_BYTES, requireStorable, requireStorableChunk } from '../../engine/storable.ts'
import { isRejection, RejectedSpans, requireCheckpoint } from '../../engine/store-faults.ts'
import type { Chunk, Span, SpanOutcome, Store } from '../../engine/store.ts'
import { asFault } from './environment.ts'
import { createFeed } from './feed.ts'
import { createGathering, type Gathering } from './gathering.ts'
import { membershipOf, tidy, type Tables } from './items.ts'
import { advance, type Overlay } from './pending.ts'
import { createReader } from './reader.ts'
import { createRecent } from './recent.ts'
import { checkpointsIn, openWriter, type GenerationParts, type Writer } from './writer.ts'

/** `write` is on disk when it resolves, by another thread meanwhile. Fastest when sorted by key. */
export interface LmdbStore extends BuildTarget {
  /** Resolves when everything accepted so far is on disk. */
  sync(): Promise<void>
}

const BULK = 20_000
const PAGE = 1_000
/** What an item of a bulk write may take on disk, to tell a full disk before it is met. */
const ITEM_BYTES = 2_048

/**
 * One generation of a table. A commit is decided at once, in memory, against everything accepted before it, and goes to LMDB with its
 * neighbours a moment later, in one transaction with their checkpoints, written by a thread of LMDB's own. What a `kill -9` takes away is
 * therefore a whole number of commits together with their checkpoint, and the log brings them again. Commits to a `durable` table, which the
 * log cannot bring again, resolve on disk.
 */
export const openGeneration = ({ durable, ...parts }: GenerationParts & { readonly durable: boolean }): LmdbStore => {
  const { spec } = parts
  const writer = openWriter(parts)
  const recent = createRecent()
  const feed = feedOf(spec)
  const gathering = createGathering(writer, recent, feed.told)
  const { drain, overlay } = gathering
  const find = findIn(spec, { writer, overlay })
  const checkpoints = checkpointsIn(writer.tables(), parts)
  let closing: Promise<void> | undefined
  const settled = async (): Promise<Tables> => {
    await drain()
    return writer.tables()
  }
  const write: LmdbStore['write'] = async (puts, removes, reached) => {
    const items = changesOf(spec, puts, removes)
    await drain()
    for (const [partition, offset] of reached) advance(checkpoints, partition, offset)
    await writer.write({ items, bytes: items.length * ITEM_BYTES, checkpoints: new Map([...reached.keys()].map(partition => [partition, checkpoints.get(partition) ?? 0])) })
    recent.clear()
  }
  return {
    peek: find,
    load: async keys => keys.map(find),
    commit: async (spans, checkpoint) => {
      await gathering.ready()
      if (checkpoint !== undefined) requireCheckpoint(spec.name, checkpoint, checkpoints.get(checkpoint.partition) ?? 0)
      const { outcomes, rejected, bytes } = applySpans(spans, { spec, find, accept: gathering.accept })
      if (checkpoint !== undefined && checkpoint.offset !== checkpoint.from && rejected.size === 0 && outcomes.every(({ applied }) => applied === 'all')) {
        checkpoints.set(checkpoint.partition, checkpoint.offset)
        gathering.reached(checkpoint.partition, checkpoint.offset)
      }
      await (durable ? drain() : gathering.later(bytes))
      if (rejected.size > 0) throw new RejectedSpans(rejected)
      return outcomes
    },
    checkpoints: async () => new Map(checkpoints),
    bulk: (items, pace) => inTurn(items, { write, pace }),
    scan: () => scan(settled),
    sorted: true,
    ...feed.offered,
    reader: now => createReader({ spec, now, find: recent.finding(find), tables: writer.tables, overlay }),
    write,
    packing: packingOf(spec, writer.tables),
    count: async () => ((await settled()).items.getStats() as { readonly entryCount: number }).entryCount,
    sync: drain,
    failing: gathering.failing,
    scrub: () => drain().then(writer.scrub),
    copy: writer.copy,
    close: () => closing ??= drain().finally(() => writer.close()),
  }
}

const findIn = ({ name }: TableSpec, { writer, overlay }: { readonly writer: Writer; readonly overlay: Overlay }): Find => key => {
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
  if (watched !== true) return { told: () => {}, offered: {} }
  const feed = createFeed()
  return { told: feed.add, offered: { changes: feed } }
}

/** Checks every item before the transaction begins: one that failed inside would leave half of it. A build has measured its packed items. */
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

/** An item in an index is not packed: the write of an item computes its index entries from the object. */
const packingOf = ({ indexes }: TableSpec, tables: Writer['tables']): Packing => ({
  pack: (item, bytes, at) => {
    const packed = membershipOf(indexes, item) === undefined ? tables().pack(item) : undefined
    if (packed === undefined || packed.length > bytes.length - at) return -1
    bytes.set(packed, at)
    return at + packed.length
  },
  unpack: packed => tables().unpack(packed),
})

type Find = (key: Key) => Stored | undefined

/** A key of at most so many UTF-16 units has a length that LMDB holds: a unit is at most three bytes of UTF-8. */
const SURELY_STORABLE = Math.floor(MAX_KEY_BYTES / 3)

interface Applying {
  readonly spec: TableSpec
  readonly find: Find
  readonly accept: Gathering['accept']
}

interface AppliedSpans {
  readonly outcomes: readonly SpanOutcome[]
  readonly rejected: ReadonlyMap<number, Fault>
  /** About what they take on disk. */
  readonly bytes: number
}

const applySpans = (spans: readonly Span[], applying: Applying): AppliedSpans => {
  const rejected = new Map<number, Fault>()
  let bytes = 0
  const outcomes = spans.map((span, index): SpanOutcome => {
    for (const [applied, chunk] of span.entries()) {
      try {
        bytes += requireStorableChunk(applying.spec, chunk)
      } catch (error) {
        if (!isRejection(error)) throw error
        rejected.set(index, error)
        return { applied, current: [] }
      }
      const current = applyChunk(chunk, applying)
      if (current !== undefined) return { applied, current }
    }
    return { applied: 'all' }
  })
  return { outcomes, rejected, bytes }
}

/** Undefined when it was applied, else the items it met. */
const applyChunk = (chunk: Chunk, { find, accept }: Applying): readonly Stored[] | undefined => {
  const met = chunk.map(write => find('put' in write ? write.put : write.remove))
  const holds = chunk.every((write, index) => write.expect === (met[index]?._pos ?? null))
  if (!holds) return met.filter(item => item !== undefined)
  for (const write of chunk) accept(write)
  return undefined
}

const inTurn = async (items: Parameters<Store['bulk']>[0], { write, pace }: Pick<LmdbStore, 'write'> & { readonly pace: Pace | undefined }): Promise<void> => {
  for await (const some of inParts(items)) {
    await pace?.(some.length)
    await write(some, [], new Map())
  }
}

const inParts = async function* (items: Iterable<Stored> | AsyncIterable<Stored>): AsyncGenerator<readonly Stored[]> {
  let part: Stored[] = []
  for await (const item of items) {
    part.push(tidy(item))
    if (part.length < BULK) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}

const scan = async function* (settled: () => Promise<Tables>): AsyncGenerator<readonly Stored[]> {
  for (let last: string | undefined; ;) {
    const { items } = await settled()
    const page = [...items.getRange({ start: last ?? '', exclusiveStart: last !== undefined, limit: PAGE })]
    if (page.length > 0) yield page.map(({ value }) => value)
    if (page.length < PAGE) return
    last = String(page.at(-1)?.key)
  }
}
