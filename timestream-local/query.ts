import { randomUUID } from 'node:crypto'
import type { DuckDBValue } from '@duckdb/node-api'
import { optionalText, optionalWhole, requiredText, type Body } from './body.ts'
import type { Page, Pages, Row } from './paging.ts'
import { ServiceError, invalid } from './service-error.ts'
import { refuse, type At } from './sql/lexer.ts'
import { parsed } from './sql/queries.ts'
import { printedInterval, printedTimestamp } from './sql/time.ts'
import { translated, type Source, type Translated } from './sql/translate.ts'
import type { Type } from './sql/tree.ts'
import type { Storage } from './storage.ts'
import { SINGLES, dataOf, type Catalog, type ColumnType } from './tables.ts'
import { oldestShownNs } from './write.ts'

const MAX_QUERY_BYTES = 262_144
const MAX_ROWS = 1000
const SCALAR: Readonly<Record<Type, string>> = {
  boolean: 'BOOLEAN',
  integer: 'INTEGER',
  bigint: 'BIGINT',
  double: 'DOUBLE',
  varchar: 'VARCHAR',
  timestamp: 'TIMESTAMP',
  interval: 'INTERVAL_DAY_TO_SECOND',
  unknown: 'UNKNOWN',
}

/**
 * Formats a double as the service does, which uses the format of Java: with at least one decimal, and with an exponent if the absolute value is
 * 10,000,000 or more, or less than 0.001.
 */
const printedDouble = (value: number): string => {
  if (!Number.isFinite(value)) return String(value)
  if (Object.is(value, -0)) return '-0.0'
  const size = Math.abs(value)
  const decimal = (text: string) => (text.includes('.') ? text : `${text}.0`)
  if (size === 0 || (size >= 1e-3 && size < 1e7)) return decimal(String(value))
  const [mantissa = '', exponent = ''] = value.toExponential().split('e')
  return `${decimal(mantissa)}E${Number(exponent)}`
}

const printed = (value: DuckDBValue, type: Type): Readonly<Record<string, unknown>> => {
  if (value === null || value === undefined) return { NullValue: true }
  switch (type) {
    case 'double':
      return { ScalarValue: printedDouble(Number(value)) }
    case 'timestamp':
      return { ScalarValue: printedTimestamp(BigInt(String(value))) }
    case 'interval':
      return { ScalarValue: printedInterval(BigInt(String(value))) }
    default:
      return { ScalarValue: String(value) }
  }
}

const typeOf = (type: ColumnType): Type => type.toLowerCase() as Type

/** Returns a lookup by table name. It returns SQL for the rows of the table within its retention, and its columns in the order of `SELECT *`. */
const sourceOf =
  (catalog: Catalog, nowMs: number) =>
  (at: At, database: string, name: string): Source => {
    const table = catalog.databases.get(database)?.tables.get(name)
    if (table === undefined) throw refuse(at, `Table ${database}.${name} does not exist`)
    const columns = [...table.columns.values()].map((column) => ({
      kind: column.kind,
      name: column.name,
      sql: column.column,
      type: typeOf(column.type),
      finite: true as const,
    }))
    return {
      sql: `(SELECT * FROM ${dataOf(table)} WHERE time >= ${oldestShownNs(table, nowMs)})`,
      columns: [
        ...columns.filter(({ kind }) => kind === 'dimension'),
        { name: 'measure_name', sql: 'measure_name', type: 'varchar' },
        { name: 'time', sql: 'time', type: 'timestamp' },
        ...SINGLES.map((type) => ({
          name: `measure_value::${type.toLowerCase()}`,
          sql: `v_${type.toLowerCase()}`,
          type: typeOf(type),
          finite: true as const,
          ...(!table.singles.has(type) && { hidden: true as const }),
        })),
        ...columns.filter(({ kind }) => kind === 'measure'),
      ],
    }
  }

/** Runs a query. Errors of DuckDB (a division by zero, an overflow, a failed cast) become errors of the service. */
const run = async (storage: Storage, { sql, columns }: Translated): Promise<Row[]> => {
  try {
    const rows = await storage.read(sql)
    return rows.map((row) => ({ Data: row.map((value, index) => printed(value, columns[index]?.type ?? 'unknown')) }))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (/^INTERRUPT/i.test(message))
      throw new ServiceError('QueryExecutionException', 'The query took longer than 60 seconds.')
    throw invalid(message.split('\n')[0]?.replace(/^[A-Za-z ]+ Error: /, '') ?? message)
  }
}

const answer = ({ result, rows, nextToken }: Page): Body => ({
  QueryId: result.queryId,
  ...(nextToken !== undefined && { NextToken: nextToken }),
  Rows: rows,
  ColumnInfo: result.columns,
  QueryStatus: { ProgressPercentage: 100, CumulativeBytesScanned: 0, CumulativeBytesMetered: 0 },
})

type Context = Readonly<{ storage: Storage; catalog: Catalog; pages: Pages; nowMs: number }>

export const runQuery = async (body: Body, { storage, catalog, pages, nowMs }: Context): Promise<Body> => {
  const sql = requiredText(body, 'QueryString')
  if (Buffer.byteLength(sql) > MAX_QUERY_BYTES) throw invalid(`QueryString is longer than ${MAX_QUERY_BYTES} bytes.`)
  const maxRows = optionalWhole(body, 'MaxRows', [1, MAX_ROWS])
  const limits = { ...(maxRows !== undefined && { maxRows }), nowMs }
  const token = optionalText(body, 'NextToken')
  if (token !== undefined) return answer(pages.next(token, { sql, ...limits }))
  const query = translated(parsed(sql), {
    nowNs: BigInt(Math.floor(nowMs)) * 1_000_000n,
    table: sourceOf(catalog, nowMs),
  })
  const columns = query.columns.map(({ name, type }) => ({ Name: name, Type: { ScalarType: SCALAR[type] } }))
  const queryId = randomUUID().replaceAll('-', '').toUpperCase()
  return answer(pages.first({ queryId, sql, columns, rows: await run(storage, query) }, limits))
}

export const cancelQuery = (body: Body, { pages }: Context): Body => {
  const queryId = requiredText(body, 'QueryId')
  return {
    CancellationMessage: pages.drop(queryId)
      ? `The query ${queryId} was cancelled.`
      : `The query ${queryId} has ended already.`,
  }
}
