import type { TimestreamQueryClient } from '@aws-sdk/client-timestream-query'
import {
  PARTS,
  type Aggregate,
  type Bin,
  type Point,
  type PointValue,
  type SeriesReader,
  type SeriesSpec,
  type Stretch,
} from '../../../projections/series.ts'
import { queryRows, instant, msOf, quoted, text, type Cells } from './queries.ts'

export interface ReaderParts {
  readonly spec: SeriesSpec
  readonly table: string
  readonly client: () => Promise<TimestreamQueryClient>
}

/** Each query filters by measure and dimensions first, then by time (S64). Timestream computes the bins, not this program (S65). */
export const readerOf = ({ spec, table, client }: ReaderParts): SeriesReader => {
  const from = `FROM ${quoted(spec.database)}.${quoted(table)}`
  const within = ({ measure, where, from: since, to }: Stretch): string =>
    [
      `measure_name = ${text(measure)}`,
      ...Object.entries(where).map(([dim, value]) => `${quoted(dim)} = ${text(value)}`),
      `time >= ${instant(since)}`,
      `time < ${instant(to)}`,
    ].join(' AND ')
  const isPossible = ({ where, from: since, to }: Stretch, absent: ReadonlySet<string>): boolean =>
    since < to && !Object.keys(where).some((dim) => absent.has(dim))

  const points: SeriesReader['points'] = async function* (stretch, { newest = false, limit } = {}) {
    const columns = columnsOf(spec, stretch.measure)
    const order = newest ? 'DESC' : 'ASC'
    const sql = (absent: ReadonlySet<string>) =>
      isPossible(stretch, absent)
        ? `SELECT ${selected(columns, absent)} ${from} WHERE ${within(stretch)} ORDER BY time ${order}${limit === undefined ? '' : ` LIMIT ${limit}`}`
        : undefined
    for await (const rows of queryRows(await client(), sql))
      yield rows.map((row) => pointOf(spec, stretch.measure, row))
  }
  const bins: SeriesReader['bins'] = async (stretch, { ms, by, of }) => {
    const bin = `bin(time, ${ms / 1000}s)`
    const dimension = by === undefined ? '' : `, ${quoted(by)}`
    const columnsFor = (value: string, absent: ReadonlySet<string>): string =>
      absent.has(value)
        ? '0, 0.0, 0.0'
        : `count(${quoted(value)}), sum(round(${quoted(value)} * ${PARTS})), min(${quoted(value)})`
    const sql = (absent: ReadonlySet<string>) =>
      isPossible(stretch, absent) && !(by !== undefined && absent.has(by))
        ? `SELECT ${bin} AS t${dimension}, ${of.map((value) => columnsFor(value, absent)).join(', ')} ${from} WHERE ${within(stretch)} GROUP BY ${bin}${dimension} ORDER BY t ASC${by === undefined ? '' : `, ${quoted(by)} ASC`}`
        : undefined
    const found: Bin[] = []
    for await (const rows of queryRows(await client(), sql))
      for (const row of rows) found.push(binOf(row, of, by !== undefined))
    return found
  }
  return { points, bins }
}

const columnsOf = ({ dims, measures }: SeriesSpec, measure: string): readonly string[] => [
  ...dims,
  ...Object.keys(measures[measure] ?? {}),
]

/** The selected columns. A column that does not exist yet is null in every row. */
const selected = (columns: readonly string[], absent: ReadonlySet<string>): string =>
  ['time', ...columns.map((column) => (absent.has(column) ? `NULL AS ${quoted(column)}` : quoted(column)))].join(', ')

const pointOf = ({ dims, measures }: SeriesSpec, measure: string, [time, ...cells]: Cells): Point => ({
  measure,
  dims: Object.fromEntries(dims.map((dim, index) => [dim, cells[index] ?? ''])),
  at: msOf(time ?? ''),
  values: Object.fromEntries(
    Object.entries(measures[measure] ?? {}).map(([name, type], index): [string, PointValue] => {
      const cell = cells[dims.length + index] ?? null
      return [name, cell !== null && type === 'number' ? Number(cell) : cell]
    }),
  ),
})

const binOf = ([t, ...cells]: Cells, of: readonly string[], hasDimension: boolean): Bin => {
  const numbers = (hasDimension ? cells.slice(1) : cells).map(Number)
  const values: { [value: string]: Aggregate } = {}
  for (const [index, name] of of.entries()) {
    const [count, sum, min] = numbers.slice(index * 3, index * 3 + 3) as [number, number, number]
    if (count > 0) values[name] = { count, sum, min }
  }
  return { at: msOf(t ?? ''), ...(hasDimension && { by: cells[0] ?? '' }), values }
}

/** All points, sorted by measure, dimensions and instant. */
export async function* listPoints({ spec, table, client }: ReaderParts): AsyncGenerator<readonly Point[]> {
  for (const measure of Object.keys(spec.measures).sort()) {
    const columns = columnsOf(spec, measure)
    const sql = (absent: ReadonlySet<string>) =>
      spec.dims.some((dim) => absent.has(dim))
        ? undefined
        : `SELECT ${selected(columns, absent)} FROM ${quoted(spec.database)}.${quoted(table)} WHERE measure_name = ${text(measure)} ORDER BY ${spec.dims.map(quoted).join(', ')}, time`
    for await (const rows of queryRows(await client(), sql)) yield rows.map((row) => pointOf(spec, measure, row))
  }
}
