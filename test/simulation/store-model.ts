import { isExpired, keyOf, type Key, type Stored } from '../../projections/item.ts'
import type { Reader, TableSpec } from '../../projections/table.ts'
import { createFeed, type Feed } from '../../processors/adapters/lmdb/feed.ts'
import { MAX_ACTIONS, type Checkpoint, type Chunk, type Span, type SpanOutcome, type Store, type Write } from '../../processors/engine/store.ts'
import { Fault } from '../../schemas/fault.ts'
import type { FaultKind } from './faults.ts'
import { answer } from './query-model.ts'
import type { Random } from './random.ts'
import type { Operation, Process, Scheduler } from './scheduler.ts'

/** A table as it lies on disk: it outlives every process. */
export interface Table {
  readonly spec: TableSpec
  readonly items: Map<string, Stored>
  readonly checkpoints: Map<number, number>
  /** What an index that has not caught up still shows. */
  readonly lagging: Map<string, Stored>
  /** One process writes everything at once and reads without waiting, as LMDB does; else chunk by chunk, as DynamoDB does. */
  readonly embedded: boolean
  /** What changes in it, where somebody may watch. */
  readonly feed: Feed | undefined
}

export const createTable = (spec: TableSpec, embedded: boolean): Table =>
  ({ spec, items: new Map(), checkpoints: new Map(), lagging: new Map(), embedded, feed: spec.watched === true ? createFeed() : undefined })

const throttled = () => new Fault('store-throttled', 'The simulated store is throttled. Try again.', { retriable: true })
const unavailable = () => new Fault('store-unavailable', 'The simulated store did not answer. Try again.', { retriable: true })

const refuseMisuse = (chunk: Chunk) => {
  const keys = new Set(chunk.map((write) => keyOf('put' in write ? write.put : write.remove)))
  if (chunk.length === 0 || chunk.length > MAX_ACTIONS) throw new Error(`a chunk of ${chunk.length} writes`)
  if (keys.size !== chunk.length) throw new Error('a chunk that writes a key twice')
  for (const one of chunk) {
    const large = 'put' in one && Object.values(one.put).some((value) => typeof value === 'string' && value.length > 400 * 1024)
    if (large) throw new Fault('item-too-large', 'The simulated store takes no item above 400 KB.')
  }
}

const holds = (table: Table, write: Write): boolean => {
  const found = table.items.get(keyOf('put' in write ? write.put : write.remove))
  return (found?._pos ?? null) === write.expect
}

const write = (table: Table, one: Write) => {
  const id = keyOf('put' in one ? one.put : one.remove)
  const before = table.items.get(id)
  // An index that lags shows each item as it was before its last change.
  if (before) table.lagging.set(id, before)
  if ('put' in one) table.items.set(id, Object.values(one.put).includes(undefined) ? present(one.put) : one.put)
  else table.items.delete(id)
  table.feed?.add(one)
}

/** A store keeps no attributes that have no value. */
const present = (item: Stored): Stored => Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)) as Stored

const currentOf = (table: Table, chunk: Chunk): readonly Stored[] =>
  chunk.map((one) => table.items.get(keyOf('put' in one ? one.put : one.remove))).filter((item) => item !== undefined)

/** Chunk by chunk, the spans side by side in an order that is drawn, the checkpoint last and only when all applied. */
function* commitSteps(table: Table, random: Random, work: { spans: readonly Span[]; checkpoint: Checkpoint | undefined }): Generator<undefined, readonly SpanOutcome[]> {
  const outcomes: SpanOutcome[] = work.spans.map(() => ({ applied: 'all' }))
  const turns = work.spans.flatMap((span, index) => span.map(() => index))
  const next = work.spans.map(() => 0)
  for (const index of table.embedded ? turns : random.shuffled(turns)) {
    const at = next[index]
    const chunk = at === undefined ? undefined : work.spans[index]?.[at]
    if (at === undefined || chunk === undefined || outcomes[index]?.applied !== 'all') continue
    if (chunk.every((one) => holds(table, one))) for (const one of chunk) write(table, one)
    else outcomes[index] = { applied: at, current: currentOf(table, chunk) }
    next[index] = at + 1
    if (!table.embedded) yield
  }
  if (work.checkpoint && outcomes.every(({ applied }) => applied === 'all')) {
    const { partition, offset } = work.checkpoint
    table.checkpoints.set(partition, Math.max(offset, table.checkpoints.get(partition) ?? 0))
  }
  return outcomes
}

const answering = <T>(port: string, value: () => T, own: readonly FaultKind[] = []): Operation<T> => ({
  port,
  *steps() { return value() },
  refused: throttled,
  own,
})

/** How many items a load reads at one moment. */
const TORN = 2

/** The store port, for one process. */
export const storeFor = (world: { scheduler: Scheduler; random: Random }, process: Process, table: Table): Store => {
  const { scheduler, random } = world
  const ask = <T>(operation: Operation<T>) => scheduler.call(process, operation)
  const store: Store = {
    load: (keys) => ask({
      port: 'store.load',
      // Each item is as it is when it is read; together they may never have been so.
      *steps() {
        const found: (Stored | undefined)[] = []
        for (const key of keys) {
          if (!table.embedded && found.length % TORN === TORN - 1) yield
          found.push(table.items.get(keyOf(key)))
        }
        return found
      },
      refused: throttled,
    }),
    commit: async (spans, checkpoint) => {
      for (const chunk of spans.flat()) refuseMisuse(chunk)
      return ask({
        port: 'store.commit',
        steps: () => commitSteps(table, random, { spans, checkpoint }),
        refused: throttled,
        unknown: unavailable,
      })
    },
    checkpoints: () => ask(answering('store.checkpoints', () => new Map(table.checkpoints))),
    bulk: async (items) => {
      const all: Stored[] = []
      for await (const item of items) all.push(item)
      await ask({
        port: 'store.bulk',
        prompt: true,
        *steps() {
          for (const item of all) {
            table.items.set(keyOf(item), item)
            if (!table.embedded) yield
          }
        },
        unknown: unavailable,
      })
    },
    scan: async function* () {
      const keys = await ask(answering('store.scan', () => [...table.items.keys()].sort()))
      for (let at = 0; at < keys.length; at += 25) {
        const page = keys.slice(at, at + 25)
        yield await ask(answering('store.scan', () => page.map((key) => table.items.get(key)).filter((item) => item !== undefined)))
      }
    },
    reader: (now) => readerFor(ask, table, now),
    ...(table.feed && { changes: table.feed }),
    close: async () => undefined,
  }
  return table.embedded ? { ...store, peek: (key) => table.items.get(keyOf(key)) } : store
}

type Ask = <T>(operation: Operation<T>) => Promise<T>

const readerFor = (ask: Ask, table: Table, now: () => number): Reader => {
  const visible = (key: Key) => {
    const item = table.items.get(keyOf(key))
    return item === undefined || isExpired(item, table.spec.ttl, now()) ? undefined : item
  }
  return {
    get: (key) => ask(answering('reader.get', () => visible(key))),
    getMany: (keys) => ask(answering('reader.getMany', () => keys.map(visible))),
    query: (query) => ask({
      port: 'reader.query',
      *steps(fault) { return answer(table, query, { now: now(), stale: fault === 'stale' }) },
      refused: throttled,
      own: query.index === undefined ? [] : ['stale'],
    }),
  }
}
