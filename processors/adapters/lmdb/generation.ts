import type { RootDatabase } from 'lmdb'
import { keyOf, type Key, type Stored } from '../../../projections/item.ts'
import type { TableSpec } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Chunk, Span, SpanOutcome, Store, Write } from '../../engine/store.ts'
import { asFault, causeOf, openEnvironment } from './environment.ts'
import { createIndexer, idOf, openTables, refuseLongIndexKeys, tidy, type Tables } from './items.ts'
import { advance, isNothing, merged, nothing } from './pending.ts'
import { createReader } from './reader.ts'
import { refuseTooLarge } from './size.ts'

export interface LmdbStore extends Store {
  readonly peek: (key: Key) => Stored | undefined
  /** Unconditional, all in one transaction, visible when it resolves; the disk follows in the background. Fastest when sorted by key. */
  write(puts: readonly Stored[], removes: readonly Key[], checkpoints: ReadonlyMap<number, number>): Promise<void>
  /** Resolves when everything accepted so far is on disk. */
  sync(): Promise<void>
}

export interface GenerationParts {
  readonly path: string
  readonly spec: TableSpec
  /** Commits resolve on disk. For tables that cannot be folded again from the log. */
  readonly durable: boolean
}

const FORMAT = 1
/** Milliseconds for which commits gather before they go to LMDB together: the log needs the disk more than we do. */
const GATHER = 10
/** Items that may wait for LMDB before commits wait too. */
const MAX_WAITING = 20_000
const BULK = 20_000
const PAGE = 1_000

/**
 * One generation of a table. A commit is decided at once, in memory, against everything accepted before it, and goes to LMDB with its
 * neighbours a moment later, in one transaction with their checkpoints, written by a thread of LMDB's own. What a `kill -9` takes away is
 * therefore a whole number of commits together with their checkpoint, and the log brings them again.
 */
export const openGeneration = (parts: GenerationParts): LmdbStore => {
  const { spec, durable } = parts
  const generation = createWriter(parts)
  const { find, drain } = generation
  const settled = async (): Promise<Tables> => {
    await drain()
    return generation.tables()
  }
  const write: LmdbStore['write'] = async (puts, removes, checkpoints) => {
    await drain()
    await generation.write({ puts, removes, checkpoints })
  }
  return {
    peek: key => find(keyOf(key)),
    load: async keys => keys.map(key => find(keyOf(key))),
    commit: async (spans, checkpoint) => {
      refuseUnstorable(spec, spans)
      await generation.ready()
      const outcomes = spans.map(span => applySpan(span, generation))
      if (checkpoint !== undefined && outcomes.every(({ applied }) => applied === 'all')) {
        generation.reached(checkpoint.partition, checkpoint.offset)
      }
      if (durable) await drain()
      else await generation.later()
      return outcomes
    },
    checkpoints: async () => generation.checkpoints(),
    bulk: async items => {
      for await (const some of inParts(items)) await write(some, [], new Map())
    },
    scan: () => scan(settled),
    reader: now => createReader({ spec, now, find: key => find(keyOf(key)), settled }),
    write,
    sync: async () => {
      await drain()
      await generation.flushed()
    },
    close: generation.close,
  }
}

type Writer = ReturnType<typeof createWriter>

