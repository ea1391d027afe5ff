import type { Point, SeriesReader, SeriesSpec } from '../../../projections/series.ts'

/** A point and its version: the offset of the point's event plus one. Of several versions of a point, the store keeps the highest one. */
export interface Versioned extends Point {
  readonly version: number
}

/** A point that the store can never store. */
export interface Rejected {
  readonly point: Versioned
  readonly reason: string
}

/** The series store port: the points of one generation. The store connects on the first call, so a store that is down delays only its callers. */
export interface Series {
  /**
   * Writes points, in any order and repeatedly. Resolves when the points are durable, to those that the store rejected. Fault
   * `series-unavailable` (retriable).
   */
  write(points: readonly Versioned[]): Promise<readonly Rejected[]>
  /** All points, sorted by measure, dimensions (in the order of the spec) and instant. */
  list(): AsyncIterable<readonly Point[]>
  readonly reader: SeriesReader
  /** Writes a consistent copy into an empty folder while reads and writes continue. Absent if the store's disk belongs to another system. */
  copy?(folder: string): Promise<void>
  /** Returns the instant (epoch milliseconds) before which the store removes points. Absent if the store keeps all points. */
  retainedFrom?(): number
  close(): Promise<void>
}

export interface SeriesStores {
  open(spec: SeriesSpec, generation: number): Series
  /** Removes the points of a generation. No effect if there are none. */
  drop(spec: SeriesSpec, generation: number): Promise<void>
  close(): Promise<void>
}
