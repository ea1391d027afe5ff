import { keyOf, type Key, type Stored } from '../../../projections/item.ts'
import type { TableSpec } from '../../../projections/table.ts'
import type { Chunk, Span, SpanOutcome, Store } from '../../engine/store.ts'
import { advance, createGathering, type Gathering } from './gathering.ts'
import { idOf, refuseLongIndexKeys, tidy, type Tables } from './items.ts'
import { createReader } from './reader.ts'
import { refuseTooLarge } from './size.ts'
import { checkpointsIn, openWriter, type GenerationParts } from './writer.ts'

export interface LmdbStore extends Store {
  readonly peek: (key: Key) => Stored | undefined
  /** Unconditional, all in one transaction, visible when it resolves; the disk follows in the background. Fastest when sorted by key. */
  write(puts: readonly Stored[], removes: readonly Key[], checkpoints: ReadonlyMap<number, number>): Promise<void>
  /** Resolves when everything accepted so far is on disk. */
  sync(): Promise<void>
}

const BULK = 20_000
const PAGE = 1_000

/**
 * One generation of a table. A commit is decided at once, in memory, against everything accepted before it, and goes to LMDB with its
 * neighbours a moment later, in one transaction with their checkpoints, written by a thread of LMDB's own. What a `kill -9` takes away is
 * therefore a whole number of commits together with their checkpoint, and the log brings them again.
 */
export const openGeneration = (parts: GenerationParts): LmdbStore => {
  const { spec, durable } = parts
  const writer = openWriter(parts)
  const gathering = createGathering(writer)
  const { find, drain } = gathering
  const checkpoints = checkpointsIn(writer.tables())
  let closing: Promise<void> | undefined
  const settled = async (): Promise<Tables> => {
    await drain()
    return writer.tables()
  }
  const write: LmdbStore['write'] = async (puts, removes, reached) => {
    const items = changesOf(spec, puts, removes)
    await drain()
    for (const [partition, offset] of reached) advance(checkpoints, partition, offset)
    await writer.write({ items, checkpoints: new Map([...reached.keys()].map(partition => [partition, checkpoints.get(partition) ?? 0])) })
  }
  return {
    peek: key => find(keyOf(key)),
    load: async keys => keys.map(key => find(keyOf(key))),
    commit: async (spans, checkpoint) => {
      refuseUnstorable(spec, spans)
      await gathering.ready()
      const outcomes = spans.map(span => applySpan(span, gathering))
      if (checkpoint !== undefined && outcomes.every(({ applied }) => applied === 'all')) {
        advance(checkpoints, checkpoint.partition, checkpoint.offset)
        gathering.reached(checkpoint.partition, checkpoints.get(checkpoint.partition) ?? checkpoint.offset)
      }
      await (durable ? drain() : gathering.later())
      return outcomes
    },
    checkpoints: async () => new Map(checkpoints),
    bulk: async items => {
      for await (const some of inParts(items)) await write(some, [], new Map())
    },
    scan: () => scan(settled),
    reader: now => createReader({ spec, now, find: key => find(keyOf(key)), settled }),
    write,
    sync: async () => {
      await drain()
      await writer.flushed()
    },
    close: () => closing ??= drain().finally(() => writer.close()),
  }
}

/** With every key checked before the batch begins: one that fails inside would leave half of it. */
const changesOf = ({ indexes }: TableSpec, puts: readonly Stored[], removes: readonly Key[]): (readonly [string, Stored | null])[] => {
  const changes: (readonly [string, Stored | null])[] = []
  for (const item of puts) {
    refuseLongIndexKeys(indexes, item)
    changes.push([idOf(item), item])
  }
  for (const key of removes) changes.push([idOf(key), null])
  return changes
}

const refuseUnstorable = ({ indexes }: TableSpec, spans: readonly Span[]): void => {
  for (const write of spans.flat(2)) {
    idOf('put' in write ? write.put : write.remove)
    if (!('put' in write)) continue
    refuseTooLarge(write.put)
    refuseLongIndexKeys(indexes, write.put)
  }
}

const applySpan = (span: Span, gathering: Gathering): SpanOutcome => {
  for (const [index, chunk] of span.entries()) {
    const current = applyChunk(chunk, gathering)
    if (current !== undefined) return { applied: index, current }
  }
  return { applied: 'all' }
}

/** Undefined when it was applied, else the items it met. */
const applyChunk = (chunk: Chunk, { find, accept }: Gathering): readonly Stored[] | undefined => {
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
