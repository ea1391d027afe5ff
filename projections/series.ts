import type { Key } from './item.ts'
import type { Reader } from './table.ts'

export type PointValue = number | string | null

/** What was measured at an instant. Of a measure, a store keeps one point for the same dimensions and instant: that of the highest version. */
export interface Point {
  readonly measure: string
  readonly dims: { readonly [dim: string]: string }
  /** Epoch milliseconds. */
  readonly at: number
  readonly values: { readonly [value: string]: PointValue }
}

export type ValueType = 'number' | 'text'

export interface SeriesSpec {
  readonly database: string
  /** The first generation's table; generation N > 1 is `<name>.gN`. */
  readonly name: string
  readonly dims: readonly string[]
  /** By measure: what its points may hold. */
  readonly measures: { readonly [measure: string]: { readonly [value: string]: ValueType } }
  /** Where a store of items keeps points, and for how long. */
  readonly rows: {
    key(point: Point): Key
    readonly ttlSeconds: number
  }
}

/** Points of one measure in a time: `from` is inside, `to` is not. */
export interface Stretch {
  readonly measure: string
  /** Dimensions that they have. */
  readonly where: { readonly [dim: string]: string }
  readonly from: number
  readonly to: number
  /** The partitions in which a store of items has them; others need it not. */
  readonly partitions: readonly string[]
}

export interface Binning {
  readonly ms: number
  /** Apart by this dimension. */
  readonly by?: string
  /** The numbers that are wanted. */
  readonly of: readonly string[]
}

/** Of those points that hold the number at all. */
export interface Aggregate {
  readonly count: number
  /** Sum of the numbers in whole parts (`PARTS`). A sum of integers is the same in every order of the points and in every store. */
  readonly sum: number
  readonly min: number
}

/** Parts of a number in a sum: millionths. */
export const PARTS = 1_000_000

export interface Bin {
  /** Where it begins: a multiple of its length. */
  readonly at: number
  readonly by?: string
  /** A number that no point of the bin holds is absent. */
  readonly values: { readonly [value: string]: Aggregate }
}

/** How questions are asked of a series. What they build on is small, so that every store answers alike. */
export interface SeriesReader {
  /** In the order of time, in pages. */
  points(stretch: Stretch, only?: { readonly newest?: boolean; readonly limit?: number }): AsyncIterable<readonly Point[]>
  /** In the order of time, and then of the dimension that they are apart by. Bins without points are left out. */
  bins(stretch: Stretch, binning: Binning): Promise<readonly Bin[]>
}

/** One generation of a series: what its fold remembers, and its points. */
export interface SeriesAsked {
  readonly reader: Reader
  readonly points: SeriesReader
}
