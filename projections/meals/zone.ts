import { DAY_RULE_VERSION, dayOf, isDay, isOffset } from './day.ts'
import { dayNumberOf } from '../instant.ts'
import { utcOffsetOf } from '../zone.ts'

/**
 * The decision of the edge about a meal's day. The event contains it, because the tables of time zones change and
 * folds do not use them.
 */
export interface DayDecision {
  readonly utcOffsetMinutes: number
  readonly userDate: string
  readonly dayOverridden: boolean
  readonly dayRuleVersion: number
}

export type DayRefusal = 'tz-unknown' | 'user-date-invalid' | 'user-date-out-of-range'

/** Decides the logical day of a meal. A day that the user chose applies if it is at most one day before or after the day of the rule. */
export const decideDay = (meal: {
  eatenAt: number
  tz: string
  userDate?: string | undefined
}): DayDecision | { readonly refused: DayRefusal } => {
  const { eatenAt, tz, userDate } = meal
  const utcOffsetMinutes = utcOffsetOf(eatenAt, tz)
  if (utcOffsetMinutes === undefined || !isOffset(utcOffsetMinutes)) return { refused: 'tz-unknown' }
  const implied = dayOf(eatenAt, utcOffsetMinutes)
  const day = userDate ?? implied
  if (!isDay(day)) return { refused: 'user-date-invalid' }
  if (Math.abs((dayNumberOf(day) ?? 0) - (dayNumberOf(implied) ?? 0)) > 1) return { refused: 'user-date-out-of-range' }
  return { utcOffsetMinutes, userDate: day, dayOverridden: day !== implied, dayRuleVersion: DAY_RULE_VERSION }
}
