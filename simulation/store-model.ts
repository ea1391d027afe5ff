import { isExpired, keyOf, type Key, type Stored } from '../projections/item.ts'
import type { Reader, TableSpec } from '../projections/table.ts'
import { createFeed, type Feed } from '../processors/adapters/lmdb/feed.ts'
import { requireStorableChunk } from '../processors/engine/rows/storable.ts'
import { checkpointMoved, requireCheckpoint } from '../processors/engine/run/fencing.ts'
import { isRejection, tableMissing } from '../processors/engine/rows/store-faults.ts'
import { Fault } from '../schemas/fault.ts'
import type { FaultKind } from './faults.ts'
import { queryTable } from './query-model.ts'
import type { Random } from './random.ts'
import type { Operation } from './calls.ts'
import type { Process } from './process.ts'
import type { Scheduler } from './scheduler.ts'
import {
  type Checkpoint,
  type Chunk,
  MAX_ACTIONS,
  RejectedSpans,
  type Span,
  type SpanOutcome,
  type Store,
  type Write,
} from '../processors/engine/ports/store.ts'

/** A table. It outlives every process. */
export interface Table {
  readonly spec: TableSpec
  readonly items: Map<string, Stored>
  readonly checkpoints: Map<number, number>
  /** For each item, its state before the last change. With the fault `stale`, an index returns these states. */
  readonly lagging: Map<string, Stored>
  /** If true, one process writes a commit in one step, and reads synchronously, as in LMDB. Otherwise each chunk is a step, as in DynamoDB. */
  readonly embedded: boolean
  /** The feed of changes. Undefined if the table is not watched. */
  readonly feed: Feed | undefined
  /** Rises when a backup replaces the table. A request to an older incarnation fails. */
  incarnation: number
}

export const createTable = (spec: TableSpec, embedded: boolean): Table => ({
  spec,
  items: new Map(),
  checkpoints: new Map(),
  lagging: new Map(),
  embedded,
  feed: spec.watched === true ? createFeed() : undefined,
  incarnation: 0,
})

const throttled = () =>
  new Fault('store-throttled', 'The simulated store is throttled. Try again.', { retriable: true })
const unavailable = () =>
  new Fault('store-unavailable', 'The simulated store did not answer. Try again.', { retriable: true })

const requireValidChunk = (chunk: Chunk) => {
  const keys = new Set(chunk.map((write) => keyOf('put' in write ? write.put : write.remove)))
  if (chunk.length === 0 || chunk.length > MAX_ACTIONS) throw new Error(`a chunk of ${chunk.length} writes`)
  if (keys.size !== chunk.length) throw new Error('a chunk that writes a key twice')
}

/** Returns the fault of a chunk that the store rejects at every attempt. Undefined if the chunk can be stored. */
const rejectionOf = ({ spec }: Table, chunk: Chunk): Fault | undefined => {
  try {
    requireStorableChunk(spec, chunk)
    return undefined
  } catch (error) {
    if (isRejection(error)) return error
    throw error
  }
}

const meetsCondition = (table: Table, write: Write): boolean => {
  const found = table.items.get(keyOf('put' in write ? write.put : write.remove))
  return (found?._pos ?? null) === write.expect
}

const write = (table: Table, change: Write) => {
  const id = keyOf('put' in change ? change.put : change.remove)
  const before = table.items.get(id)
  if (before) table.lagging.set(id, before)
  if ('put' in change)
    table.items.set(id, Object.values(change.put).includes(undefined) ? present(change.put) : change.put)
  else table.items.delete(id)
  table.feed?.add(change)
}

/** Returns the item without its undefined attributes, because no store keeps them. */
const present = (item: Stored): Stored =>
  Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)) as Stored

const currentOf = (table: Table, chunk: Chunk): readonly Stored[] =>
  chunk
    .map((change) => table.items.get(keyOf('put' in change ? change.put : change.remove)))
    .filter((item) => item !== undefined)

/**
 * The steps of a commit. First requires that the stored checkpoint is the expected one. Then writes the chunks, in order within each span. If
 * the table is not embedded, the spans are interleaved at random. Writes the new checkpoint last, if every span was applied. Throws
 * `checkpoint-moved` if another process moved the checkpoint, and `RejectedSpans` if the store can never store a chunk.
 */
