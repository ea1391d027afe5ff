import type { ReadingReported, ReadingReportedData } from '../../../schemas/generated/scales.ts'
import { reading } from './events.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS

/** Readings of a half barrel, one per weight, with the level that a scale computes. `every`: milliseconds between readings. Default: one minute. */
export const barReadings = (
  from: number,
  weights: readonly number[],
  { every = MINUTE_MS, ...more }: Partial<ReadingReportedData> & { readonly every?: number } = {},
): readonly ReadingReported[] =>
  weights.map((weight_lbs, index) =>
    reading({ at: from + index * every, weight_lbs, level_pct: ((weight_lbs - 29) / 132.5) * 100, ...more }),
  )
