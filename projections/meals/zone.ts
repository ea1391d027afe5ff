import { DAY_RULE_VERSION, dayOf, isDay, isOffset } from './day.ts'
import { dayNumberOf } from '../instant.ts'
import { utcOffsetOf } from '../zone.ts'

/** For the edge: zone tables change from year to year, so what they say is put into the event and folds never ask again. */
export interface DayDecision {
  readonly utcOffsetMinutes: number
  readonly userDate: string
  readonly dayOverridden: boolean
  readonly dayRuleVersion: number
}

export type DayRefusal = 'tz-unknown' | 'user-date-invalid' | 'user-date-out-of-range'

/** The day a meal belongs to: as its user says, if that is at most a day from what the rule gives. */
export const decideDay = (meal: { eatenAt: number; tz: string; userDate?: string | undefined }): DayDecision | { readonly refused: DayRefusal } => {
  const { eatenAt, tz, userDate } = meal
  const utcOffsetMinutes = utcOffsetOf(eatenAt, tz)
  if (utcOffsetMinutes === undefined || !isOffset(utcOffsetMinutes)) return { refused: 'tz-unknown' }
  const implied = dayOf(eatenAt, utcOffsetMinutes)
  const day = userDate ?? implied
  if (!isDay(day)) return { refused: 'user-date-invalid' }
  if (Math.abs((dayNumberOf(day) ?? 0) - (dayNumberOf(implied) ?? 0)) > 1) return { refused: 'user-date-out-of-range' }
  return { utcOffsetMinutes, userDate: day, dayOverridden: day !== implied, dayRuleVersion: DAY_RULE_VERSION }
}
