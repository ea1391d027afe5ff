import { DuckDBDataChunk, type DuckDBConnection, type DuckDBValue } from '@duckdb/node-api'
import { requiredText, type Body } from './body.ts'
import { pointsOf, type Point, type Rejection } from './records.ts'
import { ServiceError, notFound } from './service-error.ts'
import { sqlText, type Storage } from './storage.ts'
import { SINGLES, addColumns, dataOf, type Catalog, type Column, type ColumnType, type Table } from './tables.ts'

const FUTURE_MS = 15 * 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MAX_DIMENSIONS = 128
const MAX_MEASURES = 1024
const MAX_MEASURE_NAMES = 8192
const SAME_VERSION =
  'A record already exists with the same time, dimensions, measure name, and record version. A higher record version must be specified in order to update the measure value.'

type StoredPoint = Readonly<{ version: number; digest: string }>
type Plan = {
  rows: Map<string, Point>
  replaced: Point[]
  columns: Map<string, Column>
  singles: Set<ColumnType>
  names: Set<string>
  rejections: Rejection[]
  memory: number
  magnetic: number
}

const keyOf = ({ series, timeNs }: Pick<Point, 'series' | 'timeNs'>): string => `${series} ${timeNs}`
const pairs = (points: readonly Point[]): string =>
  points.map(({ series, timeNs }) => `(${sqlText(series)}, ${timeNs}::BIGINT)`).join(', ')

/** The time of the oldest records that queries of the table can return, in nanoseconds since 1970. */
export const oldestShownNs = ({ retention }: Table, nowMs: number): bigint =>
  BigInt(Math.floor(nowMs - Math.max(retention.memoryHours * HOUR_MS, retention.magneticDays * DAY_MS))) * 1_000_000n

const windowOf = ({ retention }: Table, nowMs: number) => {
  const memoryMs = nowMs - retention.memoryHours * HOUR_MS
  return {
    memoryMs,
    fromMs: retention.magneticWrites ? Math.min(memoryMs, nowMs - retention.magneticDays * DAY_MS) : memoryMs,
    untilMs: nowMs + FUTURE_MS,
  }
}

const outside = (
  { index, timeNs }: Point,
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
): Rejection | undefined => {
  const timeMs = Number(timeNs / 1_000_000n)
  if (timeMs >= fromMs && timeMs <= untilMs) return undefined
  const range = `[${new Date(Math.max(0, fromMs)).toISOString()}, ${new Date(untilMs).toISOString()})`
  return {
    RecordIndex: index,
    Reason: `The record timestamp is outside the time range ${range} of the data ingestion window.`,
  }
}

/** Returns the stored points with the series and times of these points. Skips points that are newer than all stored points of their series. */
const storedOf = async (
  connection: DuckDBConnection,
  table: Table,
  points: readonly Point[],
): Promise<Map<string, StoredPoint>> => {
  const older = points.filter(({ series, timeNs }) => timeNs <= (table.newest.get(series) ?? -1n))
  if (older.length === 0) return new Map()
  const times = older.map(({ timeNs }) => timeNs)
  const [low, high] = [times.reduce((a, b) => (a < b ? a : b)), times.reduce((a, b) => (a > b ? a : b))]
  const found = await connection.runAndReadAll(
    `SELECT series, time, version, digest FROM ${dataOf(table)} SEMI JOIN (VALUES ${pairs(older)}) w(series, time) USING (series, time) WHERE time BETWEEN ${low} AND ${high}`,
  )
  return new Map(
    found
      .getRows()
      .map(([series, time, version, digest]) => [
        `${String(series)} ${String(time)}`,
        { version: Number(version), digest: String(digest) },
      ]),
  )
}

/** Returns the columns that the point needs and the table does not have yet, or a text with the reason why they cannot be added. */
const columnsOf = (table: Table, plan: Plan, point: Point): Column[] | string => {
  const existing = (name: string) => plan.columns.get(name) ?? table.columns.get(name)
  const needed = [
    ...point.dimensions.map(([name]) => ({ name, kind: 'dimension' as const, type: 'VARCHAR' as const })),
    ...(point.multi ? point.measures.map(({ name, type }) => ({ name, kind: 'measure' as const, type })) : []),
  ]
  const added: Column[] = []
  for (const column of needed) {
    const found = existing(column.name)
    if (found === undefined)
      added.push({ ...column, column: `c${table.columns.size + plan.columns.size + added.length}` })
    else if (found.kind !== column.kind)
      return `${column.name} is a ${found.kind} of this table and cannot be a ${column.kind} as well.`
    else if (found.type !== column.type)
      return `The measure ${column.name} is ${found.type} in this table and cannot be ${column.type}.`
  }
  const isNewName = !table.measureNames.has(point.measureName) && !plan.names.has(point.measureName)
  if (isNewName && table.measureNames.size + plan.names.size >= MAX_MEASURE_NAMES)
    return `The table would have more than ${MAX_MEASURE_NAMES} measure names.`
  const columns = [...table.columns.values(), ...plan.columns.values(), ...added]
  if (columns.filter(({ kind }) => kind === 'dimension').length > MAX_DIMENSIONS)
    return `The table would have more than ${MAX_DIMENSIONS} dimensions.`
  if (columns.filter(({ kind }) => kind === 'measure').length > MAX_MEASURES)
    return `The table would have more than ${MAX_MEASURES} measures.`
  return added
}

