import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, reading, single, startService, type Service } from './service.ts'

const TAP = 'loc-001#TAP#07'

/** The queries of the source document (the specification), word for word, with values for their placeholders. */
const HISTORY = `-- Bin size selected by Lambda based on range parameter
SELECT
  BIN(time, 1h) AS t,
  AVG(measure_value::double) AS level_pct
FROM "scale-sense"."keg-readings"
WHERE measure_name = 'level_pct'
  AND tap_id = '${TAP}'
  AND time >= ago(6h)
GROUP BY BIN(time, 1h)
ORDER BY t ASC`

const POUR_RATE = `WITH recent AS (
  SELECT time, measure_value::double AS gallons
  FROM "scale-sense"."keg-readings"
  WHERE measure_name = 'gallons'
    AND tap_id = '${TAP}'
    AND time >= ago(6h)
)
SELECT
  (MAX(gallons) - MIN(gallons)) / 6.0 AS gallons_per_hour,
  MIN(gallons) / ((MAX(gallons) - MIN(gallons)) / 6.0) AS hours_remaining
FROM recent`

const LIFESPAN = (start: string, end: string) => `SELECT
  tap_id,
  MIN(time) AS tapped_at,
  MAX(time) AS last_reading,
  MAX(measure_value::double) - MIN(measure_value::double) AS total_poured_gallons,
  date_diff('hour', MIN(time), MAX(time)) AS lifespan_hours
FROM "scale-sense"."keg-readings"
WHERE measure_name = 'gallons'
  AND tap_id = '${TAP}'
  AND time BETWEEN ${start} AND ${end}
GROUP BY tap_id`

const BY_HOUR = `SELECT
  EXTRACT(HOUR FROM time) AS hour_of_day,
  AVG(measure_value::double) AS avg_gallons_poured
FROM "scale-sense"."keg-readings"
WHERE measure_name = 'gallons'
  AND loc_id = 'loc-001'
  AND time >= ago(30d)
GROUP BY EXTRACT(HOUR FROM time)
ORDER BY hour_of_day ASC`

const BATTERY = `SELECT
  BIN(time, 1d) AS day,
  device_id,
  AVG(measure_value::double) AS avg_battery_pct,
  MIN(measure_value::double) AS min_battery_pct
FROM "scale-sense"."keg-readings"
WHERE measure_name = 'battery_pct'
  AND loc_id = 'loc-001'
  AND time >= ago(7d)
GROUP BY BIN(time, 1d), device_id
ORDER BY day ASC, device_id ASC`

/** Converts a query to multi-measure records, in which each measure has its own column. */
const multi = (sql: string): string => {
  const measure = /measure_name = '(\w+)'/.exec(sql)?.[1] ?? ''
  return sql.replaceAll('measure_value::double', measure).replace(/measure_name = '\w+'/, "measure_name = 'reading'")
}

const READINGS = [
  [5.5, 80, 12.4],
  [5, 79, 12.2],
  [2.75, 60, 9.8],
  [0.25, 55, 8.4],
] as const

describe('the queries of the source document', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
    await service.createTables()
    for (const [ago, level, gallons] of READINGS) {
      await service.write([
        single(at(ago), 'level_pct', level),
        single(at(ago), 'gallons', gallons),
        single(at(ago), 'battery_pct', 90 - ago),
        reading(at(ago), { level_pct: level, gallons, battery_pct: 90 - ago }),
      ])
    }
  })
  afterAll(() => service.close())

  for (const [kind, form] of [
    ['single-measure', (sql: string) => sql],
    ['multi-measure', multi],
  ] as const) {
    test(`S57: history bins the level by hour (${kind})`, async () => {
      const { rows, types } = await service.query(form(HISTORY))
      expect(types).toEqual({ t: 'TIMESTAMP', level_pct: 'DOUBLE' })
      expect(rows).toEqual([
        { t: '2026-03-18 06:00:00.000000000', level_pct: '80.0' },
        { t: '2026-03-18 07:00:00.000000000', level_pct: '79.0' },
        { t: '2026-03-18 09:00:00.000000000', level_pct: '60.0' },
        { t: '2026-03-18 11:00:00.000000000', level_pct: '55.0' },
      ])
    })

    test(`S58: pour rate and hours remaining (${kind})`, async () => {
      const { rows } = await service.query(form(POUR_RATE))
      expect(rows.map((row) => Number(row['gallons_per_hour']))).toEqual([(12.4 - 8.4) / 6])
      expect(rows.map((row) => Number(row['hours_remaining']))).toEqual([8.4 / ((12.4 - 8.4) / 6)])
    })

    test(`S59, S-h: keg lifespan with timestamps as bounds (${kind})`, async () => {
      const bounds = [
        "from_iso8601_timestamp('2026-03-18T00:00:00Z')",
        "from_iso8601_timestamp('2026-03-18T13:00:00+01:00')",
      ] as const
      expect((await service.query(form(LIFESPAN(...bounds)))).rows).toEqual([
        {
          tap_id: TAP,
          tapped_at: '2026-03-18 06:30:00.000000000',
          last_reading: '2026-03-18 11:45:00.000000000',
          total_poured_gallons: '4.0',
          lifespan_hours: '5',
        },
      ])
    })

    test(`S-h: keg lifespan as in the document compares a timestamp with a varchar and is rejected (${kind})`, async () => {
      expect(await service.refusal(form(LIFESPAN("'2026-03-18T00:00:00Z'", "'2026-03-18T12:00:00Z'")))).toBe(
        'ValidationException: line 10:12: Cannot check if timestamp is BETWEEN varchar and varchar',
      )
    })

    test(`S60: pour volume by hour of day (${kind})`, async () => {
      const { rows, types } = await service.query(form(BY_HOUR))
      expect(types).toEqual({ hour_of_day: 'BIGINT', avg_gallons_poured: 'DOUBLE' })
      expect(rows).toEqual(
        [
          ['6', '12.4'],
          ['7', '12.2'],
          ['9', '9.8'],
          ['11', '8.4'],
        ].map(([hour_of_day, avg_gallons_poured]) => ({ hour_of_day, avg_gallons_poured })),
      )
    })

    test(`S61: device battery trend by day (${kind})`, async () => {
      expect((await service.query(form(BATTERY))).rows).toEqual([
        {
          day: '2026-03-18 00:00:00.000000000',
          device_id: 'SCALE-0042',
          avg_battery_pct: '86.625',
          min_battery_pct: '84.5',
        },
      ])
    })
  }

  test('S-e: single-measure SQL over multi-measure records finds nothing, because measure_name differs', async () => {
    expect(
      (
        await service.query(
          `SELECT time FROM "scale-sense"."keg-readings" WHERE measure_name = 'reading' AND measure_value::double IS NOT NULL`,
        )
      ).rows,
    ).toEqual([])
  })
})
