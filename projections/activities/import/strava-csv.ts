import { isUser } from '../../access/keys.ts'
import type { ImportOptions } from '../../importing.ts'

/** The columns of `activities.csv` in the archive that Strava sends to a person on request. Some names occur twice: the last one has plain numbers. */
const COLUMNS = {
  activityId: 'Activity ID',
  date: 'Activity Date',
  name: 'Activity Name',
  sportType: 'Activity Type',
  elapsed: 'Elapsed Time',
  moving: 'Moving Time',
  distance: 'Distance',
  elevation: 'Elevation Gain',
} as const
type Column = keyof typeof COLUMNS

/** An activity of the file. Amounts are in decimetres and seconds. */
interface CsvActivity {
  readonly kind: 'activity'
  readonly userId: string
  readonly activityId: string
  readonly name: string
  readonly sportType: string
  /** Epoch milliseconds. */
  readonly startDate: number
  readonly distanceDm: number
  readonly elevationDm: number
  readonly movingS: number
  readonly elapsedS: number
}

/** A row that cannot be read, with the reason. */
interface UnreadableRow {
  readonly kind: 'unreadable'
  readonly reason: string
}

/** Returns a function that reads the records of `activities.csv`. Throws if a column is missing, or if the option `user` is. */
export const readActivitiesCsv = (
  header: readonly string[],
  { user }: ImportOptions,
): ((cells: readonly string[]) => CsvActivity | UnreadableRow) => {
  if (user === undefined)
    throw new Error('the file does not name the person whose activities it contains. Add --user ID.')
  if (!isUser(user)) throw new Error(`--user ${JSON.stringify(user)} is not a user id.`)
  const names = header.map((name) => name.trim())
  const missing = Object.values(COLUMNS).filter((name) => !names.includes(name))
  if (missing.length > 0)
    throw new Error(
      `it has no column ${missing.map((name) => `"${name}"`).join(', ')}. An import reads activities.csv of Strava's archive in English: set the language of Strava to English, request the archive again, and import that file.`,
    )
  if (names.indexOf(COLUMNS.distance) === names.lastIndexOf(COLUMNS.distance))
    throw new Error(
      'it has one column "Distance", whose unit is not known. In activities.csv of Strava\'s archive a second one is in metres: request the archive again, and import that file.',
    )
  const at = (column: Column): number => names.lastIndexOf(COLUMNS[column])
  return (cells) => {
    try {
      return activityOf(user, (column) => cells[at(column)]?.trim() ?? '')
    } catch (error) {
      return { kind: 'unreadable', reason: (error as Error).message }
    }
  }
}

type Read = (column: Column) => string

const activityOf = (userId: string, read: Read): CsvActivity => {
  const activityId = read('activityId')
  if (!/^\d{1,20}$/.test(activityId)) throw unfit('activityId', activityId, 'the digits of an id')
  const elapsedS = Math.round(amountIn(read, 'elapsed') ?? 0)
  return {
    kind: 'activity',
    userId,
    activityId,
    name: read('name'),
    sportType: sportTypeOf(read('sportType')),
    startDate: dateIn(read),
    distanceDm: Math.round((amountIn(read, 'distance') ?? 0) * 10),
    elevationDm: Math.round((amountIn(read, 'elevation') ?? 0) * 10),
    movingS: Math.round(amountIn(read, 'moving') ?? elapsedS),
    elapsedS,
  }
}

const unfit = (column: Column, text: string, expected: string): Error =>
  new Error(`column "${COLUMNS[column]}": ${JSON.stringify(text)} is not ${expected}.`)

const MAX_AMOUNT = 1_000_000_000

/** A number of the file. Undefined if the cell is empty. */
const amountIn = (read: Read, column: Column): number | undefined => {
  const text = read(column)
  if (text === '') return undefined
  const amount = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || amount > MAX_AMOUNT)
    throw unfit(column, text, 'a number such as 8333.4, of at most 1000000000')
  return amount
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** `Nov 19, 2026, 7:03:12 AM` and `19 Nov 2026, 07:03:12`, by the region of the person's English. Both are in UTC. */
const US = /^([A-Za-z]{3})\w* (\d{1,2}), (\d{4}),? (\d{1,2}):(\d\d):(\d\d) ([AP])M$/i
const OTHER = /^(\d{1,2}) ([A-Za-z]{3})\w* (\d{4}),? (\d{1,2}):(\d\d):(\d\d)$/

const dateIn = (read: Read): number => {
  const text = read('date').replaceAll(/\s+/g, ' ')
  const ms = usDate(text) ?? otherDate(text)
  if (ms === undefined)
    throw unfit('date', text, 'a date such as "Nov 19, 2026, 7:03:12 AM" or "19 Nov 2026, 07:03:12"')
  return ms
}

const usDate = (text: string): number | undefined => {
  const [, month = '', day, year, hour, minute, second, half] = US.exec(text) ?? []
  if (half === undefined || Number(hour) < 1 || Number(hour) > 12) return undefined
  const hours = (Number(hour) % 12) + (half.toUpperCase() === 'P' ? 12 : 0)
  return instant(month, [Number(year), Number(day), hours, Number(minute), Number(second)])
}

const otherDate = (text: string): number | undefined => {
  const [, day, month, year, ...time] = OTHER.exec(text) ?? []
  const [hour, minute, second] = time.map(Number)
  if (month === undefined || hour === undefined || minute === undefined || second === undefined) return undefined
  return instant(month, [Number(year), Number(day), hour, minute, second])
}

/** Returns the instant in epoch milliseconds. Undefined if there is no such day or time. */
const instant = (
  monthName: string,
  [year, day, hour, minute, second]: readonly [number, number, number, number, number],
): number | undefined => {
  const month = MONTHS.indexOf(monthName.toLowerCase())
  const ms = Date.UTC(year, month, day, hour, minute, second)
  const date = new Date(ms)
  const isReal =
    month >= 0 && date.getUTCDate() === day && date.getUTCHours() === hour && date.getUTCMinutes() === minute
  return isReal && second < 60 ? ms : undefined
}

/** The file has the names that people see, such as `E-Bike Ride`. The API has `EBikeRide`. */
const sportTypeOf = (name: string): string =>
  name === 'Football (Soccer)' ? 'Soccer' : name.replaceAll(/[^A-Za-z0-9]/g, '')
