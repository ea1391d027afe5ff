import { dayNumberOf } from '../../projections/instant.ts'
import { EARLIEST, FIRST_YEAR, isCalendarDate, LAST_YEAR, LATEST, rfc3339 } from '../../schemas/rfc3339.ts'
import { mistake } from './problem.ts'

/** Epoch milliseconds of an RFC 3339 instant with its offset. Dates that no calendar has are refused, not rolled over. */
export const instantOf = (text: string, pointer: string): number => {
  const ms = rfc3339(text)
  if (ms === undefined) {
    throw mistake(400, { pointer, code: 'bad-instant', detail: `${pointer} must be an instant of RFC 3339 with its offset and at most milliseconds, such as 2026-11-16T08:30:00+01:00.` })
  }
  if (ms < EARLIEST || ms > LATEST) throw mistake(400, { pointer, code: 'out-of-range', detail: `${pointer} must lie in the years ${FIRST_YEAR} to ${LAST_YEAR}.` })
  return ms
}

/** A calendar date: a label, never an instant. Imported days may lie far from ours, and are asked for all the same. */
export const dateIn = (text: string, pointer: string): string => {
  if (dayNumberOf(text) !== undefined) return text
  if (isCalendarDate(text)) throw mistake(400, { pointer, code: 'out-of-range', detail: `${pointer} must lie in the years 1 to 9998.` })
  throw mistake(400, { pointer, code: 'bad-date', detail: `${pointer} must be a date of the calendar, such as 2026-11-16.` })
}
