import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBValue } from '@duckdb/node-api'
import {
  PARTS,
  type Aggregate,
  type Bin,
  type SeriesReader,
  type SeriesSpec,
  type Stretch,
} from '../../../projections/series.ts'
import { united } from '../../../projections/bins.ts'
import { type Series, type SeriesStores, type Versioned } from '../../engine/ports/series.ts'
import { openDatabase, type Database } from './database.ts'
import { createDictionary, type Dictionary } from './dictionary.ts'
import { createTable, merge, pointOf, quoted, tablesOf, type Table } from './tables.ts'
import { newestOf } from '../newest-points.ts'

const FILE = 'points.duckdb'

/** The embedded series store: one DuckDB file per generation, one table per measure. */
export const duckdbSeries = ({ folder }: { readonly folder: string }): SeriesStores => {
  const opened = new Set<Series>()
  const folderOf = ({ database, name }: SeriesSpec, generation: number): string =>
    join(folder, `${database}.${name}`, `g${generation}`)
  return {
    open: (spec, generation) => {
      const series = openSeries(spec, join(folderOf(spec, generation), FILE))
      opened.add(series)
      return series
    },
    drop: (spec, generation) => rm(folderOf(spec, generation), { recursive: true, force: true }),
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
  /** True if the dictionary can contain numbers of a failed write. They are not on disk, so the next write loads the dictionary again. */
  let isDictionaryStale = false
  const write: Series['write'] = async (points) => {
    const newest = newestOf(points, spec.dims)
    if (newest.length === 0) return []
    await database.write(async (connection) => {
      if (isDictionaryStale) await dictionary.load(connection)
      isDictionaryStale = true
      await dictionary.add(connection, newest)
      for (const table of tables)
        await merge(connection, table, {
          points: newest.filter(({ measure }) => measure === table.measure),
          dictionary,
        })
    })
    isDictionaryStale = false
    return []
  }
  const parts = { database, dictionary, tables }
  return {
    write,
    list: () => listPoints(parts),
    reader: readerOf(parts),
    copy: (folder) => database.copy(join(folder, FILE)),
    close: database.close,
  }
}

async function* listPoints({ database, dictionary, tables }: Parts): AsyncGenerator<readonly Versioned[]> {
  // This query opens the file, which loads the dictionary for the next lines.
  for await (const _ of database.rows(() => 'SELECT 1')) void _
  for (const table of tables) {
    for (const id of dictionary.ids()) {
      for await (const rows of database.rows(
        () => `SELECT * FROM ${quoted(table.measure)} WHERE series = ${id} ORDER BY time`,
      ))
        yield rows.map((row) => pointOf(row, table, dictionary))
    }
  }
}

const readerOf = ({ database, dictionary, tables }: Parts): SeriesReader => {
  /**
   * Returns the FROM and WHERE clauses for the points of a measure, a filter and a time range. Undefined if no point can match. To be called after
   * the dictionary is loaded.
   */
  const clausesOf = ({ measure, where, from, to }: Stretch): string | undefined => {
    const ids = dictionary.idsWith(where)
    return ids.length === 0 || to <= from
      ? undefined
      : `FROM ${quoted(measure)} WHERE series IN (${ids.join(', ')}) AND time >= ${from} AND time < ${to}`
  }
  const points: SeriesReader['points'] = async function* (stretch, { newest = false, limit } = {}) {
    const table = tables.find(({ measure }) => measure === stretch.measure)
    if (table === undefined) return
    const order = newest ? 'DESC' : 'ASC'
    const rest = `ORDER BY time ${order}, series ${order}${limit === undefined ? '' : ` LIMIT ${limit}`}`
    for await (const rows of database.rows(() => joined('SELECT *', clausesOf(stretch), rest)))
      yield rows.map((row) => pointOf(row, table, dictionary))
  }
  const bins: SeriesReader['bins'] = async (stretch, { ms, by, of }) => {
    const columns = of.map(quoted).map((value) => `count(${value}), sum(round(${value} * ${PARTS})), min(${value})`)
    const select = `SELECT (time // ${ms}) * ${ms} AS bin, ${by === undefined ? 0 : 'series'} AS part, ${columns.join(', ')}`
    const found: Bin[] = []
    for await (const rows of database.rows(() =>
      joined(select, clausesOf(stretch), 'GROUP BY bin, part ORDER BY bin'),
    )) {
      for (const [at, id, ...values] of rows)
        found.push({
          at: Number(at),
          ...(by === undefined ? {} : { by: dictionary.dimsOf(Number(id))[by] ?? '' }),
          values: aggregates(of, values),
        })
    }
    return by === undefined ? found : united(found)
  }
  return { points, bins }
}

const joined = (select: string, from: string | undefined, rest: string): string | undefined =>
  from === undefined ? undefined : `${select} ${from} ${rest}`

/** Returns the aggregates of the values named in `of`. Each value has three columns: count, sum and minimum. Values with count 0 are omitted. */
const aggregates = (of: readonly string[], columns: readonly DuckDBValue[]): Bin['values'] => {
  const found: { [value: string]: Aggregate } = {}
  for (const [index, name] of of.entries()) {
    const [count, sum, min] = columns.slice(index * 3, index * 3 + 3).map(Number) as [number, number, number]
    if (count > 0) found[name] = { count, sum, min }
  }
  return found
}
