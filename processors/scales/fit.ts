import { isInstant } from '../../projections/instant.ts'

/** An instant of which timers can be set, too. */
export const isTime = (ms: number): boolean => ms >= 0 && isInstant(ms)

/** What a scale said, or null where it said nothing that is a number. */
export const numberOf = (value: number | null): number | null => (value !== null && Number.isFinite(value) ? value : null)

export interface Weights {
  readonly full_lbs: number
  readonly empty_lbs: number
}

const MAX_LBS = 10_000

/** Weights of a keg that holds something. */
export const areWeights = ({ full_lbs, empty_lbs }: Weights): boolean => empty_lbs >= 0 && full_lbs > empty_lbs && full_lbs <= MAX_LBS

export const isGravity = (sg: number): boolean => sg >= 0.5 && sg <= 2