const conflictOf = (point: Point, stored: StoredPoint): Rejection => ({
  RecordIndex: point.index,
  Reason:
    point.version === stored.version
      ? SAME_VERSION
      : `The record version ${point.version} is lower than the existing version ${stored.version}. A higher version is required to update the measure value.`,
  ExistingVersion: stored.version,
})

/** Decides for each point if it is stored, ignored or rejected. Takes the points in the order of the call, as if each were in its own call. */
const planOf = (
  table: Table,
  points: readonly Point[],
  { stored, nowMs }: { stored: ReadonlyMap<string, StoredPoint>; nowMs: number },
): Plan => {
  const plan: Plan = {
    rows: new Map(),
    replaced: [],
    columns: new Map(),
    singles: new Set(),
    names: new Set(),
    rejections: [],
    memory: 0,
    magnetic: 0,
  }
  const window = windowOf(table, nowMs)
  for (const point of points) {
    const key = keyOf(point)
    const existing = plan.rows.get(key) ?? stored.get(key)
    const inMemory = Number(point.timeNs / 1_000_000n) >= window.memoryMs
    const conflicts = existing !== undefined && existing.digest !== point.digest && point.version <= existing.version
    const columns = columnsOf(table, plan, point)
    const rejection =
      outside(point, window) ??
      // A version conflict in the magnetic store is not rejected here, because the service accepts the call and reports the conflict later, in S3.
      (conflicts && inMemory ? conflictOf(point, existing) : undefined) ??
      (typeof columns === 'string' ? { RecordIndex: point.index, Reason: columns } : undefined)
    if (rejection !== undefined) {
      plan.rejections.push(rejection)
      continue
    }
    if (inMemory) plan.memory += 1
    else plan.magnetic += 1
    if (existing !== undefined && point.version <= existing.version) continue
    for (const column of columns as Column[]) plan.columns.set(column.name, column)
    if (!point.multi) for (const { type } of point.measures) if (!table.singles.has(type)) plan.singles.add(type)
    if (!table.measureNames.has(point.measureName)) plan.names.add(point.measureName)
    plan.rows.set(key, point)
  }
  plan.replaced = [...plan.rows.values()].filter((point) => stored.has(keyOf(point)))
  return plan
}

const rowOf = (point: Point, columns: readonly Column[]): DuckDBValue[] => {
  const single = point.multi ? undefined : point.measures[0]
  const values = new Map<string, DuckDBValue>([
    ...point.dimensions,
    ...(point.multi ? point.measures.map(({ name, value }) => [name, value] as const) : []),
  ])
  return [
    point.series,
    BigInt(point.version),
    point.digest,
    point.timeNs,
    point.measureName,
    ...SINGLES.map((type) => (single?.type === type ? single.value : null)),
    ...columns.map(({ name }) => values.get(name) ?? null),
  ]
}

const store = async (connection: DuckDBConnection, table: Table, plan: Plan): Promise<void> => {
  if (plan.rows.size === 0) return
  await addColumns(connection, table, { columns: [...plan.columns.values()], singles: [...plan.singles] })
  if (plan.replaced.length > 0)
    await connection.run(`DELETE FROM ${dataOf(table)} WHERE (series, time) IN (VALUES ${pairs(plan.replaced)})`)
  const appender = await connection.createAppender(dataOf(table))
  const columns = [...table.columns.values(), ...plan.columns.values()]
  const types = Array.from({ length: appender.columnCount }, (_, index) => appender.columnType(index))
  const chunk = DuckDBDataChunk.create(types)
  chunk.setRows([...plan.rows.values()].map((point) => rowOf(point, columns)))
  appender.appendDataChunk(chunk)
  appender.closeSync()
}

/** Updates the catalog in memory after the commit of a write. */
const remember = (table: Table, plan: Plan): void => {
  for (const column of plan.columns.values()) table.columns.set(column.name, column)
  for (const type of plan.singles) table.singles.add(type)
  for (const name of plan.names) table.measureNames.add(name)
  for (const { series, timeNs } of plan.rows.values())
    if (timeNs > (table.newest.get(series) ?? -1n)) table.newest.set(series, timeNs)
}

export const writeRecords = async (
  body: Body,
  { storage, catalog, nowMs }: { storage: Storage; catalog: Catalog; nowMs: number },
): Promise<Body> => {
  const table = catalog.table(requiredText(body, 'DatabaseName'), requiredText(body, 'TableName'))
  const { points, rejections } = pointsOf(body)
  const plan = await storage.write(
    async (connection) => {
      if (catalog.databases.get(table.database)?.tables.get(table.name) !== table)
        throw notFound(`The table ${table.name} does not exist.`)
      const planned = planOf(table, points, { stored: await storedOf(connection, table, points), nowMs })
      await store(connection, table, planned)
      return planned
    },
    (planned) => remember(table, planned),
  )
  const rejected = [...rejections, ...plan.rejections].sort((a, b) => a.RecordIndex - b.RecordIndex)
  if (rejected.length > 0) {
    throw new ServiceError(
      'RejectedRecordsException',
      'One or more records have been rejected. See RejectedRecords for details.',
      { status: 419, detail: { RejectedRecords: rejected } },
    )
  }
  return { RecordsIngested: { Total: points.length, MemoryStore: plan.memory, MagneticStore: plan.magnetic } }
}
