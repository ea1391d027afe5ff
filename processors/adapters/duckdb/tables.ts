import type { DuckDBAppender, DuckDBConnection, DuckDBValue } from '@duckdb/node-api'
import type { PointValue, SeriesSpec, ValueType } from '../../../projections/series.ts'
import type { Versioned } from '../../engine/ports/series.ts'
import type { Dictionary } from './dictionary.ts'

/** The DuckDB table that contains the points of one measure. */
export interface Table {
  readonly measure: string
  readonly columns: readonly { readonly name: string; readonly type: ValueType }[]
}

export const tablesOf = ({ measures }: SeriesSpec): readonly Table[] =>
  Object.entries(measures)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([measure, values]) => ({ measure, columns: Object.entries(values).map(([name, type]) => ({ name, type })) }))

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const SQL_TYPES = { number: 'DOUBLE', text: 'VARCHAR' } as const

export const createTable = async (connection: DuckDBConnection, { measure, columns }: Table): Promise<void> => {
  const definitions = columns.map(({ name, type }) => `${quoted(name)} ${SQL_TYPES[type]}`)
  await connection.run(
    `CREATE TABLE IF NOT EXISTS ${quoted(measure)} (series INTEGER, time BIGINT, version BIGINT, ${definitions.join(', ')}, PRIMARY KEY (series, time))`,
  )
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${quoted(stagedName(measure))} AS FROM ${quoted(measure)} LIMIT 0`)
}

const stagedName = (measure: string): string => `new ${measure}`

/**
 * Writes points through a temporary table, which is many times faster than row by row. A stored point is replaced only if the new version is higher.
 * The points must be distinct: at most one per combination of dimensions and instant.
 */
export const merge = async (
  connection: DuckDBConnection,
  { measure, columns }: Table,
  { points, dictionary }: { readonly points: readonly Versioned[]; readonly dictionary: Dictionary },
): Promise<void> => {
  if (points.length === 0) return
  const staged = stagedName(measure)
  const appender = await connection.createAppender(staged, 'main', 'temp')
  for (const point of points) {
    appender.appendInteger(dictionary.idOf(point))
    appender.appendBigInt(BigInt(point.at))
    appender.appendBigInt(BigInt(point.version))
    for (const { name, type } of columns) append(appender, point.values[name] ?? null, type)
    appender.endRow()
  }
  appender.closeSync()
  const set = ['version', ...columns.map(({ name }) => quoted(name))].map((column) => `${column} = excluded.${column}`)
  await connection.run(
    `INSERT INTO ${quoted(measure)} FROM ${quoted(staged)} ON CONFLICT (series, time) DO UPDATE SET ${set.join(', ')} WHERE excluded.version > version`,
  )
  await connection.run(`DELETE FROM ${quoted(staged)}`)
}

const append = (appender: DuckDBAppender, value: PointValue, type: ValueType) => {
  if (value === null) appender.appendNull()
  else if (type === 'number') appender.appendDouble(Number(value))
  else appender.appendVarchar(String(value))
}

/** Converts a row of `SELECT *` into a point. */
export const pointOf = (
  [series, time, version, ...values]: readonly DuckDBValue[],
  { measure, columns }: Table,
  dictionary: Dictionary,
): Versioned => ({
  measure,
  dims: dictionary.dimsOf(Number(series)),
  at: Number(time),
  values: Object.fromEntries(columns.map(({ name }, index) => [name, values[index] as PointValue])),
  version: Number(version),
})
