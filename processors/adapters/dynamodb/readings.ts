import type { DynamoDB } from '@aws-sdk/client-dynamodb'
import { isoOf } from '../../../projections/instant.ts'
import type { Item } from '../../../projections/item.ts'
import { tableName, type TableSpec } from '../../../projections/table.ts'
import { Fault, messageOf } from '../../../schemas/fault.ts'
import { binsOf } from '../../../projections/bins.ts'
import type { Clock } from '../../engine/ports/clock.ts'
import { type Rejected, type Series, type SeriesStores, type Versioned } from '../../engine/ports/series.ts'
import { requireStorable } from '../../engine/rows/storable.ts'
import { isRejection } from '../../engine/rows/store-faults.ts'
import { systemClock } from '../system-clock.ts'
import { createAttempts, type Attempts } from './attempts.ts'
import { toAttributes, toItem, type Attributes } from './codec.ts'
import { connect, type Connection } from './connect.ts'
import { all, createGate } from './gate.ts'
import { createTables, type Tables } from './tables.ts'
import { newestOf } from '../newest-points.ts'
import {
  type Point,
  type PointValue,
  type SeriesReader,
  type SeriesSpec,
  type Stretch,
  seriesName,
} from '../../../projections/series.ts'

export interface ReadingsOptions extends Connection {
  readonly clock?: Clock
}

/** The maximum number of concurrent calls. */
const MAX_CALLS = 32
const TTL = 'ttl'
/** The attributes that this program adds to the row format of requirement S16. */
const [MEASURE, VERSION] = ['_measure', '_version']

/**
 * The series store without Timestream: one DynamoDB table per generation, one row per point. The partition key names a keg or a tap, and the sort
 * key is the time (S16, S17).
 */
export const dynamoReadings = ({ clock = systemClock, ...connection }: ReadingsOptions): SeriesStores => {
  let client: DynamoDB | undefined
  const attempts = createAttempts({ clock, random: Math.random, maxAttempts: 8, firstDelayMs: 20, maxDelayMs: 2_000 })
  const connected = (): DynamoDB => (client ??= connect(connection))
  const tables = (): Tables => createTables({ client: connected(), clock, attempts })
  return {
    open: (spec, generation) =>
      openReadings({
        spec,
        table: tableSpec(spec),
        name: tableName(spec, generation),
        client: connected,
        tables,
        attempts,
        clock,
      }),
    drop: (spec, generation) => tables().drop(tableName(spec, generation)).catch(unavailable),
    close: () => Promise.resolve(client?.destroy()),
  }
}

const tableSpec = ({ name }: SeriesSpec): TableSpec => ({ name, ttl: TTL, indexes: [] })

const unavailable = (error: unknown): never => {
  throw new Fault(
    'series-unavailable',
    `DynamoDB does not write or read readings (${messageOf(error)}). Check the endpoint, the permissions and the table.`,
    { retriable: true, cause: new Error(messageOf(error)) },
  )
}

interface Parts {
  readonly spec: SeriesSpec
  readonly table: TableSpec
  readonly name: string
  readonly client: () => DynamoDB
  readonly tables: () => Tables
  readonly attempts: Attempts
  readonly clock: Clock
}

const openReadings = (parts: Parts): Series => {
  const { spec, table, name, clock, tables } = parts
  const gate = createGate(MAX_CALLS)
  let creation: Promise<void> | undefined
  const ready = async (): Promise<DynamoDB> => {
    creation ??= tables()
      .create(table, name)
      .then(() => tables().enableTtl(table, name))
    await creation.catch((error: unknown) => {
      creation = undefined
      throw error
    })
    return parts.client()
  }
  const retainedFrom = (): number => clock.now() - spec.rows.ttlSeconds * 1000
  const write: Series['write'] = async (points) => {
    const from = retainedFrom()
    const newest = newestOf(points, spec.dims).filter(({ at }) => at >= from)
    if (newest.length === 0) return []
    const client = await ready().catch(unavailable)
    const rejected: Rejected[] = []
    await all(
      newest.map((point) =>
        gate(() => put(client, parts, point)).catch((error: unknown) => {
          if (!isRejection(error)) throw error
          rejected.push({ point, reason: error.message })
        }),
      ),
    ).catch(unavailable)
    return rejected
  }
  const read = async (
    requested: Stretch,
    options: { readonly newest?: boolean; readonly limit?: number } = {},
  ): Promise<readonly Versioned[]> => {
    const stretch = { ...requested, from: Math.max(requested.from, retainedFrom()) }
    const client = await ready().catch(unavailable)
    const rows = await all(
      stretch.partitions.map((partition) => gate(() => rowsIn(client, parts, { stretch, partition, ...options }))),
    ).catch(unavailable)
    const points = newestOf(
      rows.flat().map((row) => pointOf(spec, row)),
      spec.dims,
    ).filter((point) => isWithin(point, stretch))
    const sorted = [...points].sort(
      (a, b) => a.at - b.at || (seriesName(a, spec.dims) < seriesName(b, spec.dims) ? -1 : 1),
    )
    return (options.newest === true ? sorted.reverse() : sorted).slice(0, options.limit ?? sorted.length)
  }
  const reader: SeriesReader = {
    async *points(stretch, options) {
      const points = await read(stretch, options)
      if (points.length > 0) yield points
    },
    bins: async (stretch, binning) => binsOf(await read(stretch), binning),
  }
  async function* list(): AsyncGenerator<readonly Point[]> {
    const rows = await allRows(await ready().catch(unavailable), parts).catch(unavailable)
    const order = (point: Point): string =>
      `${point.measure}\u0000${seriesName(point, spec.dims)}\u0000${isoOf(point.at)}`
    const points = rows.map((row) => pointOf(spec, row)).filter(({ at }) => at >= retainedFrom())
    if (points.length > 0) yield [...points].sort((a, b) => (order(a) < order(b) ? -1 : 1))
  }
  return { write, list, reader, retainedFrom, close: () => Promise.resolve() }
}

