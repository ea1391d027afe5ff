import { describe, expect, test } from 'vitest'
import { readerOf } from '../../../processors/adapters/timestream/reader.ts'
import { binsOf } from '../../../projections/bins.ts'
import type { Key } from '../../../projections/item.ts'
import { kegReadings } from '../../../projections/scales/series.ts'
import { seriesQueries } from '../../../projections/scales/series-queries.ts'
import type { Point, SeriesReader, Stretch } from '../../../projections/series.ts'
import type { Query } from '../../../projections/table.ts'
import type { Event } from '../../../schemas/event.ts'
import { barReadings, HOUR_MS, MINUTE_MS } from '../../processors/scales/bar.ts'
import { measuredBy } from '../../processors/scales/points.ts'
import { bar, LOC, NOW, tapped } from '../../processors/scales/events.ts'
import { readerOf as rowsOf } from '../reader.ts'

const AT = Date.parse('2026-03-18T12:00:00.000Z')
const reading = (keg_id: string | null): Point => ({
  measure: 'reading',
  dims: { tap_id: 'loc-001#TAP#07', loc_id: 'loc-001', device_id: 'SCALE-0042' },
  at: AT,
  values: { keg_id },
})

describe('the keys of points in a store of items', () => {
  test('S16: a reading is stored under its keg, by its instant, for thirty days', () => {
    expect(kegReadings.rows.key(reading('keg-1'))).toEqual({ PK: 'READINGS#keg#keg-1', SK: '2026-03-18T12:00:00.000Z' })
    expect(kegReadings.rows.ttlSeconds).toBe(30 * 24 * 60 * 60)
  })

  test('S17: without a keg it is stored under its tap', () => {
    expect(kegReadings.rows.key(reading(null))).toEqual({
      PK: 'READINGS#loc-001#TAP#07',
      SK: '2026-03-18T12:00:00.000Z',
    })
  })
})

test('S64: a Timestream query has a dimension before the time, and bounds', async () => {
  const reads: string[] = []
  const client = {
    send: async ({ input }: { input: { QueryString: string } }) => (reads.push(input.QueryString), { Rows: [] }),
  }
  const { bins } = readerOf({ spec: kegReadings, table: 'keg-readings', client: async () => client as never })
  await bins(
    { measure: 'reading', where: { tap_id: "o'neill#TAP#07" }, from: AT, to: AT + 3_600_000, partitions: [] },
    { ms: 60_000, of: ['level_pct'] },
  )
  expect(reads).toEqual([
    'SELECT bin(time, 60s) AS t, count("level_pct"), sum(round("level_pct" * 1000000)), min("level_pct") FROM "scale-sense"."keg-readings"' +
      ` WHERE measure_name = 'reading' AND "tap_id" = 'o''neill#TAP#07' AND time >= from_iso8601_timestamp('2026-03-18T12:00:00.000Z') AND time < from_iso8601_timestamp('2026-03-18T13:00:00.000Z')` +
      ' GROUP BY bin(time, 60s) ORDER BY t ASC',
  ])
})

/** Returns the queries of the series over the points of these events, and lists that record all their reads. */
const counted = (events: readonly Event[]) => {
  const { table, points } = measuredBy(events)
  const [queries, stretches, kegRows]: readonly [Query[], Stretch[], Key[]] = [[], [], []]
  let [running, most] = [0, 0]
  const within = ({ measure, from, to }: Stretch): readonly Point[] =>
    points.filter((point) => point.measure === measure && point.at >= from && point.at < to).sort((a, b) => a.at - b.at)
  const reader: SeriesReader = {
    points: async function* (stretch, { newest = false, limit = Infinity } = {}) {
      yield (newest ? [...within(stretch)].reverse() : within(stretch)).slice(0, limit)
    },
    bins: async (stretch, binning) => {
      stretches.push(stretch)
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running -= 1
      return binsOf(within(stretch), binning)
    },
  }
  const rows = rowsOf(table, 0, (query) => queries.push(query))
  const questions = seriesQueries({
    reader: {
      ...rows,
      getMany: (keys) => (kegRows.push(...keys.filter(({ PK }) => PK.startsWith('KEG#'))), rows.getMany(keys)),
    },
    points: reader,
  })
  return { questions, queries, stretches, kegRows, most: () => most }
}

describe('the reads of a query', () => {
  const swaps = Array.from({ length: 30 }, (_, n) =>
    tapped({ keg_id: `keg-${n + 2}`, tapped_at: NOW + (n + 1) * HOUR_MS }),
  )
  const weighed = Array.from({ length: 31 }, (_, n) => barReadings(NOW + n * HOUR_MS + MINUTE_MS, [100])).flat()

  test('the levels by hour of many kegs take a few queries at a time, none for a keg that was tapped later', async () => {
    const { questions, stretches, most } = counted([...bar, ...swaps, ...weighed])
    expect((await questions.levelByHour(LOC, { from: NOW, to: NOW + 31 * HOUR_MS })).length).toBe(24)
    expect(stretches.length).toBe(31)
    expect(most()).toBeLessThanOrEqual(4)
    for (const [n, { partitions }] of stretches.entries()) expect(partitions.length).toBe(n + 2)
  })

  test('pours and unseen beer need one read of the taps and of each keg', async () => {
    const events = [
      ...bar,
      ...barReadings(NOW + MINUTE_MS, [120, 120, 118, 118, 118]),
      ...barReadings(NOW + 5 * HOUR_MS, [110, 110, 108, 108, 108]),
    ]
    const range = { from: NOW, to: NOW + 24 * HOUR_MS }
    const byHour = counted(events)
    const answer = await byHour.questions.poursByHour(LOC, range)
    expect(answer.hours.some(({ pours }) => pours > 0)).toBe(true)
    expect(answer.unseen_gallons).toBeGreaterThan(0)
    expect([byHour.queries.length, byHour.kegRows.length]).toEqual([1, 1])
    const rate = counted(events)
    expect((await rate.questions.rate(LOC, '07', NOW + 5 * HOUR_MS + 10 * MINUTE_MS))?.unseen_gallons).toBeGreaterThan(
      0,
    )
    expect(rate.kegRows.length).toBe(1)
    const lifespan = counted(events)
    expect((await lifespan.questions.lifespan(LOC, 'keg-1', NOW + 6 * HOUR_MS))?.unseen_gallons).toBeGreaterThan(0)
    expect([lifespan.queries.length, lifespan.kegRows.length]).toEqual([1, 1])
  })
})
