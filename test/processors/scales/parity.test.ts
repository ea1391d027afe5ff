import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { timestreamSeries } from '../../../processors/adapters/timestream/series.ts'
import { kegReadings } from '../../../projections/scales/series.ts'
import { seriesQueries, type SeriesQueries } from '../../../projections/scales/series-queries.ts'
import { readerOf } from '../../projections/reader.ts'
import { single, startService, type Service } from '../../timestream-local/service.ts'
import { barReadings, HOUR_MS, MINUTE_MS } from './bar.ts'
import { measuredBy } from './points.ts'
import { assigned, LOC, registered, settings, tapped } from './events.ts'

const NOW = Date.parse('2026-03-18T12:00:00Z')
const START = NOW - 6 * HOUR_MS
const TAP_ID = 'loc-001#TAP#07'
const meta = { occurredAt: START }

/**
 * Readings of one keg in six hours, with pours and no other events. Only for such readings do the SQL queries of the source document (the
 * specification) give correct answers.
 */
const weights = [160, 160, 158, 158, 158, 158, 155, 155, 155, 155, 150, 150, 150]
const events = [
  registered({ meta }),
  settings({ silent_after_secs: 3600, meta }),
  assigned({ meta }),
  tapped({ tapped_at: START, meta }),
  ...barReadings(START, weights, { every: 30 * MINUTE_MS, battery_pct: 70 }),
]

// The test writes the same readings as multi-measure records and as single-measure records. Our queries read the multi-measure records. They must
// give the same answers as the SQL of the source document, which reads the single-measure records (requirement S-e).
describe('S-e: parity with the SQL of the source document', () => {
  let service: Service
  let questions: SeriesQueries
  beforeAll(async () => {
    service = await startService({ now: NOW })
    await service.createTables()
    const { table, points } = measuredBy(events)
    const series = timestreamSeries({ endpoint: service.endpoint }).open(kegReadings, 2)
    await series.write(points)
    questions = seriesQueries({ reader: readerOf(table), points: series.reader })
    const singles = points
      .filter(({ measure }) => measure === 'reading')
      .flatMap(({ at, values, dims }) =>
        ['level_pct', 'gallons', 'battery_pct'].map((name) =>
          single(String(at), name, Number(values[name]), {
            Dimensions: Object.entries(dims).map(([Name, Value]) => ({ Name, Value })),
          }),
        ),
      )
    await service.write(singles)
  })
  afterAll(() => service.close())

  const asNumber = (cell: string | null | undefined): number => Number(Number(cell).toFixed(6))

  test('S57, S-e: history', async () => {
    const { rows } =
      await service.query(`SELECT BIN(time, 1m) AS t, AVG(measure_value::double) AS level_pct FROM "scale-sense"."keg-readings"
      WHERE measure_name = 'level_pct' AND tap_id = '${TAP_ID}' AND time >= ago(6h) GROUP BY BIN(time, 1m) ORDER BY t ASC`)
    const history = await questions.history(LOC, '07', { from: START, to: NOW + 1 })
    expect(history?.bin_secs).toBe(60)
    expect(history?.data.map(({ t, level_pct }) => [t, asNumber(String(level_pct))])).toEqual(
      rows.map(({ t, level_pct }) => [Date.parse(`${t?.slice(0, 23).replace(' ', 'T')}Z`), asNumber(level_pct)]),
    )
  })

  test('S58: pour rate and hours remaining, if one keg is poured during the whole window', async () => {
    const {
      rows: [row],
    } =
      await service.query(`WITH recent AS (SELECT time, measure_value::double AS gallons FROM "scale-sense"."keg-readings"
      WHERE measure_name = 'gallons' AND tap_id = '${TAP_ID}' AND time >= ago(6h))
      SELECT (MAX(gallons) - MIN(gallons)) / 6.0 AS gallons_per_hour, MIN(gallons) / ((MAX(gallons) - MIN(gallons)) / 6.0) AS hours_remaining FROM recent`)
    const rate = await questions.rate(LOC, '07', NOW)
    expect([asNumber(String(rate?.gallons_per_hour)), asNumber(String(rate?.hours_remaining))]).toEqual([
      asNumber(row?.['gallons_per_hour']),
      asNumber(row?.['hours_remaining']),
    ])
  })

  test('S59: keg lifespan, with instants instead of text (S-h)', async () => {
    const [from, to] = [START, NOW].map((ms) => `from_iso8601_timestamp('${new Date(ms).toISOString()}')`)
    const {
      rows: [row],
    } =
      await service.query(`SELECT tap_id, MIN(time) AS tapped_at, MAX(time) AS last_reading, MAX(measure_value::double) - MIN(measure_value::double) AS total_poured_gallons,
      date_diff('hour', MIN(time), MAX(time)) AS lifespan_hours FROM "scale-sense"."keg-readings"
      WHERE measure_name = 'gallons' AND tap_id = '${TAP_ID}' AND time BETWEEN ${from} AND ${to} GROUP BY tap_id`)
    const lifespan = await questions.lifespan(LOC, 'keg-1', NOW)
    expect(lifespan).toMatchObject({
      tap_id: row?.['tap_id'],
      tapped_at: START,
      last_reading: NOW,
      lifespan_hours: Number(row?.['lifespan_hours']),
    })
    expect(asNumber(String(lifespan?.total_poured_gallons))).toBe(asNumber(row?.['total_poured_gallons']))
  })

  test('S60: the hourly level of the source document (S-g)', async () => {
    const { rows } =
      await service.query(`SELECT EXTRACT(HOUR FROM time) AS hour_of_day, AVG(measure_value::double) AS avg_gallons_poured FROM "scale-sense"."keg-readings"
      WHERE measure_name = 'gallons' AND loc_id = '${LOC}' AND time >= ago(30d) GROUP BY EXTRACT(HOUR FROM time) ORDER BY hour_of_day ASC`)
    const hours = await questions.levelByHour(LOC, { from: NOW - 30 * 24 * HOUR_MS, to: NOW + 1 })
    expect(hours.map(({ hour_of_day, avg_gallons }) => [hour_of_day, asNumber(String(avg_gallons))])).toEqual(
      rows.map((row) => [Number(row['hour_of_day']), asNumber(row['avg_gallons_poured'])]),
    )
  })

  test('S61: battery trend', async () => {
    const { rows } =
      await service.query(`SELECT BIN(time, 1d) AS day, device_id, AVG(measure_value::double) AS avg_battery_pct, MIN(measure_value::double) AS min_battery_pct FROM "scale-sense"."keg-readings"
      WHERE measure_name = 'battery_pct' AND loc_id = '${LOC}' AND time >= ago(7d) GROUP BY BIN(time, 1d), device_id ORDER BY day ASC, device_id ASC`)
    const trend = await questions.batteryTrend(LOC, { from: NOW - 7 * 24 * HOUR_MS, to: NOW + 1 })
    expect(
      trend.map(({ device_id, avg_battery_pct, min_battery_pct }) => [device_id, avg_battery_pct, min_battery_pct]),
    ).toEqual(rows.map((row) => [row['device_id'], asNumber(row['avg_battery_pct']), asNumber(row['min_battery_pct'])]))
  })
})
