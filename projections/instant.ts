/**
 * This file formats instants as text of a fixed width: the order of the texts is the order of time. The folds use these
 * functions, because they are several times faster than `Date`.
 */

const DAY_MS = 86_400_000
const two = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'))
const ofMinute = Array.from({ length: 1440 }, (_, n) => `T${two[Math.floor(n / 60)]}:${two[n % 60]}:`)
const ofMilli = Array.from({ length: 1000 }, (_, n) => `.${String(n).padStart(3, '0')}Z`)

/** Instants are valid in the years 1 to 9998. Years 0 and 9999 are not, so that the days before and after a valid instant have four digits too. */
const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z')
const LATEST = Date.parse('9998-12-31T23:59:59.999Z')

export const isInstant = (ms: number): boolean => Number.isInteger(ms) && ms >= EARLIEST && ms <= LATEST

/**
 * `YYYY-MM-DDTHH:MM:SS.mmmZ` for epoch milliseconds. An instant that is not valid becomes the first or the last valid
 * instant, so that every event has a time.
 */
export const isoOf = (at: number): string => {
  const ms = at < EARLIEST ? EARLIEST : at > LATEST ? LATEST : at
  const day = Math.floor(ms / DAY_MS)
  const rest = ms - day * DAY_MS
  const minute = Math.floor(rest / 60_000)
  return `${dateOf(day)}${ofMinute[minute]}${two[Math.floor(rest / 1000) - minute * 60]}${ofMilli[rest % 1000]}`
}

/** The calendar date (YYYY-MM-DD) of a day number. Day 0 is 1970-01-01. */
export const dateOf = (day: number): string => {
  const slot = day & (RECENT - 1)
  const recent = recentDays[slot]
  if (recent?.day === day) return recent.date
  const date = civil(day)
  recentDays[slot] = { day, date }
  return date
}

/** The maximum number of days in each cache. A log contains few different days. */
const RECENT = 1024
const recentDays: ({ readonly day: number; readonly date: string } | undefined)[] = Array.from({ length: RECENT })

/** The date of a day number, by Howard Hinnant's algorithm `civil_from_days`. */
const civil = (day: number): string => {
  const shifted = day + 719_468
  const era = Math.floor(shifted / 146_097)
  const ofEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  )
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * ofYear + 2) / 153)
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return `${two[Math.floor(year / 100)]}${two[year % 100]}-${two[month]}-${two[ofYear - Math.floor((153 * marchMonth + 2) / 5) + 1]}`
}

/** The number of the day, counted from 1970-01-01. Undefined if the text is not a calendar date. */
export const dayNumberOf = (date: string): number | undefined => {
  const recent = recentNumbers.get(date)
  if (recent !== undefined) return recent
  const number = countDays(date)
  if (number === undefined) return undefined
  if (recentNumbers.size >= RECENT) recentNumbers.clear()
  recentNumbers.set(date, number)
  return number
}

const recentNumbers = new Map<string, number>()

const countDays = (date: string): number | undefined => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return undefined
  const ms = Date.parse(`${date}T00:00:00.000Z`)
  // `Date` turns 30 February into 2 March, so the check converts the result back.
  return isInstant(ms) && dateOf(ms / DAY_MS) === date ? ms / DAY_MS : undefined
}

/** The epoch milliseconds of an ISO 8601 instant. */
export const msOf = (iso: string): number => Date.parse(iso)

/** The UTC day of epoch milliseconds, as YYYY-MM-DD. */
export const utcDateOf = (ms: number): string => isoOf(ms).slice(0, 10)

/** The first instant of a day number in UTC, in epoch milliseconds. */
export const startOf = (day: number): number => day * DAY_MS
