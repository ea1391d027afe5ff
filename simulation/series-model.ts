import { sameValue } from '../projections/item.ts'
import { binsOf } from '../projections/bins.ts'
import { type Series, type Versioned } from '../processors/engine/ports/series.ts'
import { Fault } from '../schemas/fault.ts'
import type { FaultKind } from './faults.ts'
import type { Process } from './process.ts'
import type { Scheduler } from './scheduler.ts'
import { type Point, type SeriesReader, type SeriesSpec, type Stretch, seriesName } from '../projections/series.ts'

/** A table of points. It outlives every process. */
export interface SeriesTable {
  readonly spec: SeriesSpec
  readonly points: Map<string, Versioned>
  /** Points that were written again with the same version and other values. The store cannot decide which values are the newest. */
  readonly disputed: Versioned[]
  /** If true, a write is one step, as in DuckDB. Otherwise each point is a step, as in Timestream. */
  readonly embedded: boolean
  downUntil: number
}

export interface SeriesTables {
  of(spec: SeriesSpec, generation: number): SeriesTable
  drop(spec: SeriesSpec, generation: number): void
}

export const createSeriesTables = (embedded: boolean): SeriesTables => {
  const tables = new Map<string, SeriesTable>()
  const nameOf = ({ name }: SeriesSpec, generation: number) => `${name}.g${generation}`
  return {
    of: (spec, generation) => {
      const table = tables.get(nameOf(spec, generation)) ?? {
        spec,
        embedded,
        points: new Map(),
        disputed: [],
        downUntil: 0,
      }
      tables.set(nameOf(spec, generation), table)
      return table
    },
    drop: (spec, generation) => void tables.delete(nameOf(spec, generation)),
  }
}

/** The identity of a point. The table contains one point per name. */
export const pointName = ({ measure, dims, at }: Point): string =>
  `${measure} ${Object.keys(dims)
    .sort()
    .map((dim) => `${dim}=${dims[dim] ?? ''}`)
    .join(' ')} ${at}`

const DOWN_MS = 10_000

const unavailable = () =>
  new Fault('series-unavailable', 'The simulated series store did not answer. Try again.', { retriable: true })

const upsertPoint = ({ points, disputed }: SeriesTable, point: Versioned): void => {
  const known = points.get(pointName(point))
  if (known === undefined || known.version < point.version) points.set(pointName(point), point)
  else if (known.version === point.version && !sameValue(known.values, point.values)) disputed.push(point)
}

/** Writes to a table of points immediately, without a scheduler, for a build by a checker. */
export const plainSeries = (table: SeriesTable): Pick<Series, 'write'> => ({
  write: async (points) => {
    for (const point of points) upsertPoint(table, point)
    return []
  },
})

/** The series port, for one process. */
export const seriesFor = (scheduler: Scheduler, process: Process, table: SeriesTable): Series => {
  function* steps(points: readonly Versioned[], fault: FaultKind | undefined): Generator<undefined, readonly never[]> {
    if (fault === 'outage') table.downUntil = scheduler.now() + DOWN_MS
    for (const point of points) {
      if (scheduler.now() < table.downUntil) throw unavailable()
      upsertPoint(table, point)
      if (!table.embedded) yield
    }
    return []
  }
  const listed = (): readonly Point[] =>
    [...table.points.values()]
      .map(({ measure, dims, at, values }) => ({ measure, dims, at, values }))
      .sort(byName(table.spec))
  return {
    write: (points) =>
      scheduler.call(process, {
        port: 'series.write',
        steps: (fault) => steps(points, fault),
        refused: unavailable,
        unknown: unavailable,
        own: ['outage'],
      }),
    list: async function* () {
      yield listed()
    },
    reader: readerOf(listed),
    close: async () => undefined,
  }
}

const byName =
  ({ dims }: SeriesSpec) =>
  (a: Point, b: Point): number => {
    const [left, right] = [a, b].map((point) => `${point.measure}\u0000${seriesName(point, dims)}`) as [string, string]
    return left === right ? a.at - b.at : left < right ? -1 : 1
  }

const readerOf = (listed: () => readonly Point[]): SeriesReader => {
  const within = ({ measure, where, from, to }: Stretch) =>
    listed()
      .filter(
        (point) =>
          point.measure === measure &&
          from <= point.at &&
          point.at < to &&
          Object.entries(where).every(([dim, value]) => point.dims[dim] === value),
      )
      .sort((a, b) => a.at - b.at)
  return {
    points: async function* (stretch, { newest = false, limit = Infinity } = {}) {
      const found = within(stretch)
      yield (newest ? found.reverse() : found).slice(0, limit)
    },
    bins: async (stretch, binning) => binsOf(within(stretch), binning),
  }
}
