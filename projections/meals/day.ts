import { dateOf, dayNumberOf, startOf } from '../instant.ts'

/** A logical day begins this many minutes after midnight by the wall clock. */
export interface DayRule {
  readonly startMinutes: number
}

/** Every rule there ever was, by version. Adding one raises the fold version: days that no user chose are derived anew. */
export const DAY_RULES = { 1: { startMinutes: 4 * 60 } } as const satisfies { readonly [version: number]: DayRule }
export const DAY_RULE_VERSION = 1
const DAY_RULE: DayRule = DAY_RULES[DAY_RULE_VERSION]

/** Wall clocks run from 12 hours behind UTC to 14 ahead. */
const MIN_OFFSET = -12 * 60
const MAX_OFFSET = 14 * 60
export const isOffset = (minutes: number): boolean => Number.isInteger(minutes) && minutes >= MIN_OFFSET && minutes <= MAX_OFFSET

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

export const isDay = (day: string): boolean => dayNumberOf(day) !== undefined

/** The rule takes its hours off the wall clock, not off the instant, so it holds on days when the clocks change. */
export const dayOf = (eatenAt: number, utcOffsetMinutes: number, rule: DayRule = DAY_RULE): string =>
  dateOf(Math.floor((eatenAt + (utcOffsetMinutes - rule.startMinutes) * MINUTE_MS) / DAY_MS))

/** From `from` (inclusive) to `to` (exclusive): every instant that some zone's wall clock places in this day. */
export const windowOf = (day: string, rule: DayRule = DAY_RULE): { readonly from: number; readonly to: number } => {
  const midnight = startOf(dayNumberOf(day) ?? 0)
  return {
    from: midnight + (rule.startMinutes - MAX_OFFSET) * MINUTE_MS,
    to: midnight + DAY_MS + (rule.startMinutes - MIN_OFFSET) * MINUTE_MS,
  }
}

/**
 * Whether a meal's day is another than its instant implies, so that only a pointer leads from the day to the meal.
 * Where no zone was kept, an instant implies every day whose window holds it.
 */
export const isElsewhere = (day: string, eatenAt: number, utcOffsetMinutes: number | undefined): boolean => {
  if (utcOffsetMinutes !== undefined) return dayOf(eatenAt, utcOffsetMinutes) !== day
  const { from, to } = windowOf(day)
  return eatenAt < from || eatenAt >= to
}
