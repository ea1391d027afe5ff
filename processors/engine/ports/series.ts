import type { Point, SeriesReader, SeriesSpec } from '../../../projections/series.ts'

/** `version` is the offset of the point's event plus one. Writing a point again changes nothing, and a later point replaces an earlier one. */
export interface Versioned extends Point {
  readonly version: number
}

/** A point that the store can never store. */
export interface Rejected {
  readonly point: Versioned
  readonly reason: string
}

/** The series store port: the points of one generation of one domain. The store connects on the first call, so a store that is down delays only its callers. */
export interface Series {
  /**
   * Resolves when the points are durable, to the rejected ones. Accepts points in any order and any number of times. Of two points with
   * the same measure, dimensions and instant it keeps the one of the higher version. Fault: `series-unavailable` (retriable; calling again is safe).
   */
  write(points: readonly Versioned[]): Promise<readonly Rejected[]>
  /** All points, sorted by measure, dimensions (in the order of the spec) and instant. */
  list(): AsyncIterable<readonly Point[]>
  readonly reader: SeriesReader
  /** Writes a consistent copy into an empty folder while reads and writes continue. Absent if the store's disk belongs to another system. */
  copy?(folder: string): Promise<void>
  /** The instant before which the store removes points. Absent if it keeps all points. */
  retainedFrom?(): number
  close(): Promise<void>
}

export interface SeriesStores {
  open(spec: SeriesSpec, generation: number): Series
  /** No effect if the generation's points do not exist. */
  drop(spec: SeriesSpec, generation: number): Promise<void>
  close(): Promise<void>
}
