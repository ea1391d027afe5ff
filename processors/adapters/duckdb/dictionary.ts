import type { DuckDBConnection } from '@duckdb/node-api'
import { type Point, seriesName } from '../../../projections/series.ts'

type Dims = Point['dims']

/** Assigns a number to each combination of dimension values. Rows store only this number, so they are small, and a filter is a list of numbers. */
export interface Dictionary {
  load(connection: DuckDBConnection): Promise<void>
  /** Assigns numbers to the new combinations of these points. To be called in the transaction that writes the points. */
  add(connection: DuckDBConnection, points: readonly Point[]): Promise<void>
  idOf(point: Point): number
  dimsOf(id: number): Dims
  idsWith(where: Dims): readonly number[]
  /** All numbers, in the order of their dimension values. */
  ids(): readonly number[]
}

export const createDictionary = (names: readonly string[]): Dictionary => {
  const ids = new Map<string, number>()
  const dimsById = new Map<number, Dims>()
  const remember = (id: number, dims: Dims) => {
    ids.set(seriesName({ dims }, names), id)
    dimsById.set(id, dims)
  }
  const columns = names.map((name) => `"${name}"`).join(', ')
  const load = async (connection: DuckDBConnection) => {
    ids.clear()
    dimsById.clear()
    await connection.run(
      `CREATE TABLE IF NOT EXISTS series (id INTEGER PRIMARY KEY, ${names.map((name) => `"${name}" VARCHAR`).join(', ')})`,
    )
    for (const [id, ...values] of (await connection.runAndReadAll(`SELECT id, ${columns} FROM series`)).getRows()) {
      remember(Number(id), Object.fromEntries(names.map((name, index) => [name, String(values[index])])))
    }
  }
  const add: Dictionary['add'] = async (connection, points) => {
    for (const { dims } of points) {
      if (ids.has(seriesName({ dims }, names))) continue
      const { length } = (await connection.runAndReadAll('SELECT id FROM series')).getRows()
      await connection.run(
        `INSERT INTO series VALUES (${length + 1}, ${names.map(() => '?').join(', ')})`,
        names.map((name) => dims[name] ?? ''),
      )
      remember(length + 1, dims)
    }
  }
  const matches = (dims: Dims, where: Dims): boolean =>
    Object.entries(where).every(([name, value]) => dims[name] === value)
  return {
    load,
    add,
    idOf: (point) => ids.get(seriesName(point, names)) as number,
    dimsOf: (id) => dimsById.get(id) ?? {},
    idsWith: (where) => [...dimsById].filter(([, dims]) => matches(dims, where)).map(([id]) => id),
    ids: () => [...ids].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, id]) => id),
  }
}
