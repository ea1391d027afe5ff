import type { Key } from './item.ts'
import type { Reader } from './table.ts'

/** A value of a point. */
export type PointValue = number | string | null

/**
 * A measurement at an instant. A store keeps one point per measure, dimensions and instant: the one with the highest
 * version.
 */
export interface Point {
  readonly measure: string
  readonly dims: { readonly [dim: string]: string }
  /** Epoch milliseconds. */
  readonly at: number
  readonly values: { readonly [value: string]: PointValue }
}

/** The type of a value of a point. */
export type ValueType = 'number' | 'text'

/** The series of a domain: its tables in the series store, and its points in a store of items. */
export interface SeriesSpec {
  readonly database: string
  /** The name of the first generation's table. The table of a later generation N is `<name>.gN`. */
  readonly name: string
  readonly dims: readonly string[]
  /** The values of the points, by measure. */
  readonly measures: { readonly [measure: string]: { readonly [value: string]: ValueType } }
  /** For a store of items: the key of a point, and the number of seconds for which the store keeps it. */
  readonly rows: { key(point: Point): Key; readonly ttlSeconds: number }
}

/** A query for the points of one measure in a range of time, in epoch milliseconds. `from` is inclusive, `to` is exclusive. */
export interface Stretch {
  readonly measure: string
  /** The dimensions of the points. */
  readonly where: { readonly [dim: string]: string }
  readonly from: number
  readonly to: number
  /** The partitions in which a store of items finds the points. Other stores ignore them. */
  readonly partitions: readonly string[]
}

/** How points are divided into bins. */
export interface Binning {
  readonly ms: number
  /** A separate bin for each value of this dimension. Absent: one bin for all points of the same time. */
  readonly by?: string
  /** The values to aggregate. */
  readonly of: readonly string[]
}

/** The aggregate of one value over the points that contain this value. */
export interface Aggregate {
  readonly count: number
  /** The sum of the numbers in millionths (`PARTS`). A sum of integers is the same in every order of the points and in every store. */
  readonly sum: number
  readonly min: number
}

/** The sum of an aggregate counts millionths: PARTS of them are 1. */
export const PARTS = 1_000_000

/** The aggregated points of one period. */
export interface Bin {
  /** Start of the bin: a multiple of its length. */
  readonly at: number
  readonly by?: string
  /** A value that no point of the bin has is absent. */
  readonly values: { readonly [value: string]: Aggregate }
}

/** Reads a series. It has few operations, so that every store returns the same results. */
export interface SeriesReader {
  /** The points in the order of time, in pages. `newest`: the newest point first. */
  points(
    stretch: Stretch,
    only?: { readonly newest?: boolean; readonly limit?: number },
  ): AsyncIterable<readonly Point[]>
  /** The bins in the order of time, then of the dimension. Bins without points are left out. */
  bins(stretch: Stretch, binning: Binning): Promise<readonly Bin[]>
}

/** One generation of a series: the table of its fold, and its points. */
export interface SeriesGeneration {
  readonly reader: Reader
  readonly points: SeriesReader
}

/** The name of the series of a point: its dimensions in the order of `names`. No dimension contains \0. */
export const seriesName = ({ dims }: Pick<Point, 'dims'>, names: readonly string[]): string =>
  names.map((name) => dims[name] ?? '').join('\u0000')