function* commitSteps(
  table: Table,
  random: Random,
  work: { spans: readonly Span[]; checkpoint: Checkpoint | undefined },
): Generator<undefined, readonly SpanOutcome[]> {
  const outcomes: SpanOutcome[] = work.spans.map(() => ({ applied: 'all' }))
  const order = work.spans.flatMap((span, index) => span.map(() => index))
  const next = work.spans.map(() => 0)
  const rejected = new Map<number, Fault>()
  const { checkpoint } = work
  const stored = () => table.checkpoints.get(checkpoint?.partition ?? 0) ?? 0
  if (checkpoint) requireCheckpoint(table.spec.name, checkpoint, stored())
  if (!table.embedded && checkpoint) yield
  for (const index of table.embedded ? order : random.shuffled(order)) {
    const at = next[index]
    const chunk = at === undefined ? undefined : work.spans[index]?.[at]
    if (at === undefined || chunk === undefined || outcomes[index]?.applied !== 'all') continue
    const rejection = rejectionOf(table, chunk)
    if (rejection !== undefined) {
      rejected.set(index, rejection)
      outcomes[index] = { applied: at, current: [] }
    } else if (chunk.every((change) => meetsCondition(table, change))) for (const change of chunk) write(table, change)
    else outcomes[index] = { applied: at, current: currentOf(table, chunk) }
    next[index] = at + 1
    if (!table.embedded) yield
  }
  if (rejected.size > 0) throw new RejectedSpans(rejected)
  if (checkpoint && outcomes.every(({ applied }) => applied === 'all')) {
    if (stored() !== checkpoint.from && stored() !== checkpoint.offset)
      throw checkpointMoved(table.spec.name, checkpoint, stored())
    if (checkpoint.offset !== checkpoint.from) table.checkpoints.set(checkpoint.partition, checkpoint.offset)
  }
  return outcomes
}

const readOperation = <T>(port: string, value: () => T, own: readonly FaultKind[] = []): Operation<T> => ({
  port,
  *steps() {
    return value()
  },
  refused: throttled,
  own,
})

/** Returns the operation. It fails if a backup replaces the table while it runs, because a real request times out before a restore is complete. */
const requireSameTable = <T>(table: Table, operation: Operation<T>): Operation<T> => {
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

/** Replaces the content of the table by a backup. */
export const restore = (table: Table, backup: Pick<Table, 'items' | 'checkpoints'>): void => {
  table.incarnation += 1
  for (const [current, saved] of [
    [table.items, backup.items],
    [table.checkpoints, backup.checkpoints],
  ] as [Map<unknown, unknown>, ReadonlyMap<unknown, unknown>][]) {
    current.clear()
    for (const [key, value] of saved) current.set(key, value)
  }
  table.lagging.clear()
}

/** The maximum number of items that a load reads in one step, if the table is not embedded. */
const LOAD_STEP = 2

/** The store port, for one process. */
export const storeFor = (world: { scheduler: Scheduler; random: Random }, process: Process, table: Table): Store => {
  const { scheduler, random } = world
  const call = <T>(operation: Operation<T>) => scheduler.call(process, requireSameTable(table, operation))
  const store: Store = {
    load: (keys) =>
      call({
        port: 'store.load',
        // Other processes can write between two steps. So a load can return items that did not exist at the same time.
        *steps() {
          const found: (Stored | undefined)[] = []
          for (const key of keys) {
            if (!table.embedded && found.length % LOAD_STEP === LOAD_STEP - 1) yield
            found.push(table.items.get(keyOf(key)))
          }
          return found
        },
        refused: throttled,
      }),
    commit: async (spans, checkpoint) => {
      for (const chunk of spans.flat()) requireValidChunk(chunk)
      return call({
        port: 'store.commit',
        steps: () => commitSteps(table, random, { spans, checkpoint }),
        refused: throttled,
        unknown: unavailable,
      })
    },
    checkpoints: () => call(readOperation('store.checkpoints', () => new Map(table.checkpoints))),
    bulk: async (items) => {
      const all: Stored[] = []
      for await (const item of items) all.push(item)
      await call({
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
      const keys = await call(readOperation('store.scan', () => [...table.items.keys()].sort()))
      for (let at = 0; at < keys.length; at += 25) {
        const page = keys.slice(at, at + 25)
        yield await call(
          readOperation('store.scan', () =>
            page.map((key) => table.items.get(key)).filter((item) => item !== undefined),
          ),
        )
      }
    },
    reader: (now) => readerFor(call, table, now),
    ...(table.feed && { changes: table.feed }),
    close: async () => undefined,
  }
  return table.embedded ? { ...store, peek: (key) => table.items.get(keyOf(key)) } : store
}

type CallStore = <T>(operation: Operation<T>) => Promise<T>

const readerFor = (call: CallStore, table: Table, now: () => number): Reader => {
  const visible = (key: Key) => {
    const item = table.items.get(keyOf(key))
    return item === undefined || isExpired(item, table.spec.ttl, now()) ? undefined : item
  }
  return {
    get: (key) => call(readOperation('reader.get', () => visible(key))),
    getMany: (keys) => call(readOperation('reader.getMany', () => keys.map(visible))),
    query: (query) =>
      call({
        port: 'reader.query',
        *steps(fault) {
          return queryTable(table, query, { now: now(), stale: fault === 'stale' })
        },
        refused: throttled,
        own: query.index === undefined ? [] : ['stale'],
      }),
  }
}
