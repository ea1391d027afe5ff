import { dateOf, dayNumberOf, startOf } from '../instant.ts'

/** A logical day begins this many minutes after midnight by the wall clock. */
export interface DayRule {
  readonly startMinutes: number
}

/** Every version of the day rule. If you add a version, raise the fold version, because the folds then compute days that no user chose again. */
export const DAY_RULES = { 1: { startMinutes: 4 * 60 } } as const satisfies { readonly [version: number]: DayRule }
export const DAY_RULE_VERSION = 1
const DAY_RULE: DayRule = DAY_RULES[DAY_RULE_VERSION]

/** The offsets of wall clocks from UTC, in minutes: from 12 hours behind to 14 hours ahead. */
const MIN_OFFSET = -12 * 60
const MAX_OFFSET = 14 * 60
export const isOffset = (minutes: number): boolean =>
  Number.isInteger(minutes) && minutes >= MIN_OFFSET && minutes <= MAX_OFFSET

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

export const isDay = (day: string): boolean => dayNumberOf(day) !== undefined

/**
 * The logical day of an instant. The rule subtracts its hours from the wall clock and not from the instant, so it
 * also works on days when the clocks change.
 */
export const dayOf = (eatenAt: number, utcOffsetMinutes: number, rule: DayRule = DAY_RULE): string =>
  dateOf(Math.floor((eatenAt + (utcOffsetMinutes - rule.startMinutes) * MINUTE_MS) / DAY_MS))

/**
 * All instants that are on this logical day by the wall clock of at least one zone: from `from` (inclusive) to `to`
 * (exclusive), in epoch milliseconds.
 */
export const windowOf = (day: string, rule: DayRule = DAY_RULE): { readonly from: number; readonly to: number } => {
  const midnight = startOf(dayNumberOf(day) ?? 0)
  return {
    from: midnight + (rule.startMinutes - MAX_OFFSET) * MINUTE_MS,
    to: midnight + DAY_MS + (rule.startMinutes - MIN_OFFSET) * MINUTE_MS,
  }
}

/**
 * True if the instant of a meal does not imply this day. Then only a day pointer leads from the day to the meal. Without
 * a stored zone, an instant implies every day whose window contains it.
 */
export const isElsewhere = (day: string, eatenAt: number, utcOffsetMinutes: number | undefined): boolean => {
  if (utcOffsetMinutes !== undefined) return dayOf(eatenAt, utcOffsetMinutes) !== day
  const { from, to } = windowOf(day)
  return eatenAt < from || eatenAt >= to
}
