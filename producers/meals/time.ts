import { DAY_RULE_VERSION, dayOf } from '../../projections/meals/day.ts'
import { dayNumberOf } from '../../projections/meals/instant.ts'
import { mistake } from '../http/problem.ts'

const INSTANT = /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/
const [FIRST_YEAR, LAST_YEAR] = [1900, 2199]
const [EARLIEST, LATEST] = [Date.UTC(FIRST_YEAR, 0, 1), Date.UTC(LAST_YEAR + 1, 0, 1) - 1]

/** Epoch milliseconds of an RFC 3339 instant with its offset. Dates that no calendar has are refused, not rolled over. */
export const instantOf = (text: string, pointer: string): number => {
  const date = INSTANT.exec(text)?.[1]
  const ms = date !== undefined && dayNumberOf(date) !== undefined ? Date.parse(text.toUpperCase()) : Number.NaN
  if (Number.isNaN(ms)) {
    throw mistake(400, { pointer, code: 'bad-instant', detail: `${pointer} must be an instant of RFC 3339 with its offset and at most milliseconds, such as 2026-11-16T08:30:00+01:00.` })
  }
  if (ms < EARLIEST || ms > LATEST) throw mistake(400, { pointer, code: 'out-of-range', detail: `${pointer} must lie in the years ${FIRST_YEAR} to ${LAST_YEAR}.` })
  return ms
}

/** A calendar date: a label, never an instant. */
export const dayIn = (text: string, pointer: string): string => {
  if (dayNumberOf(text) !== undefined) return text
  throw mistake(400, { pointer, code: 'bad-date', detail: `${pointer} must be a date of the calendar, such as 2026-11-16.` })
}

const ZONE = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/
const KEPT_ZONES = 1_000
const zones = new Map<string, Intl.DateTimeFormat>()

const zoneOf = (tz: string, pointer: string): Intl.DateTimeFormat => {
  const known = zones.get(tz)
  if (known) return known
  try {
    if (!ZONE.test(tz)) throw new RangeError(tz)
    const zone = new Intl.DateTimeFormat('en-US', { timeZone: tz, timeZoneName: 'longOffset' })
    if (zones.size >= KEPT_ZONES) zones.clear()
    zones.set(tz, zone)
    return zone
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw mistake(400, { pointer, code: 'bad-zone', detail: `${pointer} must be a time zone of the IANA database, such as Europe/Berlin.` })
  }
}

const OFFSET = /GMT(?:([+-])(\d\d):(\d\d))?/

/** How far the wall clock in a zone is ahead of UTC at an instant. Zone tables are asked here and never in a fold. */
export const offsetAt = (instant: number, tz: string, pointer = '/tz'): number => {
  const [, sign, hours, minutes] = OFFSET.exec(zoneOf(tz, pointer).format(instant)) ?? []
  const ahead = Number(hours ?? 0) * 60 + Number(minutes ?? 0)
  return sign === '-' ? 0 - ahead : ahead
}

/** Where a meal lies in time: what the events say about it. */
export interface Placed {
  readonly eatenAt: number
  readonly tz: string
  readonly utcOffsetMinutes: number
  readonly userDate: string
  readonly dayOverridden: boolean
  readonly dayRuleVersion: number
}

/** The 4 AM rule by the wall clock (M28, M-c); the caller's own day wins within one day of it (M-b). */
export const place = ({ eatenAt, tz, userDate }: { eatenAt: number; tz: string; userDate?: string | undefined }): Placed => {
  const utcOffsetMinutes = offsetAt(eatenAt, tz)
  const derived = dayOf(eatenAt, utcOffsetMinutes)
  const chosen = userDate === undefined ? derived : nearDay(userDate, derived)
  return { eatenAt, tz, utcOffsetMinutes, userDate: chosen, dayOverridden: chosen !== derived, dayRuleVersion: DAY_RULE_VERSION }
}

export const nearDay = (userDate: string, derived: string): string => {
  const chosen = dayIn(userDate, '/userDate')
  if (Math.abs((dayNumberOf(chosen) ?? 0) - (dayNumberOf(derived) ?? 0)) <= 1) return chosen
  const detail = `/userDate is ${chosen}, but the meal was eaten on ${derived} (days begin at 04:00): it can differ by one day at most.`
  throw mistake(400, { pointer: '/userDate', code: 'user-date-out-of-range', detail })
}
