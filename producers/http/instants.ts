import { dayNumberOf } from '../../projections/instant.ts'
import { mistake } from './problem.ts'

const INSTANT = /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/
const DATE = /^(\d{4})(-\d{2}-\d{2})$/
// Before 1900 some places had wall clocks more than a day's worth of zones apart.
const [FIRST_YEAR, LAST_YEAR] = [1900, 2199]
const EARLIEST = Date.UTC(FIRST_YEAR, 0, 1)
/** The last instant that a request can name. */
export const LATEST = Date.UTC(LAST_YEAR + 1, 0, 1) - 1

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
export const isOfCalendar = (date: string): boolean => {
  const [, year, rest] = DATE.exec(date) ?? []
  return year !== undefined && rest !== undefined && dayNumberOf(`${2000 + (Number(year) % 400)}${rest}`) !== undefined
}

/** A calendar date: a label, never an instant. Imported days may lie far from ours, and are asked for all the same. */
export const dateIn = (text: string, pointer: string): string => {
  if (dayNumberOf(text) !== undefined) return text
  if (isOfCalendar(text)) throw mistake(400, { pointer, code: 'out-of-range', detail: `${pointer} must lie in the years 1 to 9998.` })
  throw mistake(400, { pointer, code: 'bad-date', detail: `${pointer} must be a date of the calendar, such as 2026-11-16.` })
}
