import type { TimestreamWriteClient } from '@aws-sdk/client-timestream-write'
import type { SeriesSpec } from '../../../projections/series.ts'
import { tableName } from '../../../projections/table.ts'
import { newestOf, type Rejected, type Series, type SeriesStores, type Versioned } from '../../engine/series.ts'
import { systemClock } from '../system-clock.ts'
import { connect, nameOf, unavailable, type Clients, type Connection } from './connect.ts'
import { listed, readerOf } from './reader.ts'
import { batchesOf, recordsOf, rejectedOf } from './records.ts'

/** S63. What comes late, and what a rebuild writes again, is older than the memory store: it goes to the magnetic one. */
const RETENTION = {
  RetentionProperties: { MemoryStoreRetentionPeriodInHours: 24, MagneticStoreRetentionPeriodInDays: 365 },
  MagneticStoreWriteProperties: { EnableMagneticStoreWrites: true },
}

/** Amazon Timestream for LiveAnalytics: a table a generation. */
export const timestreamSeries = (connection: Connection): SeriesStores => {
  let connected: Promise<Clients> | undefined
  const clients = (): Promise<Clients> => (connected ??= connect(connection))
  return {
    open: (spec, generation) => openSeries(spec, { table: tableName(spec, generation), clients }),
    drop: async (spec, generation) => {
      const { DeleteTableCommand } = await import('@aws-sdk/client-timestream-write')
      const { writing } = await clients()
      await writing.send(new DeleteTableCommand({ DatabaseName: spec.database, TableName: tableName(spec, generation) })).catch((error: unknown) => {
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

/** Calls under way at once. */
const SIDE_BY_SIDE = 8

const openSeries = (spec: SeriesSpec, { table, clients }: { readonly table: string; readonly clients: () => Promise<Clients> }): Series => {
  let made: Promise<void> | undefined
  const ready = async (): Promise<Clients> => {
    const open = await clients()
    made ??= create(open.writing, spec.database, table)
    // Also tried again when it was dropped meanwhile.
    await made.catch((error: unknown) => {
      made = undefined
      throw unavailable('make the table', error)
    })
    return open
  }
  const write: Series['write'] = async (points) => {
    const newest = newestOf(points, spec.dims)
    const rejected: Rejected[] = []
    if (newest.length === 0) return rejected
    const { writing } = await ready()
    const batches = [...batchesOf(newest)]
    const one = async (): Promise<void> => {
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) rejected.push(...(await send(writing, { spec, table, points: batch })))
    }
    await Promise.all(Array.from({ length: Math.min(SIDE_BY_SIDE, batches.length) }, one)).catch((error: unknown) => {
      made = undefined
      throw unavailable('take records', error)
    })
    return rejected
  }
  const parts = { spec, table, client: async () => (await ready()).querying }
  return { write, list: () => listed(parts), reader: readerOf(parts), keepsFrom: () => systemClock.now() - RETENTION.RetentionProperties.MagneticStoreRetentionPeriodInDays * DAY_MS, close: () => Promise.resolve() }
}

const create = async (client: TimestreamWriteClient, database: string, table: string): Promise<void> => {
  const { CreateDatabaseCommand, CreateTableCommand } = await import('@aws-sdk/client-timestream-write')
  const unlessThere = (error: unknown): void => {
    if (nameOf(error) !== 'ConflictException') throw error
  }
  await client.send(new CreateTableCommand({ DatabaseName: database, TableName: table, ...RETENTION })).catch(async (error: unknown) => {
    if (nameOf(error) !== 'ResourceNotFoundException') return unlessThere(error)
    await client.send(new CreateDatabaseCommand({ DatabaseName: database })).catch(unlessThere)
    await client.send(new CreateTableCommand({ DatabaseName: database, TableName: table, ...RETENTION })).catch(unlessThere)
  })
}

interface Sending {
  readonly spec: SeriesSpec
  readonly table: string
  readonly points: readonly Versioned[]
}

/** What is taken of a batch stays, whatever becomes of the rest. */
const send = async (client: TimestreamWriteClient, { spec, table, points }: Sending): Promise<readonly Rejected[]> => {
  const { RejectedRecordsException, ValidationException, WriteRecordsCommand } = await import('@aws-sdk/client-timestream-write')
  try {
    await client.send(new WriteRecordsCommand({ DatabaseName: spec.database, TableName: table, ...recordsOf(points, spec) }))
    return []
  } catch (error) {
    if (error instanceof RejectedRecordsException) return rejectedOf(points, error.RejectedRecords ?? [])
    if (!(error instanceof ValidationException)) throw error
    // One record that cannot be taken at all must not keep the others out.
    if (points.length === 1) return points.map((point) => ({ point, reason: error.message }))
    return (await Promise.all(points.map((point) => send(client, { spec, table, points: [point] })))).flat()
  }
}
