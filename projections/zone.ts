/** For the edge and for questions: zone tables change from year to year, so folds never ask them. */
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/

/** Clocks change on a whole quarter of an hour of UTC, at least since 1973; what an hour brought once it brings again. */
const QUARTER_MS = 15 * 60_000
const STEADY_SINCE = Date.UTC(1973, 0, 1)
const MAX_OFFSETS = 10_000
const offsets = new Map<string, number>()

/** Minutes by which the wall clock in an IANA zone is ahead of UTC at an instant; undefined where there is no such zone. */
export const utcOffsetOf = (instant: number, tz: string): number | undefined => {
  if (instant < STEADY_SINCE) return askOffset(instant, tz)
  const quarter = `${tz} ${Math.floor(instant / QUARTER_MS)}`
  const known = offsets.get(quarter)
  if (known !== undefined) return known
  const asked = askOffset(instant, tz)
  if (offsets.size >= MAX_OFFSETS) offsets.clear()
  if (asked !== undefined) offsets.set(quarter, asked)
  return asked
}

const askOffset = (instant: number, tz: string): number | undefined => {
  const zone = zoneOf(tz)
  if (zone === undefined) return undefined
  // Asking for the offset costs a third of taking the wall clock apart.
  const shown = OFFSET.exec(zone.formatter.format(instant))
  if (shown === null) return undefined
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = shown
  const ahead = Number(hours) * 60 + Number(minutes) + Number(seconds) / 60
  return Math.round(sign === '-' ? 0 - ahead : ahead)
}

export const isZone = (tz: string): boolean => zoneOf(tz) !== undefined

/** The name in the case it is usually written in. */
export const zoneName = (tz: string): string => zoneOf(tz)?.name ?? tz

/** Zones are few, but their names may be spelled in any case, by strangers. */
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

/** What a name resolves to can be another name of the same zone, even an outdated one: then it stays as it was given. */
const nameIn = (formatter: Intl.DateTimeFormat, tz: string): string => {
  const resolved = formatter.resolvedOptions().timeZone
  return resolved.toLowerCase() === tz.toLowerCase() ? resolved : tz
}

const newFormatter = (timeZone: string): Intl.DateTimeFormat | undefined => {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset', calendar: 'gregory', numberingSystem: 'latn' })
  } catch {
    return undefined
  }
}
