import type { DuckDBConnection } from '@duckdb/node-api'
import type { Point } from '../../../projections/series.ts'
import { seriesName } from '../../engine/series.ts'

type Dims = Point['dims']

/** Every combination of dimensions that there is, by a number: rows stay small, and a filter is a few numbers. */
export interface Dictionary {
  load(connection: DuckDBConnection): Promise<void>
  /** Numbers those that are new, in the transaction of their first points. */
  learn(connection: DuckDBConnection, points: readonly Point[]): Promise<void>
  idOf(point: Point): number
  dimsOf(id: number): Dims
  idsWith(where: Dims): readonly number[]
  /** In the order of their dimensions. */
  ids(): readonly number[]
}

export const createDictionary = (names: readonly string[]): Dictionary => {
  const ids = new Map<string, number>()
  const known = new Map<number, Dims>()
  const keep = (id: number, dims: Dims) => {
    ids.set(seriesName({ dims }, names), id)
    known.set(id, dims)
  }
  const columns = names.map((name) => `"${name}"`).join(', ')
  const load = async (connection: DuckDBConnection) => {
    ids.clear()
    known.clear()
    await connection.run(`CREATE TABLE IF NOT EXISTS series (id INTEGER PRIMARY KEY, ${names.map((name) => `"${name}" VARCHAR`).join(', ')})`)
    for (const [id, ...values] of (await connection.runAndReadAll(`SELECT id, ${columns} FROM series`)).getRows()) {
      keep(Number(id), Object.fromEntries(names.map((name, index) => [name, String(values[index])])))
    }
  }
  const learn: Dictionary['learn'] = async (connection, points) => {
    for (const { dims } of points) {
      if (ids.has(seriesName({ dims }, names))) continue
      const { length } = (await connection.runAndReadAll('SELECT id FROM series')).getRows()
      await connection.run(`INSERT INTO series VALUES (${length + 1}, ${names.map(() => '?').join(', ')})`, names.map((name) => dims[name] ?? ''))
      keep(length + 1, dims)
    }
  }
  const isWith = (dims: Dims, where: Dims): boolean => Object.entries(where).every(([name, value]) => dims[name] === value)
  return {
    load,
    learn,
    idOf: (point) => ids.get(seriesName(point, names)) as number,
    dimsOf: (id) => known.get(id) ?? {},
    idsWith: (where) => [...known].filter(([, dims]) => isWith(dims, where)).map(([id]) => id),
    ids: () => [...ids].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, id]) => id),
  }
}
