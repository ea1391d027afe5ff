import { isExpired, keyOf, type Key, type Stored } from '../../projections/item.ts'
import type { Reader, TableSpec } from '../../projections/table.ts'
import { createFeed, type Feed } from '../../processors/adapters/lmdb/feed.ts'
import { requireStorableChunk } from '../../processors/engine/storable.ts'
import { checkpointMoved, isRejection, RejectedSpans, requireCheckpoint, tableMissing } from '../../processors/engine/store-faults.ts'
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
  /** Rises when the table is replaced by a backup: a request to the old one fails. */
  incarnation: number
}

export const createTable = (spec: TableSpec, embedded: boolean): Table =>
  ({ spec, items: new Map(), checkpoints: new Map(), lagging: new Map(), embedded, feed: spec.watched === true ? createFeed() : undefined, incarnation: 0 })

const throttled = () => new Fault('store-throttled', 'The simulated store is throttled. Try again.', { retriable: true })
const unavailable = () => new Fault('store-unavailable', 'The simulated store did not answer. Try again.', { retriable: true })

const refuseMisuse = (chunk: Chunk) => {
  const keys = new Set(chunk.map((write) => keyOf('put' in write ? write.put : write.remove)))
  if (chunk.length === 0 || chunk.length > MAX_ACTIONS) throw new Error(`a chunk of ${chunk.length} writes`)
  if (keys.size !== chunk.length) throw new Error('a chunk that writes a key twice')
}

/** What the store will never take of a chunk. */
const rejectionOf = ({ spec }: Table, chunk: Chunk): Fault | undefined => {
  try {
    requireStorableChunk(spec, chunk)
    return undefined
  } catch (error) {
    if (isRejection(error)) return error
    throw error
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

/**
 * The checkpoint is required first. Then chunk by chunk, the spans side by side in an order that is drawn; the checkpoint is written last,
 * only when all applied, and only over the one that was required.
 */
function* commitSteps(table: Table, random: Random, work: { spans: readonly Span[]; checkpoint: Checkpoint | undefined }): Generator<undefined, readonly SpanOutcome[]> {
  const outcomes: SpanOutcome[] = work.spans.map(() => ({ applied: 'all' }))
  const turns = work.spans.flatMap((span, index) => span.map(() => index))
  const next = work.spans.map(() => 0)
  const rejected = new Map<number, Fault>()
  const { checkpoint } = work
  const stored = () => table.checkpoints.get(checkpoint?.partition ?? 0) ?? 0
  if (checkpoint) requireCheckpoint(table.spec.name, checkpoint, stored())
  if (!table.embedded && checkpoint) yield
  for (const index of table.embedded ? turns : random.shuffled(turns)) {
    const at = next[index]
    const chunk = at === undefined ? undefined : work.spans[index]?.[at]
    if (at === undefined || chunk === undefined || outcomes[index]?.applied !== 'all') continue
    const rejection = rejectionOf(table, chunk)
    if (rejection !== undefined) {
      rejected.set(index, rejection)
      outcomes[index] = { applied: at, current: [] }
    } else if (chunk.every((one) => holds(table, one))) for (const one of chunk) write(table, one)
    else outcomes[index] = { applied: at, current: currentOf(table, chunk) }
    next[index] = at + 1
    if (!table.embedded) yield
  }
  if (rejected.size > 0) throw new RejectedSpans(rejected)
  if (checkpoint && outcomes.every(({ applied }) => applied === 'all')) {
    if (stored() !== checkpoint.from && stored() !== checkpoint.offset) throw checkpointMoved(table.spec.name, checkpoint, stored())
    if (checkpoint.offset !== checkpoint.from) table.checkpoints.set(checkpoint.partition, checkpoint.offset)
  }
  return outcomes
}

const answering = <T>(port: string, value: () => T, own: readonly FaultKind[] = []): Operation<T> => ({
  port,
  *steps() { return value() },
  refused: throttled,
  own,
})

/** A request that was on its way when the table was replaced fails: a table takes longer to come back than a request lasts. */
const ofThis = <T>(table: Table, operation: Operation<T>): Operation<T> => {
  const { incarnation } = table
  return {
    ...operation,
    *steps(fault) {
      const steps = operation.steps(fault)
      for (;;) {
        if (table.incarnation !== incarnation) throw tableMissing(`the simulated ${table.spec.name}`)
        const step = steps.next()
        if (step.done === true) return step.value
        yield
      }
    },
  }
}

/** The table is replaced by a backup of it. */
export const restore = (table: Table, backup: Pick<Table, 'items' | 'checkpoints'>): void => {
  table.incarnation += 1
  for (const [held, kept] of [[table.items, backup.items], [table.checkpoints, backup.checkpoints]] as [Map<unknown, unknown>, ReadonlyMap<unknown, unknown>][]) {
    held.clear()
    for (const [key, value] of kept) held.set(key, value)
  }
  table.lagging.clear()
}

/** How many items a load reads at one moment. */
const TORN = 2

/** The store port, for one process. */
export const storeFor = (world: { scheduler: Scheduler; random: Random }, process: Process, table: Table): Store => {
  const { scheduler, random } = world
  const ask = <T>(operation: Operation<T>) => scheduler.call(process, ofThis(table, operation))
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
