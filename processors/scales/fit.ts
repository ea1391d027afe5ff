import { isInstant } from '../../projections/instant.ts'

/** True if a timer can be set for the instant. */
export const isTime = (ms: number): boolean => ms >= 0 && isInstant(ms)

/** The number, or null if the scale sent no number. */
export const numberOf = (value: number | null): number | null =>
  value !== null && Number.isFinite(value) ? value : null

export interface Weights {
  readonly full_lbs: number
  readonly empty_lbs: number
}

const MAX_LBS = 10_000

/** True if the weights are those of a keg that has a volume. */
export const areWeights = ({ full_lbs, empty_lbs }: Weights): boolean =>
  empty_lbs >= 0 && full_lbs > empty_lbs && full_lbs <= MAX_LBS

export const isGravity = (sg: number): boolean => sg >= 0.5 && sg <= 2
