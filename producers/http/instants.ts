import { dayNumberOf } from '../../projections/instant.ts'
import { EARLIEST, FIRST_YEAR, isCalendarDate, LAST_YEAR, LATEST, rfc3339 } from '../../schemas/rfc3339.ts'
import { mistake } from './problem.ts'

/** The epoch milliseconds of an RFC 3339 instant with an offset. Throws for other text, for a date that does not exist, and outside 1900 to 2199. */
export const instantOf = (text: string, pointer: string): number => {
  const ms = rfc3339(text)
  if (ms === undefined) {
    throw mistake(400, {
      pointer,
      code: 'bad-instant',
      detail: `${pointer} must be an RFC 3339 instant with an offset and at most milliseconds, such as 2026-11-16T08:30:00+01:00.`,
    })
  }
  if (ms < EARLIEST || ms > LATEST)
    throw mistake(400, {
      pointer,
      code: 'out-of-range',
      detail: `${pointer} must be in the years ${FIRST_YEAR} to ${LAST_YEAR}.`,
    })
  return ms
}

/** Returns the date if it exists in the years 1 to 9998, and throws otherwise. The range is wider than that of instants, because imports need it. */
export const dateIn = (text: string, pointer: string): string => {
  if (dayNumberOf(text) !== undefined) return text
  if (isCalendarDate(text))
    throw mistake(400, { pointer, code: 'out-of-range', detail: `${pointer} must be in the years 1 to 9998.` })
  throw mistake(400, { pointer, code: 'bad-date', detail: `${pointer} must be an existing date, such as 2026-11-16.` })
}
