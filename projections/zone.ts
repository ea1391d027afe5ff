/** This file is for the edge and for queries. Folds do not use it, because the tables of time zones change from year to year. */

const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/

/** Since 1973, clocks change only at whole quarters of an hour in UTC, so one offset is cached per quarter. */
const QUARTER_MS = 15 * 60_000
const STEADY_SINCE = Date.UTC(1973, 0, 1)
const MAX_OFFSETS = 10_000
const offsets = new Map<string, number>()

/**
 * The offset from UTC in minutes of the wall clock in an IANA zone at an instant. Undefined if the zone does not
 * exist.
 */
export const utcOffsetOf = (instant: number, tz: string): number | undefined => {
  if (instant < STEADY_SINCE) return computeOffset(instant, tz)
  const quarter = `${tz} ${Math.floor(instant / QUARTER_MS)}`
  const known = offsets.get(quarter)
  if (known !== undefined) return known
  const offset = computeOffset(instant, tz)
  if (offsets.size >= MAX_OFFSETS) offsets.clear()
  if (offset !== undefined) offsets.set(quarter, offset)
  return offset
}

const computeOffset = (instant: number, tz: string): number | undefined => {
  const zone = zoneOf(tz)
  if (zone === undefined) return undefined
  // Formatting the offset takes a third of the time of formatting the parts of the wall clock.
  const shown = OFFSET.exec(zone.formatter.format(instant))
  if (shown === null) return undefined
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = shown
  const ahead = Number(hours) * 60 + Number(minutes) + Number(seconds) / 60
  return Math.round(sign === '-' ? 0 - ahead : ahead)
}

export const isZone = (tz: string): boolean => zoneOf(tz) !== undefined

/** The name of the zone in its usual case, such as `Europe/Berlin`. The text of an unknown zone stays as it is. */
export const zoneName = (tz: string): string => zoneOf(tz)?.name ?? tz

/** There are few zones, but callers can spell a name in any case, so the cache is bounded. */
const MAX_CACHED = 1000
const zones = new Map<string, Zone>()

interface Zone {
  readonly formatter: Intl.DateTimeFormat
  readonly name: string
}

const zoneOf = (tz: string): Zone | undefined => {
  const cached = zones.get(tz)
  if (cached !== undefined) return cached
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(tz)) return undefined
  const formatter = newFormatter(tz)
  if (formatter === undefined) return undefined
  const zone = { formatter, name: nameIn(formatter, tz) }
  if (zones.size >= MAX_CACHED) zones.clear()
  zones.set(tz, zone)
  return zone
}

/** JavaScript can resolve the name of a zone to another, even an outdated, name of the same zone. Then the given name is used. */
const nameIn = (formatter: Intl.DateTimeFormat, tz: string): string => {
  const resolved = formatter.resolvedOptions().timeZone
  return resolved.toLowerCase() === tz.toLowerCase() ? resolved : tz
}

const newFormatter = (timeZone: string): Intl.DateTimeFormat | undefined => {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      timeZoneName: 'longOffset',
      calendar: 'gregory',
      numberingSystem: 'latn',
    })
  } catch {
    return undefined
  }
}
