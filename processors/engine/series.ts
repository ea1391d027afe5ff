import type { Point, SeriesReader, SeriesSpec } from '../../projections/series.ts'
import { Fault } from '../../schemas/fault.ts'

/** The offset of the event that made it, and one: written again it is the same, and what came later wins. */
export interface Versioned extends Point {
  readonly version: number
}

/** A point that the store will never take. */
export interface Rejected {
  readonly point: Versioned
  readonly reason: string
}

/** The series store port: one generation of one domain's points. Nothing is opened before it is first needed: a store that is down holds up only who asks it. */
export interface Series {
  /**
   * Durable when it resolves, to those that the store will not have. In any order, any number of times: of two points with the same measure,
   * dimensions and instant the one of the higher version stays. Fault: `series-unavailable` (retriable; calling again is safe).
   */
  write(points: readonly Versioned[]): Promise<readonly Rejected[]>
  /** Every point, by measure, dimensions (as the spec orders them) and instant. */
  list(): AsyncIterable<readonly Point[]>
  readonly reader: SeriesReader
  /** Writes a consistent copy into an empty folder while reads and writes go on, where the store's disk is ours. */
  copy?(folder: string): Promise<void>
  /** The oldest instant of which the store still keeps points; absent where it keeps them for ever. */
  keepsFrom?(): number
  close(): Promise<void>
}

export interface SeriesStores {
  open(spec: SeriesSpec, generation: number): Series
  /** Without effect where it is gone already. */
  drop(spec: SeriesSpec, generation: number): Promise<void>
  close(): Promise<void>
}

/** The series, telling of what it will never take: the events go on without. */
export const telling = (series: Series, failed: (error: unknown) => void): Pick<Series, 'write'> => ({
  write: async (points) => {
    const rejected = await series.write(points)
    for (const { point, reason } of rejected) failed(refusedPoint(point, reason))
    return rejected
  },
})

const refusedPoint = ({ measure, dims, at }: Point, reason: string): Fault =>
  new Fault('series-rejected', `The series store will not take the ${measure} of ${Object.values(dims).join(', ')} at ${new Date(at).toISOString()}: ${reason}. It is in the log; widen the table's retention and rebuild the series to have it.`)

/** Of points with the same identity, the one of the highest version: what a batch comes to. */
export const newestOf = (points: readonly Versioned[], dims: readonly string[]): readonly Versioned[] => {
  const newest = new Map<string, Versioned>()
  for (const point of points) {
    const id = `${point.measure}\u0000${point.at}\u0000${seriesName(point, dims)}`
    if ((newest.get(id)?.version ?? -1) < point.version) newest.set(id, point)
  }
  return [...newest.values()]
}

/** One string a series; \0 occurs in no dimension. */
export const seriesName = ({ dims }: Pick<Point, 'dims'>, names: readonly string[]): string => names.map((name) => dims[name] ?? '').join('\u0000')

/** Points on their way to a store, many at a time. */
export interface Gathering {
  add(point: Versioned): void
  isFull(): boolean
  flush(): Promise<void>
  /** How many the store will not take. */
  rejected(): number
}

const FULL = 5_000

export const gathering = (series: Pick<Series, 'write'> | undefined): Gathering => {
  let kept: Versioned[] = []
  let rejected = 0
  const flush = async () => {
    const points = kept
    kept = []
    if (points.length > 0 && series !== undefined) rejected += (await series.write(points)).length
  }
  return { add: (point) => void kept.push(point), isFull: () => kept.length >= FULL, flush, rejected: () => rejected }
}
