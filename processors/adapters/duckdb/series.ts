import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBValue } from '@duckdb/node-api'
import { PARTS, type Aggregate, type Bin, type SeriesReader, type SeriesSpec, type Stretch } from '../../../projections/series.ts'
import { united } from '../../../projections/bins.ts'
import { newestOf, type Series, type SeriesStores, type Versioned } from '../../engine/series.ts'
import { openDatabase, type Database } from './database.ts'
import { createDictionary, type Dictionary } from './dictionary.ts'
import { createTable, merge, pointOf, quoted, tablesOf, type Table } from './tables.ts'

const FILE = 'points.duckdb'

/** The embedded series: a DuckDB file a generation, a table a measure. */
export const duckdbSeries = ({ folder }: { readonly folder: string }): SeriesStores => {
  const opened = new Set<Series>()
  const placeOf = ({ database, name }: SeriesSpec, generation: number): string => join(folder, `${database}.${name}`, `g${generation}`)
  return {
    open: (spec, generation) => {
      const series = openSeries(spec, join(placeOf(spec, generation), FILE))
      opened.add(series)
      return series
    },
    drop: (spec, generation) => rm(placeOf(spec, generation), { recursive: true, force: true }),
    close: async () => {
      await Promise.all([...opened].map((series) => series.close()))
      opened.clear()
    },
  }
}

interface Parts {
  readonly database: Database
  readonly dictionary: Dictionary
  readonly tables: readonly Table[]
}

const openSeries = (spec: SeriesSpec, path: string): Series => {
  const [tables, dictionary] = [tablesOf(spec), createDictionary(spec.dims)]
  const database = openDatabase(path, async (connection) => {
    for (const table of tables) await createTable(connection, table)
    await dictionary.load(connection)
  })
  /** What a write that failed had learnt is not on disk. */
  let doubtful = false
  const write: Series['write'] = async (points) => {
    const newest = newestOf(points, spec.dims)
    if (newest.length === 0) return []
    await database.write(async (connection) => {
      if (doubtful) await dictionary.load(connection)
      doubtful = true
      await dictionary.learn(connection, newest)
      for (const table of tables) await merge(connection, table, { points: newest.filter(({ measure }) => measure === table.measure), dictionary })
    })
    doubtful = false
    return []
  }
  const parts = { database, dictionary, tables }
  return { write, list: () => listed(parts), reader: readerOf(parts), copy: (folder) => database.copy(join(folder, FILE)), close: database.close }
}

async function* listed({ database, dictionary, tables }: Parts): AsyncGenerator<readonly Versioned[]> {
  for await (const _ of database.rows(() => 'SELECT 1')) void _
  for (const table of tables) {
    for (const id of dictionary.ids()) {
      for await (const rows of database.rows(() => `SELECT * FROM ${quoted(table.measure)} WHERE series = ${id} ORDER BY time`)) yield rows.map((row) => pointOf(row, table, dictionary))
    }
  }
}

const readerOf = ({ database, dictionary, tables }: Parts): SeriesReader => {
  /** What of a stretch there can be, once the dictionary is known. */
  const within = ({ measure, where, from, to }: Stretch): string | undefined => {
    const ids = dictionary.idsWith(where)
    return ids.length === 0 || to <= from ? undefined : `FROM ${quoted(measure)} WHERE series IN (${ids.join(', ')}) AND time >= ${from} AND time < ${to}`
  }
  const points: SeriesReader['points'] = async function* (stretch, { newest = false, limit } = {}) {
    const table = tables.find(({ measure }) => measure === stretch.measure)
    if (table === undefined) return
    const order = newest ? 'DESC' : 'ASC'
    const rest = `ORDER BY time ${order}, series ${order}${limit === undefined ? '' : ` LIMIT ${limit}`}`
    for await (const rows of database.rows(() => prefixed('SELECT *', within(stretch), rest))) yield rows.map((row) => pointOf(row, table, dictionary))
  }
  const bins: SeriesReader['bins'] = async (stretch, { ms, by, of }) => {
    const wanted = of.map(quoted).map((value) => `count(${value}), sum(round(${value} * ${PARTS})), min(${value})`)
    const select = `SELECT (time // ${ms}) * ${ms} AS bin, ${by === undefined ? 0 : 'series'} AS apart, ${wanted.join(', ')}`
    const found: Bin[] = []
    for await (const rows of database.rows(() => prefixed(select, within(stretch), 'GROUP BY bin, apart ORDER BY bin'))) {
      for (const [at, id, ...values] of rows) found.push({ at: Number(at), ...(by === undefined ? {} : { by: dictionary.dimsOf(Number(id))[by] ?? '' }), values: aggregates(of, values) })
    }
    return by === undefined ? found : united(found)
  }
  return { points, bins }
}

const prefixed = (select: string, from: string | undefined, rest: string): string | undefined => (from === undefined ? undefined : `${select} ${from} ${rest}`)

/** Three columns a number: how many, their sum, and the least. */
const aggregates = (of: readonly string[], columns: readonly DuckDBValue[]): Bin['values'] => {
  const found: { [value: string]: Aggregate } = {}
  for (const [index, name] of of.entries()) {
    const [count, sum, min] = columns.slice(index * 3, index * 3 + 3).map(Number) as [number, number, number]
    if (count > 0) found[name] = { count, sum, min }
  }
  return found
}
