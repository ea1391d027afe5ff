import type { Point, SeriesReader, SeriesSpec } from '../../projections/series.ts'

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
  list(): AsyncIterable<readonly Versioned[]>
  readonly reader: SeriesReader
  close(): Promise<void>
}

export interface SeriesStores {
  open(spec: SeriesSpec, generation: number): Series
  /** Without effect where it is gone already. */
  drop(spec: SeriesSpec, generation: number): Promise<void>
  close(): Promise<void>
}

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
