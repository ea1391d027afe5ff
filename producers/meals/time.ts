import { decideDay, type DayDecision, type DayRefusal } from '../../projections/meals/zone.ts'
import { zoneName } from '../../projections/zone.ts'
import { dayNumberOf } from '../../projections/instant.ts'
import { mistake } from '../http/problem.ts'

const INSTANT = /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/
const DATE = /^(\d{4})(-\d{2}-\d{2})$/
// Before 1900 some places had wall clocks more than a day's worth of zones apart.
const [FIRST_YEAR, LAST_YEAR] = [1900, 2199]
const [EARLIEST, LATEST] = [Date.UTC(FIRST_YEAR, 0, 1), Date.UTC(LAST_YEAR + 1, 0, 1) - 1]

/** Epoch milliseconds of an RFC 3339 instant with its offset. Dates that no calendar has are refused, not rolled over. */
export const instantOf = (text: string, pointer: string): number => {
  const date = INSTANT.exec(text)?.[1]
  const ms = date !== undefined && isOfCalendar(date) ? Date.parse(text.toUpperCase()) : Number.NaN
  if (Number.isNaN(ms)) {
    throw mistake(400, { pointer, code: 'bad-instant', detail: `${pointer} must be an instant of RFC 3339 with its offset and at most milliseconds, such as 2026-11-16T08:30:00+01:00.` })
  }
  if (ms < EARLIEST || ms > LATEST) throw mistake(400, { pointer, code: 'out-of-range', detail: `${pointer} must lie in the years ${FIRST_YEAR} to ${LAST_YEAR}.` })
  return ms
}

/** Of any year that four digits write. The calendar repeats every 400 years, so a year that is not taken is judged by one that is. */
const isOfCalendar = (date: string): boolean => {
  const [, year, rest] = DATE.exec(date) ?? []
  return year !== undefined && rest !== undefined && dayNumberOf(`${2000 + (Number(year) % 400)}${rest}`) !== undefined
}

/** A calendar date: a label, never an instant. Imported days may lie far from ours, and are asked for all the same. */
export const dateIn = (text: string, pointer: string): string => {
  if (dayNumberOf(text) !== undefined) return text
  if (isOfCalendar(text)) throw mistake(400, { pointer, code: 'out-of-range', detail: `${pointer} must lie in the years 1 to 9998.` })
  throw mistake(400, { pointer, code: 'bad-date', detail: `${pointer} must be a date of the calendar, such as 2026-11-16.` })
}

/** Where a meal lies in time: what the events say about it. */
export interface Placed extends DayDecision {
  readonly eatenAt: number
  readonly tz: string
}

/** The 4 AM rule by the wall clock (M28, M-c); the caller's own day wins within one day of it (M-b). */
export const place = (meal: { eatenAt: number; tz: string; userDate?: string | undefined }): Placed => {
  const decision = decideDay(meal)
  if ('refused' in decision) {
    const far = decision.refused === 'user-date-invalid' && meal.userDate !== undefined && isOfCalendar(meal.userDate)
    throw mistake(400, WRONG[far ? 'user-date-out-of-range' : decision.refused])
  }
  const { eatenAt, tz } = meal
  return { eatenAt, tz: zoneName(tz), ...decision }
}

const WRONG: Readonly<Record<DayRefusal, { pointer: string; code: string; detail: string }>> = {
  'tz-unknown': { pointer: '/tz', code: 'bad-zone', detail: '/tz must be a time zone of the IANA database, such as Europe/Berlin.' },
  'user-date-invalid': { pointer: '/userDate', code: 'bad-date', detail: '/userDate must be a date of the calendar, such as 2026-11-16.' },
  'user-date-out-of-range': {
    pointer: '/userDate',
    code: 'user-date-out-of-range',
    detail: '/userDate can differ by one day at most from the day on which the meal was eaten (days begin at 04:00).',
  },
}
