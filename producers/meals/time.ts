import { decideDay, type DayDecision, type DayRefusal } from '../../projections/meals/zone.ts'
import { zoneName } from '../../projections/zone.ts'
import { isCalendarDate } from '../../schemas/rfc3339.ts'
import { mistake } from '../http/problem.ts'

/** The time fields of a meal's event. */
export interface MealTime extends DayDecision {
  readonly eatenAt: number
  readonly tz: string
}

/**
 * Computes the day of a meal: a day begins at 04:00 by the wall clock of the time zone (M28, M-c). `userDate` replaces this day, but must not
 * differ by more than one day (M-b). Throws a Problem if the date or the time zone is wrong.
 */
export const resolveMealTime = (meal: { eatenAt: number; tz: string; userDate?: string | undefined }): MealTime => {
  const decision = decideDay(meal)
  if ('refused' in decision) {
    const far = decision.refused === 'user-date-invalid' && meal.userDate !== undefined && isCalendarDate(meal.userDate)
    throw mistake(400, WRONG[far ? 'user-date-out-of-range' : decision.refused])
  }
  const { eatenAt, tz } = meal
  return { eatenAt, tz: zoneName(tz), ...decision }
}

const WRONG: Readonly<Record<DayRefusal, { pointer: string; code: string; detail: string }>> = {
  'tz-unknown': {
    pointer: '/tz',
    code: 'bad-zone',
    detail: '/tz must be a time zone of the IANA database, such as Europe/Berlin.',
  },
  'user-date-invalid': {
    pointer: '/userDate',
    code: 'bad-date',
    detail: '/userDate must be a date of the calendar, such as 2026-11-16.',
  },
  'user-date-out-of-range': {
    pointer: '/userDate',
    code: 'user-date-out-of-range',
    detail: '/userDate can differ by one day at most from the day on which the meal was eaten (days begin at 04:00).',
  },
}
