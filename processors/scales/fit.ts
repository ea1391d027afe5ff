import { isInstant } from '../../projections/instant.ts'

/** True if the epoch milliseconds are a valid instant from 1970 on, for which a timer can be set. */
export const isTime = (ms: number): boolean => ms >= 0 && isInstant(ms)

/** The number, or null if the scale sent no number. */
export const numberOf = (value: number | null): number | null =>
  value !== null && Number.isFinite(value) ? value : null

export interface Weights {
  readonly full_lbs: number
  readonly empty_lbs: number
}

const MAX_LBS = 10_000

/** True if a keg can have these weights: it weighs more full than empty, and neither weight is out of range. */
export const areWeights = ({ full_lbs, empty_lbs }: Weights): boolean =>
  empty_lbs >= 0 && full_lbs > empty_lbs && full_lbs <= MAX_LBS

export const isGravity = (sg: number): boolean => sg >= 0.5 && sg <= 2
