import type { DynamoDB } from '@aws-sdk/client-dynamodb'
import type { DynamoDBStreams } from '@aws-sdk/client-dynamodb-streams'
import { randomUUID } from 'node:crypto'
import { isExpired, type Key } from '../../../projections/item.ts'
import { tableName, type Reader, type TableSpec } from '../../../projections/table.ts'
import type { Clock } from '../../engine/ports/clock.ts'
import { systemClock } from '../system-clock.ts'
import type { Store, Stores } from '../../engine/ports/store.ts'
import { createAttempts, withPatience, type Failure } from './attempts.ts'
import { bulk } from './bulk.ts'
import { confirmCheckpoint, isConfirmed, listCheckpoints, saveCheckpoint } from './checkpoints.ts'
import { commitSpans } from './commit.ts'
import { connect, connectStreams, DEFAULT_CONCURRENCY, type Connection } from './connect.ts'
import { createGate } from './gate.ts'
import { load, scan } from './load.ts'
import { readPage } from './query.ts'
import { isReserved, type Table } from './table.ts'
import { createTables } from './tables.ts'
import { createStreamFeed } from './streams.ts'
import { createTally } from './tally.ts'
import { batchLoads } from './batch-loads.ts'
import type { Units } from './units.ts'

export interface DynamoOptions extends Connection {
  /** A connected client. Default: a new one for the connection. */
  readonly client?: DynamoDB
  readonly clock?: Clock
  readonly random?: () => number
  readonly retry?: { readonly maxAttempts?: number; readonly firstDelayMs?: number; readonly maxDelayMs?: number }
  readonly metrics?: DynamoMetrics
}

interface DynamoMetrics {
  /** Runs for each attempt that failed. Most attempts are retried. */
  failed?(what: string, why: Failure): void
  /** Runs for each write with its cost. */
  units?(table: string, units: Units): void
}

export interface DynamoStore extends Store {
  /** The write units of this store so far, by DynamoDB's documented rules. */
  units(): Units
}

export interface DynamoStores extends Stores {
  open(spec: TableSpec, generation: number): Promise<DynamoStore>
  create(spec: TableSpec, generation: number): Promise<DynamoStore>
  /**
   * Lets DynamoDB remove expired items. Must not be called during a build: a build folds old events, and their folds can still need items that have
   * expired by now.
   */
  enableTtl(spec: TableSpec, generation: number): Promise<void>
}

/** The projection store on DynamoDB: one table per generation. */
export const dynamoStores = (options: DynamoOptions = {}): DynamoStores => {
  const {
    clock = systemClock,
    random = Math.random,
    retry = {},
    metrics,
    maxConcurrency = DEFAULT_CONCURRENCY,
  } = options
  const client = options.client ?? connect(options)
  const gate = createGate(maxConcurrency)
  const { maxAttempts = 8, firstDelayMs = 20, maxDelayMs = 2_000 } = retry
  const attempts = createAttempts({
    clock,
    random,
    maxAttempts,
    firstDelayMs,
    maxDelayMs,
    failed: metrics?.failed?.bind(metrics),
  })
  const tables = createTables({ client, clock, attempts })
  let streaming: Promise<DynamoDBStreams> | undefined
  const streams = (): Promise<DynamoDBStreams> => (streaming ??= connectStreams(options))

  const opened = async (spec: TableSpec, generation: number): Promise<DynamoStore> => {
    const name = tableName(spec, generation)
    const tally = createTally(spec, (units) => metrics?.units?.(name, units))
    const table: Table = { name, spec, client, gate, attempts, tally, newToken: randomUUID }
    const store = createStore(table, { width: Math.max(1, Math.floor(maxConcurrency / 2)), clock })
    if (spec.watched !== true) return store
    return {
      ...store,
      changes: createStreamFeed({
        streams: await streams(),
        arn: () => tables.streamArn(name),
        attempts,
        clock,
        table: name,
      }),
    }
  }

  return {
    async open(spec, generation) {
      await tables.require(spec, tableName(spec, generation))
      return opened(spec, generation)
    },
    async create(spec, generation) {
      await tables.create(spec, tableName(spec, generation))
      return opened(spec, generation)
    },
    drop: (spec, generation) => tables.drop(tableName(spec, generation)),
    measure: (spec, generation) => tables.measure(tableName(spec, generation)),
    enableTtl: (spec, generation) => tables.enableTtl(spec, tableName(spec, generation)),
    enableChanges: (spec, generation) => tables.enableStream(tableName(spec, generation)),
    async close() {
      client.destroy()
      ;(await streaming)?.destroy()
    },
  }
}

const createStore = (
  table: Table,
  { width, clock }: { readonly width: number; readonly clock: Clock },
): DynamoStore => {
  return {
    load: (keys) => load(table, keys),
    async commit(spans, checkpoint) {
      if (checkpoint !== undefined && isConfirmed(spans, checkpoint)) await confirmCheckpoint(table, checkpoint)
      const outcomes = await commitSpans(table, spans)
      if (checkpoint !== undefined && outcomes.every(({ applied }) => applied === 'all'))
        await saveCheckpoint(table, checkpoint)
      return outcomes
    },
    checkpoints: () => listCheckpoints(table),
    bulk: (items, pace) => bulk(table, items, { width, pace }),
    async *scan() {
      for await (const page of scan(table)) {
        const items = page.filter(({ PK }) => !isReserved(PK))
        if (items.length > 0) yield items
      }
    },
    reader: (now, patienceMs) =>
      createReader(
        patienceMs === undefined ? table : { ...table, attempts: withPatience(table.attempts, { clock, patienceMs }) },
        now,
      ),
    units: () => table.tally.units(),
    async close() {},
  }
}

const createReader = (table: Table, now: () => number): Reader => {
  const loadBatched = batchLoads((keys) => load(table, keys))
  const getMany = async (keys: readonly Key[]) => {
    const items = await loadBatched(keys)
    return items.map((item) =>
      item === undefined || isReserved(item.PK) || isExpired(item, table.spec.ttl, now()) ? undefined : item,
    )
  }
  return { get: async (key) => (await getMany([key]))[0], getMany, query: (query) => readPage(table, query, now) }
}
