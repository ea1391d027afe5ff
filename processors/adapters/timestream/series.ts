import type { TimestreamWriteClient } from '@aws-sdk/client-timestream-write'
import type { SeriesSpec } from '../../../projections/series.ts'
import { tableName } from '../../../projections/table.ts'
import { type Rejected, type Series, type SeriesStores, type Versioned } from '../../engine/ports/series.ts'
import { systemClock } from '../system-clock.ts'
import { connect, nameOf, unavailable, type Clients, type Connection } from './connect.ts'
import { listPoints, readerOf } from './reader.ts'
import { batchesOf, recordsOf, rejectedOf } from './records.ts'
import { newestOf } from '../newest-points.ts'

/**
 * The time for which Timestream keeps points (S63). The memory store accepts only points of the last 24 hours, so writes to the magnetic store are
 * enabled: late points and the points of a rebuild are older.
 */
const RETENTION = {
  RetentionProperties: { MemoryStoreRetentionPeriodInHours: 24, MagneticStoreRetentionPeriodInDays: 365 },
  MagneticStoreWriteProperties: { EnableMagneticStoreWrites: true },
}

/** The series store on Amazon Timestream for LiveAnalytics: one table per generation. */
export const timestreamSeries = (connection: Connection): SeriesStores => {
  let connected: Promise<Clients> | undefined
  const clients = (): Promise<Clients> => (connected ??= connect(connection))
  return {
    open: (spec, generation) => openSeries(spec, { table: tableName(spec, generation), clients }),
    drop: async (spec, generation) => {
      const { DeleteTableCommand } = await import('@aws-sdk/client-timestream-write')
      const { writing } = await clients()
      await writing
        .send(new DeleteTableCommand({ DatabaseName: spec.database, TableName: tableName(spec, generation) }))
        .catch((error: unknown) => {
          if (nameOf(error) !== 'ResourceNotFoundException') throw unavailable('drop the table', error)
        })
    },
    close: async () => {
      const open = await connected
      open?.writing.destroy()
      open?.querying.destroy()
      connected = undefined
    },
  }
}

const DAY_MS = 86_400_000

/** The maximum number of concurrent calls per write. */
const MAX_CALLS = 8

const openSeries = (
  spec: SeriesSpec,
  { table, clients }: { readonly table: string; readonly clients: () => Promise<Clients> },
): Series => {
  let creation: Promise<void> | undefined
  const ready = async (): Promise<Clients> => {
    const open = await clients()
    creation ??= create(open.writing, spec.database, table)
    await creation.catch((error: unknown) => {
      creation = undefined
      throw unavailable('create the table', error)
    })
    return open
  }
  const write: Series['write'] = async (points) => {
    const newest = newestOf(points, spec.dims)
    const rejected: Rejected[] = []
    if (newest.length === 0) return rejected
    const { writing } = await ready()
    const batches = [...batchesOf(newest)]
    const sendBatches = async (): Promise<void> => {
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift())
        rejected.push(...(await send(writing, { spec, table, points: batch })))
    }
    const senders = Array.from({ length: Math.min(MAX_CALLS, batches.length) }, sendBatches)
    await Promise.all(senders).catch((error: unknown) => {
      // The table may have been dropped, so the next write tries to create the table again.
      creation = undefined
      throw unavailable('accept records', error)
    })
    return rejected
  }
  const parts = { spec, table, client: async () => (await ready()).querying }
  return {
    write,
    list: () => listPoints(parts),
    reader: readerOf(parts),
    retainedFrom: () => systemClock.now() - RETENTION.RetentionProperties.MagneticStoreRetentionPeriodInDays * DAY_MS,
    close: () => Promise.resolve(),
  }
}

const create = async (client: TimestreamWriteClient, database: string, table: string): Promise<void> => {
  const { CreateDatabaseCommand, CreateTableCommand } = await import('@aws-sdk/client-timestream-write')
  const ignoreExisting = (error: unknown): void => {
    if (nameOf(error) !== 'ConflictException') throw error
  }
  await client
    .send(new CreateTableCommand({ DatabaseName: database, TableName: table, ...RETENTION }))
    .catch(async (error: unknown) => {
      if (nameOf(error) !== 'ResourceNotFoundException') return ignoreExisting(error)
      await client.send(new CreateDatabaseCommand({ DatabaseName: database })).catch(ignoreExisting)
      await client
        .send(new CreateTableCommand({ DatabaseName: database, TableName: table, ...RETENTION }))
        .catch(ignoreExisting)
    })
}

interface Batch {
  readonly spec: SeriesSpec
  readonly table: string
  readonly points: readonly Versioned[]
}

/** Writes a batch. Returns the points that Timestream rejected. All other points are stored. */
const send = async (client: TimestreamWriteClient, { spec, table, points }: Batch): Promise<readonly Rejected[]> => {
  const { RejectedRecordsException, ValidationException, WriteRecordsCommand } =
    await import('@aws-sdk/client-timestream-write')
  try {
    await client.send(
      new WriteRecordsCommand({ DatabaseName: spec.database, TableName: table, ...recordsOf(points, spec) }),
    )
    return []
  } catch (error) {
    if (error instanceof RejectedRecordsException) return rejectedOf(points, error.RejectedRecords ?? [])
    if (!(error instanceof ValidationException)) throw error
    // An invalid record makes Timestream reject the whole call, so the points are sent one by one.
    if (points.length === 1) return points.map((point) => ({ point, reason: error.message }))
    return (await Promise.all(points.map((point) => send(client, { spec, table, points: [point] })))).flat()
  }
}
