const INSTANT =
  /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/
const DATE = /^\d{4}-\d{2}-\d{2}$/

/**
 * The years that a request and an appended event can name. Earlier years are not allowed: before 1900 the local times of some places differed by more
 * than a day.
 */
export const [FIRST_YEAR, LAST_YEAR] = [1900, 2199]
export const EARLIEST = Date.UTC(FIRST_YEAR, 0, 1)
export const LATEST = Date.UTC(LAST_YEAR + 1, 0, 1) - 1

/** The epoch milliseconds of an RFC 3339 instant with an offset and at most three decimals. Undefined for other text and for impossible dates. */
export const rfc3339 = (text: string): number | undefined => {
  const date = INSTANT.exec(text)?.[1]
  return date !== undefined && isCalendarDate(date) ? Date.parse(text.toUpperCase()) : undefined
}

/** True for YYYY-MM-DD of the calendar, in any year of four digits. `Date.parse` turns 30 February into 2 March. */
export const isCalendarDate = (date: string): boolean => {
  const ms = DATE.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date)
}