const isWithin = ({ measure, dims, at }: Point, stretch: Stretch): boolean =>
  measure === stretch.measure &&
  at >= stretch.from &&
  at < stretch.to &&
  Object.entries(stretch.where).every(([dim, value]) => dims[dim] === value)

/** Writes the row of a point, unless the table already has the same or a newer version of this point. So a repeated put changes nothing (S-i). */
const put = async (client: DynamoDB, { spec, table, name, attempts }: Parts, point: Versioned): Promise<void> => {
  const { measure, dims, at, values, version } = point
  const row: Item = {
    ...spec.rows.key(point),
    ...dims,
    ...values,
    [MEASURE]: measure,
    [VERSION]: version,
    [TTL]: Math.floor(at / 1000) + spec.rows.ttlSeconds,
  }
  requireStorable(table, row)
  await attempts(`a reading to ${name}`, async () => {
    try {
      await client.putItem({
        TableName: name,
        Item: toAttributes(row),
        ConditionExpression: 'attribute_not_exists(PK) OR #version < :version',
        ExpressionAttributeNames: { '#version': VERSION },
        ExpressionAttributeValues: { ':version': { N: String(version) } },
      })
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'ConditionalCheckFailedException') throw error
    }
  })
}

interface PartitionQuery {
  readonly stretch: Stretch
  readonly partition: string
  readonly newest?: boolean
  readonly limit?: number
}

const rowsIn = async (
  client: DynamoDB,
  { name, attempts }: Parts,
  { stretch: { from, to }, partition, newest = false, limit }: PartitionQuery,
): Promise<readonly Item[]> => {
  const rows: Item[] = []
  if (from >= to) return rows
  let start: Attributes | undefined
  do {
    const page = await attempts(`readings of ${name}`, () =>
      client.query({
        TableName: name,
        ConsistentRead: true,
        ScanIndexForward: !newest,
        KeyConditionExpression: 'PK = :pk AND SK BETWEEN :from AND :to',
        ExpressionAttributeValues: {
          ':pk': { S: partition },
          ':from': { S: isoOf(from) },
          ':to': { S: isoOf(to - 1) },
        },
        ...(limit !== undefined && { Limit: limit }),
        ...(start !== undefined && { ExclusiveStartKey: start }),
      }),
    )
    rows.push(...(page.Items ?? []).map(toItem))
    start = limit !== undefined && rows.length >= limit ? undefined : page.LastEvaluatedKey
  } while (start !== undefined)
  return rows
}

const allRows = async (client: DynamoDB, { name, attempts }: Parts): Promise<readonly Item[]> => {
  const rows: Item[] = []
  let start: Attributes | undefined
  do {
    const page = await attempts(`a scan of ${name}`, () =>
      client.scan({ TableName: name, ConsistentRead: true, ...(start !== undefined && { ExclusiveStartKey: start }) }),
    )
    rows.push(...(page.Items ?? []).map(toItem))
    start = page.LastEvaluatedKey
  } while (start !== undefined)
  return rows
}

const pointOf = ({ dims, measures }: SeriesSpec, row: Item): Versioned => {
  const measure = String(row[MEASURE])
  return {
    measure,
    dims: Object.fromEntries(dims.map((dim) => [dim, String(row[dim])])),
    at: Date.parse(row.SK),
    values: Object.fromEntries(
      Object.keys(measures[measure] ?? {}).map((value) => [value, (row[value] ?? null) as PointValue]),
    ),
    version: Number(row[VERSION]),
  }
}
