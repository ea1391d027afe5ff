import { dateOf, msOf } from '../instant.ts'
import type { LedgerEntry, MilestoneItem, PresentWorkout } from './items.ts'
import type { SportOf } from './sports.ts'

/** The maximum number of parts of a model. With the model itself, they fit into one event. */
export const MAX_PARTS = 90
export const MAX_ACTIVE = 20
export const MAX_MILESTONES = 200
/** In metres. Sums of so long targets are exact. */
export const MAX_TARGET = 1_000_000_000
/** The maximum distance and elevation of an activity, in decimetres. Longer ones count as this. With it, all sums are exact. */
export const MAX_DM = 100_000_000

export type Target = Pick<MilestoneItem, 'totalTarget' | 'partsTotal'>

/** The whole metres at which each part is earned. The last threshold is the target. */
export const thresholdsOf = ({ totalTarget, partsTotal }: Target): readonly number[] =>
  Array.from({ length: partsTotal }, (_, index) =>
    Math.floor(((index + 1) * totalTarget + partsTotal - 1) / partsTotal),
  )

/** The number of thresholds that a progress in decimetres passes. */
export const partsEarnedAt = (progressDm: number, target: Target): number =>
  thresholdsOf(target).filter((threshold) => progressDm >= threshold * 10).length

/** The percentage with two decimals, rounded down, so that only a complete milestone has 100. */
export const percentOf = (progressDm: number, { totalTarget }: Target): number =>
  Math.min(100, Math.floor((progressDm * 1000) / totalTarget) / 100)

/** Decimetres of a stored number of metres with one decimal. */
export const dmOf = (metres: number): number => Math.round(metres * 10)
/** Metres with one decimal. */
export const metresOf = (dm: number): number => dm / 10

type Counting = Pick<MilestoneItem, 'sport' | 'targetType' | 'periodStartAtUtc'>

/** Returns a function that gives the decimetres that an activity contributes to a milestone. An activity that does not count contributes 0. */
export const contributionsTo = (
  { sport, targetType, periodStartAtUtc }: Counting,
  sportOf: SportOf,
): ((entry: LedgerEntry) => number) => {
  const periodStart = msOf(periodStartAtUtc)
  const hasBegun = ([, startS, localDay, utcOffsetS, hidden]: LedgerEntry): boolean =>
    hidden ? localDay >= dateOf(Math.floor((periodStart + utcOffsetS * 1000) / DAY_MS)) : startS * 1000 >= periodStart
  const amountAt = targetType === 'DISTANCE_METERS' ? 6 : 7
  return (entry) => (sportOf(entry[5]) === sport && hasBegun(entry) ? entry[amountAt] : 0)
}

const DAY_MS = 86_400_000

export const entryOf = (workout: PresentWorkout): LedgerEntry => [
  workout.activityId,
  Math.floor(msOf(workout.startDateUtc) / 1000),
  workout.startDateLocal.slice(0, 10),
  workout.utcOffsetS,
  workout.hidden,
  workout.sportType,
  dmOf(workout.distanceMeters),
  dmOf(workout.totalElevationGain),
]
