import { expect, test } from 'vitest'
import { readActivitiesCsv } from '../../../../projections/activities/import/strava-csv.ts'

const HEADER =
  'Activity ID,Activity Date,Activity Name,Activity Type,Activity Description,Elapsed Time,Distance,Max Heart Rate,Relative Effort,Commute,Activity Private Note,Activity Gear,Filename,Athlete Weight,Bike Weight,Elapsed Time,Moving Time,Distance,Max Speed,Average Speed,Elevation Gain,Elevation Loss'.split(
    ',',
  )
const cellsOf = (cells: Readonly<Record<string, string>>): readonly string[] => {
  const given: Readonly<Record<string, string>> = {
    'Activity ID': '12345678901234567',
    'Activity Date': 'Nov 19, 2026, 7:03:12 AM',
    'Activity Name': 'Morning, wet',
    'Activity Type': 'E-Bike Ride',
    'Elapsed Time': '2000.0',
    'Moving Time': '1900.0',
    Distance: '8333.4',
    'Elevation Gain': '12.34',
    ...cells,
  }
  return HEADER.map((name, at) => (HEADER.lastIndexOf(name) === at ? (given[name] ?? '') : '8,33'))
}
const read = (cells: Readonly<Record<string, string>> = {}): unknown =>
  readActivitiesCsv(HEADER, { user: 'ada' })(cellsOf(cells))

test('a record is an activity in decimetres and seconds: of two columns with one name, the second one counts', () => {
  expect(read()).toEqual({
    kind: 'activity',
    userId: 'ada',
    activityId: '12345678901234567',
    name: 'Morning, wet',
    sportType: 'EBikeRide',
    startDate: Date.UTC(2026, 10, 19, 7, 3, 12),
    distanceDm: 83_334,
    elevationDm: 123,
    movingS: 1900,
    elapsedS: 2000,
  })
})

test('empty amounts are 0, and an empty moving time is the elapsed time', () => {
  expect(read({ Distance: '', 'Elevation Gain': '', 'Moving Time': '' })).toMatchObject({
    distanceDm: 0,
    elevationDm: 0,
    movingS: 2000,
  })
})

test.each([
  ['Nov 19, 2026, 12:03:12 AM', Date.UTC(2026, 10, 19, 0, 3, 12)],
  ['Nov 19, 2026, 12:03:12\u202fPM', Date.UTC(2026, 10, 19, 12, 3, 12)],
  ['19 Nov 2026, 23:03:12', Date.UTC(2026, 10, 19, 23, 3, 12)],
  ['Sept 1, 2026, 1:00:00 PM', Date.UTC(2026, 8, 1, 13)],
])('the date %s is read as UTC', (text, expected) => {
  expect(read({ 'Activity Date': text })).toMatchObject({ startDate: expected })
})

test.each([
  '19.11.2026, 07:03:12',
  '19 nov. 2026 à 07:03:12',
  'Feb 30, 2026, 7:03:12 AM',
  'Nov 19, 2026, 13:03:12 AM',
  '',
])('the date %j is refused with its column', (text) => {
  expect(read({ 'Activity Date': text })).toEqual({
    kind: 'unreadable',
    reason: `column "Activity Date": ${JSON.stringify(text)} is not a date such as "Nov 19, 2026, 7:03:12 AM" or "19 Nov 2026, 07:03:12".`,
  })
})

test.each([
  ['Distance', '8.333,4'],
  ['Elevation Gain', '-3'],
  ['Moving Time', '1e400'],
  ['Activity ID', '12a'],
])('column %s refuses %j', (column, text) => {
  expect(read({ [column]: text })).toMatchObject({
    kind: 'unreadable',
    reason: expect.stringContaining(`column "${column}": "${text}"`) as string,
  })
})

test('a file in another language, with one distance, or without a person is refused as a whole', () => {
  const german = ['Aktivitäts-ID', 'Aktivitätsdatum']
  expect(() => readActivitiesCsv(german, { user: 'ada' })).toThrow('set the language of Strava to English')
  const short = HEADER.filter((name, at) => name !== 'Distance' || HEADER.indexOf(name) === at)
  expect(() => readActivitiesCsv(short, { user: 'ada' })).toThrow('one column "Distance"')
  expect(() => readActivitiesCsv(HEADER, {})).toThrow('Add --user ID')
  expect(() => readActivitiesCsv(HEADER, { user: 'a#b' })).toThrow('is not a user id')
})
