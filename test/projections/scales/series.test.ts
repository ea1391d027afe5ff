import { describe, expect, test } from 'vitest'
import { readerOf } from '../../../processors/adapters/timestream/reader.ts'
import { kegReadings } from '../../../projections/scales/series.ts'
import type { Point } from '../../../projections/series.ts'

const AT = Date.parse('2026-03-18T12:00:00.000Z')
const reading = (keg_id: string | null): Point => ({ measure: 'reading', dims: { tap_id: 'loc-001#TAP#07', loc_id: 'loc-001', device_id: 'SCALE-0042' }, at: AT, values: { keg_id } })

describe('where points lie in a store of items', () => {
  test('S16: a reading lies under its keg, by its instant, for thirty days', () => {
    expect(kegReadings.rows.key(reading('keg-1'))).toEqual({ PK: 'READINGS#keg#keg-1', SK: '2026-03-18T12:00:00.000Z' })
    expect(kegReadings.rows.ttlSeconds).toBe(30 * 24 * 60 * 60)
  })

  test('S17: without a keg it lies under its tap', () => {
    expect(kegReadings.rows.key(reading(null))).toEqual({ PK: 'READINGS#loc-001#TAP#07', SK: '2026-03-18T12:00:00.000Z' })
  })
})

test('S64: Timestream is asked by a dimension before the time, within bounds that are said', async () => {
  const asked: string[] = []
  const client = { send: async ({ input }: { input: { QueryString: string } }) => (asked.push(input.QueryString), { Rows: [] }) }
  const { bins } = readerOf({ spec: kegReadings, table: 'keg-readings', client: async () => client as never })
  await bins({ measure: 'reading', where: { tap_id: "o'neill#TAP#07" }, from: AT, to: AT + 3_600_000, partitions: [] }, { ms: 60_000, of: ['level_pct'] })
  expect(asked).toEqual([
    'SELECT bin(time, 60s) AS t, count("level_pct"), sum(round("level_pct" * 1000000)), min("level_pct") FROM "scale-sense"."keg-readings"'
    + ` WHERE measure_name = 'reading' AND "tap_id" = 'o''neill#TAP#07' AND time >= from_iso8601_timestamp('2026-03-18T12:00:00.000Z') AND time < from_iso8601_timestamp('2026-03-18T13:00:00.000Z')`
    + ' GROUP BY bin(time, 60s) ORDER BY t ASC',
  ])
})