const createWriter = ({ path, spec, durable }: GenerationParts) => {
  let opened = openAt(path, spec, durable)
  const accepted = checkpointsIn(opened.tables)
  let next = nothing()
  let writing = nothing()
  let draining: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let fault: Fault | undefined
  let closing: Promise<void> | undefined

  const batch = async (pending: Iterable<readonly [string, Stored | null]>, checkpoints: ReadonlyMap<number, number>): Promise<void> => {
    const { root, tables } = opened
    try {
      await root.batch(() => put(tables, spec, { pending, checkpoints }))
    } catch (error) {
      // LMDB may stand in an error of its own now (a meta page it could not write): opened anew, it begins at what is on disk.
      const cause = await causeOf(error)
      await root.close().catch(() => undefined)
      opened = openAt(path, spec, durable)
      throw asFault(cause, 'store-unavailable', `The table at ${path} could not be written. It is tried again; free disk space if it is full.`)
    }
  }
  const drainAll = async (): Promise<void> => {
    while (!isNothing(next)) {
      writing = next
      next = nothing()
      try {
        await batch(writing.items, writing.checkpoints)
        fault = undefined
      } catch (error) {
        next = merged(writing, next)
        throw fault = asFault(error, 'store-unavailable', `The table at ${path} could not be written.`)
      } finally {
        writing = nothing()
      }
    }
  }
  const drain = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    draining ??= drainAll().finally(() => {
      draining = undefined
    })
    return draining
  }
  return {
    tables: () => opened.tables,
    drain,
    find: (id: string): Stored | undefined => {
      let item = next.items.get(id)
      if (item === undefined) item = writing.items.get(id)
      return item === undefined ? opened.tables.items.get(id) : (item ?? undefined)
    },
    accept: (write: Write) => {
      if ('put' in write) next.items.set(keyOf(write.put), tidy(write.put))
      else next.items.set(keyOf(write.remove), null)
    },
    reached: (partition: number, offset: number) => {
      advance(accepted, partition, offset)
      advance(next.checkpoints, partition, accepted.get(partition) ?? offset)
    },
    checkpoints: (): ReadonlyMap<number, number> => new Map(accepted),
    /** After a failed write nothing new is accepted until the old is written. */
    ready: () => (fault === undefined ? undefined : drain()),
    later: () => {
      if (next.items.size > MAX_WAITING) return drain()
      timer ??= setTimeout(() => void drain().catch(() => undefined), GATHER)
      return undefined
    },
    write: async (change: { puts: readonly Stored[]; removes: readonly Key[]; checkpoints: ReadonlyMap<number, number> }) => {
      for (const item of change.puts) refuseLongIndexKeys(spec.indexes, item)
      for (const [partition, offset] of change.checkpoints) advance(accepted, partition, offset)
      const checkpoints = new Map([...change.checkpoints.keys()].map(partition => [partition, accepted.get(partition) ?? 0]))
      await batch(changesOf(change), checkpoints)
    },
    flushed: async () => void (await opened.root.flushed),
    close: (): Promise<void> => closing ??= drain().finally(() => opened.root.close()),
  }
}

/** With every key checked before the batch begins: one that fails inside would leave half of it. */
const changesOf = ({ puts, removes }: { puts: readonly Stored[]; removes: readonly Key[] }): (readonly [string, Stored | null])[] => [
  ...puts.map(item => [idOf(item), item] as const),
  ...removes.map(key => [idOf(key), null] as const),
]

const openAt = (path: string, spec: TableSpec, durable: boolean): { root: RootDatabase; tables: Tables } => {
  const root = openEnvironment({ path, durable })
  const tables = openTables(root, spec)
  const format = tables.meta.get('format')
  if (format === undefined) tables.meta.putSync('format', FORMAT)
  else if (typeof format !== 'number' || format > FORMAT) {
    void root.close()
    throw new Fault('data-newer-version', `The table at ${path} has format ${String(format)}; this program knows up to ${FORMAT}. Use the newer program.`)
  }
  return { root, tables }
}

const checkpointsIn = ({ meta }: Tables): Map<number, number> => {
  const found = new Map<number, number>()
  for (const { key, value } of meta.getRange({ start: 'checkpoint:', end: 'checkpoint;' })) found.set(Number(String(key).slice(11)), Number(value))
  return found
}

const put = (tables: Tables, spec: TableSpec, change: { pending: Iterable<readonly [string, Stored | null]>; checkpoints: ReadonlyMap<number, number> }): void => {
  const index = createIndexer(tables, spec)
  for (const [id, item] of change.pending) {
    if (item === null) void tables.items.remove(id)
    else void tables.items.put(id, item)
    index(id, item ?? undefined)
  }
  for (const [partition, offset] of change.checkpoints) void tables.meta.put(`checkpoint:${partition}`, offset)
  tables.saveShapes()
}

const refuseUnstorable = ({ indexes }: TableSpec, spans: readonly Span[]): void => {
  for (const write of spans.flat(2)) {
    idOf('put' in write ? write.put : write.remove)
    if (!('put' in write)) continue
    refuseTooLarge(write.put)
    refuseLongIndexKeys(indexes, write.put)
  }
}

const applySpan = (span: Span, generation: Writer): SpanOutcome => {
  for (const [index, chunk] of span.entries()) {
    const current = applyChunk(chunk, generation)
    if (current !== undefined) return { applied: index, current }
  }
  return { applied: 'all' }
}

/** Undefined when it was applied, else the items it met. */
const applyChunk = (chunk: Chunk, { find, accept }: Writer): readonly Stored[] | undefined => {
  const met = chunk.map(write => find(keyOf('put' in write ? write.put : write.remove)))
  const holds = chunk.every((write, index) => write.expect === (met[index]?._pos ?? null))
  if (!holds) return met.filter(item => item !== undefined)
  for (const write of chunk) accept(write)
  return undefined
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
