import { DAY_RULE_VERSION, dayOf, isDay, isOffset } from './day.ts'
import { dayNumberOf } from './instant.ts'

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

/** Minutes by which the wall clock in an IANA zone is ahead of UTC at an instant; undefined where there is no such zone. */
export const utcOffsetOf = (instant: number, tz: string): number | undefined => {
  const formatter = formatterOf(tz)
  if (formatter === undefined) return undefined
  const wall: Record<string, number> = {}
  for (const { type, value } of formatter.formatToParts(instant)) wall[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = wall
  const asIfUtc = Date.UTC(year, month - 1, day, hour, minute, second)
  return Math.round((asIfUtc - Math.floor(instant / 1000) * 1000) / 60_000)
}

export const isZone = (tz: string): boolean => formatterOf(tz) !== undefined

/** Zones are few, but their names may be spelled in any case, by strangers. */
const MAX_CACHED = 1000
const formatters = new Map<string, Intl.DateTimeFormat>()

const formatterOf = (tz: string): Intl.DateTimeFormat | undefined => {
  const cached = formatters.get(tz)
  if (cached !== undefined) return cached
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(tz)) return undefined
  const formatter = newFormatter(tz)
  if (formatters.size >= MAX_CACHED) formatters.clear()
  if (formatter !== undefined) formatters.set(tz, formatter)
  return formatter
}

const newFormatter = (timeZone: string): Intl.DateTimeFormat | undefined => {
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const
  try {
    return new Intl.DateTimeFormat('en-US', { ...numeric, timeZone, hourCycle: 'h23', calendar: 'gregory', numberingSystem: 'latn' })
  } catch {
    return undefined
  }
}
