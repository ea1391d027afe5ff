import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kegReadings } from '../../projections/scales/series.ts'
import { binOf, seriesQueries, type SeriesQueries } from '../../projections/scales/series-queries.ts'
import type { Series, Versioned } from '../../processors/engine/ports/series.ts'
import type { Event } from '../../schemas/event.ts'
import { readerOf } from '../projections/reader.ts'
import { measuredBy } from '../processors/scales/points.ts'
import {
  assigned,
  corrected,
  finished,
  LOC,
  registered,
  settings,
  tapped,
  telemetry,
  voided,
} from '../processors/scales/events.ts'
import { barReadings, HOUR_MS, MINUTE_MS } from '../processors/scales/bar.ts'
import { DAY_MS, type SeriesUnderTest } from './series.ts'

export interface QuestionsUnderTest extends SeriesUnderTest {
  /** Receives the series after all points are written, so that the test of an adapter can run a query of its own over the points. */
  readonly written?: (series: Series, start: number) => void
}

/** Writes the points of these events into the generation, and returns the queries over it. */
const queriesOver = async (
  { stores }: SeriesUnderTest,
  generation: number,
  events: readonly Event[],
): Promise<SeriesQueries> => {
  const { table, points } = measuredBy(events)
  const series = stores.open(kegReadings, generation)
  expect(await series.write(points)).toEqual([])
  return seriesQueries({ reader: readerOf(table), points: series.reader })
}

const gallonsOfLbs = (lbs: number, sg: number): number => (lbs * 0.45359237 * 0.264172) / sg

/** The contract of the queries over series. Every adapter must return the same answers. */
export const questionsContract = (name: string, open: () => Promise<QuestionsUnderTest>): void => {
  describe(`the questions of the series, ${name}`, () => {
    let under: QuestionsUnderTest
    let start: number
    // The series contract uses the same store, with generation numbers below 1,000.
    let generations = 1_000
    beforeAll(async () => {
      under = await open()
      start = under.start
    })
    afterAll(async () => {
      await under.stores.close()
      await under.cleanup()
    })
    const queriesOf = (events: readonly Event[]): Promise<SeriesQueries> => queriesOver(under, ++generations, events)
    const at = (ms: number) => ({ meta: { occurredAt: start + ms } })
    /** Events that set up tap 07 with a scale and a keg of stout at `start`. */
    const bar = (): readonly Event[] => [registered(at(0)), assigned(at(0)), tapped({ tapped_at: start, ...at(0) })]
    const readings = (from: number, weights: readonly number[], more = {}) => barReadings(start + from, weights, more)

    test('S57, S39, S65: the history is that of the keg on the tap, with level and battery in bins that fit the range', async () => {
      const swap = tapped({ keg_id: 'keg-2', tapped_at: start + 30 * MINUTE_MS, ...at(30 * MINUTE_MS) })
      const questions = await queriesOf([
        ...bar(),
        ...readings(MINUTE_MS, [90, 90]),
        swap,
        ...readings(40 * MINUTE_MS, [160, 150, 140]),
      ])
      const history = await questions.history(LOC, '07', { from: start, to: start + HOUR_MS })
      expect(history).toMatchObject({ tap_id: 'loc-001#TAP#07', keg_id: 'keg-2', bin_secs: 60 })
      expect(history?.data.map(({ t, level_pct }) => [t - start, Math.round(level_pct * 100) / 100])).toEqual(
        [
          [40, 98.87],
          [41, 91.32],
          [42, 83.77],
        ].map(([minute = 0, level]) => [minute * MINUTE_MS, level]),
      )
      expect(history?.battery_data.map(({ battery_pct }) => battery_pct)).toEqual([80, 80, 80])
      expect(await questions.history(LOC, '09', { from: start, to: start + HOUR_MS })).toBeUndefined()
    })

    test('S39, S61: a battery value without a reading is in history and trend, once', async () => {
      const telemetryAt = (ms: number, battery_pct: number, seq: number) =>
        telemetry({ at: start + ms, battery_pct, battery_v: null, seq })
      const reading = readings(MINUTE_MS, [90], { battery_pct: 60 })
      const questions = await queriesOf([
        ...bar(),
        ...reading,
        telemetryAt(MINUTE_MS, 50, 71),
        telemetryAt(3 * MINUTE_MS, 40, 72),
        telemetryAt(3 * MINUTE_MS + 500, 40, 72),
      ])
      const history = await questions.history(LOC, '07', { from: start, to: start + HOUR_MS })
      expect(history?.battery_data.map(({ t, battery_pct }) => [t - start, battery_pct])).toEqual([
        [MINUTE_MS, 55],
        [3 * MINUTE_MS, 40],
      ])
      expect(history?.data).toHaveLength(1)
      expect(await questions.batteryTrend(LOC, { from: start, to: start + DAY_MS })).toEqual([
        { day: start, device_id: 'SCALE-0042', avg_battery_pct: 50, min_battery_pct: 40 },
      ])
    })

    test('S43, S-m: if a scale sends only its weight, the level is computed with the current data of the keg', async () => {
      const weighed = [registered(at(0)), assigned(at(0)), ...readings(MINUTE_MS, [95.25, 62.125], { level_pct: null })]
      const levels = async (...events: readonly Event[]) =>
        (
          await (await queriesOf([...weighed, ...events])).history(LOC, '07', { from: start, to: start + HOUR_MS })
        )?.data.map(({ t, level_pct }) => [t - start, level_pct])
      const late = tapped({ tapped_at: start, ...at(5 * MINUTE_MS) })
      expect(await levels(late)).toEqual([
        [MINUTE_MS, 50],
        [2 * MINUTE_MS, 25],
      ])
      expect(
        await levels(late, corrected({ from: start, full_lbs: 95.25, empty_lbs: 29, ...at(6 * MINUTE_MS) })),
      ).toEqual([
        [MINUTE_MS, 100],
        [2 * MINUTE_MS, 50],
      ])
    })

    test('S17: without a keg the history is that of the tap since the last keg', async () => {
      const questions = await queriesOf([
        ...bar(),
        ...readings(MINUTE_MS, [90]),
        finished({ at: start + 5 * MINUTE_MS, ...at(5 * MINUTE_MS) }),
        ...readings(6 * MINUTE_MS, [20, 20]),
      ])
      expect(await questions.history(LOC, '07', { from: start, to: start + HOUR_MS })).toMatchObject({
        keg_id: null,
        data: [{ t: start + 6 * MINUTE_MS }, { t: start + 7 * MINUTE_MS }],
      })
    })

    test('S58, S-f: the rate is the poured beer per observed hour, of this keg only', async () => {
      const swap = tapped({ keg_id: 'keg-2', tapped_at: start + HOUR_MS, ...at(HOUR_MS) })
      const poured = [160, 160, 158, 158, 158, 158, 155, 155, 155, 155, 155]
      const questions = await queriesOf([
        ...bar(),
        ...readings(MINUTE_MS, [40, 40, 40]),
        swap,
        ...readings(HOUR_MS, poured, { every: 6 * MINUTE_MS }),
      ])
      const rate = await questions.rate(LOC, '07', start + 2 * HOUR_MS)
      expect(rate).toMatchObject({ keg_id: 'keg-2', window_hours: 6, observed_hours: 1 })
      expect(rate?.gallons_per_hour).toBeCloseTo(gallonsOfLbs(5, 1.014), 9)
      expect(rate?.gallons_left).toBeCloseTo(gallonsOfLbs(126, 1.014), 9)
      expect(rate?.hours_remaining).toBeCloseTo(126 / 5, 9)
    })

    test('S-f: if nothing was poured or observed, the rate is null', async () => {
      const questions = await queriesOf([...bar(), ...readings(MINUTE_MS, [90, 90.01, 89.99])])
      expect(await questions.rate(LOC, '07', start + HOUR_MS)).toMatchObject({
        poured_gallons: 0,
        gallons_per_hour: null,
        hours_remaining: null,
      })
      expect(await questions.rate(LOC, '07', start + 48 * HOUR_MS)).toMatchObject({
        observed_hours: 0,
        gallons_per_hour: null,
        gallons_left: null,
      })
      expect(await questions.rate(LOC, '09', start)).toBeUndefined()
    })

    test('S59, S-h: the lifespan of a keg, and the beer that was poured from it', async () => {
      const swap = tapped({ keg_id: 'keg-2', tapped_at: start + 4 * HOUR_MS, ...at(4 * HOUR_MS) })
      const questions = await queriesOf([
        ...bar(),
        ...readings(0, [160, 160, 158, 158, 158, 150, 150, 150], { every: 30 * MINUTE_MS }),
        swap,
        ...readings(5 * HOUR_MS, [160, 160]),
      ])
      const lifespan = await questions.lifespan(LOC, 'keg-1', start + 9 * HOUR_MS)
      expect(lifespan).toMatchObject({
        keg_id: 'keg-1',
        beer_id: 'guinness',
        tapped_at: start,
        finished_at: start + 4 * HOUR_MS,
        last_reading: start + 3.5 * HOUR_MS,
        lifespan_hours: 3,
      })
      expect(lifespan?.total_poured_gallons).toBeCloseTo(gallonsOfLbs(10, 1.014), 9)
      expect(await questions.lifespan('elsewhere', 'keg-1', start)).toBeUndefined()
      expect(await questions.lifespan(LOC, 'keg-0', start)).toBeUndefined()
    })

    test('beer that left a keg while its scale was silent is not a pour, and counts in the lifespan', async () => {
      const silent = [
        ...bar(),
        ...readings(0, [160, 160, 158, 158, 158]),
        ...readings(3 * HOUR_MS, [150, 150, 149, 149]),
      ]
      const questions = await queriesOf(silent)
      const [unseen, poured] = [gallonsOfLbs(8, 1.014), gallonsOfLbs(3, 1.014)]
      const lifespan = await questions.lifespan(LOC, 'keg-1', start + DAY_MS)
      expect(lifespan?.unseen_gallons).toBeCloseTo(unseen, 9)
      expect(lifespan?.total_poured_gallons).toBeCloseTo(unseen + poured, 9)
      const rate = await questions.rate(LOC, '07', start + 4 * HOUR_MS)
      expect(rate?.unseen_gallons).toBeCloseTo(unseen, 9)
      expect(rate?.poured_gallons).toBeCloseTo(poured, 9)
      expect(rate?.observed_hours).toBeCloseTo(7 / 60, 9)
      expect(rate?.gallons_per_hour).toBeCloseTo(poured / (7 / 60), 9)
      const byHour = await questions.poursByHour(LOC, { from: start, to: start + DAY_MS })
      expect(byHour.unseen_gallons).toBeCloseTo(unseen, 9)
      expect(byHour.hours.reduce((sum, { pours }) => sum + pours, 0)).toBe(2)
      const corrections = await queriesOf([...silent, corrected({ from: start, ...at(4 * HOUR_MS) })])
      expect((await corrections.lifespan(LOC, 'keg-9', start + DAY_MS))?.unseen_gallons).toBeCloseTo(
        gallonsOfLbs(8, 1.01),
        9,
      )
      expect(await corrections.lifespan(LOC, 'keg-1', start + DAY_MS)).toMatchObject({
        unseen_gallons: 0,
        total_poured_gallons: 0,
      })
      const voids = await queriesOf([...silent, voided({ from: start, to: start + DAY_MS, ...at(4 * HOUR_MS) })])
      expect(await voids.lifespan(LOC, 'keg-1', start + DAY_MS)).toMatchObject({ unseen_gallons: 0 })
    })

    test('a silence of the scale is no observed time, also if no beer left in it or its beer was voided', async () => {
      const quiet = [...bar(), ...readings(0, [160, 160, 156, 156, 156]), ...readings(2 * HOUR_MS, [156, 156, 156])]
      const other = [
        assigned({ device_id: 'SCALE-0043', ...at(HOUR_MS) }),
        ...readings(2 * HOUR_MS, [156, 156, 156], { device_id: 'SCALE-0043' }),
      ]
      const swapped = [registered({ device_id: 'SCALE-0043', ...at(0) }), ...quiet.slice(0, -3), ...other]
      const lost = [...quiet.slice(0, -3), ...readings(2 * HOUR_MS, [150, 150, 150])]
      const isVoid = voided({ from: start + 4 * MINUTE_MS, to: start + 3 * HOUR_MS, ...at(4 * HOUR_MS) })
      for (const events of [quiet, swapped, lost, [...lost, isVoid]]) {
        const rate = await (await queriesOf(events)).rate(LOC, '07', start + 5 * HOUR_MS)
        expect(rate?.observed_hours).toBeCloseTo(6 / 60, 9)
        expect(rate?.poured_gallons).toBeCloseTo(gallonsOfLbs(4, 1.014), 9)
        expect(rate?.unseen_gallons).toBeCloseTo(events === lost ? gallonsOfLbs(6, 1.014) : 0, 9)
      }
    })

    test('the difference of the levels of two kegs is not beer of either keg, also if the swap is recorded late', async () => {
      const swap = (ms: number, recorded: number) => tapped({ keg_id: 'keg-2', tapped_at: start + ms, ...at(recorded) })
      const silent = [...readings(0, [110, 110]), ...readings(HOUR_MS, [90, 90])]
      const watched = readings(0, [110, 110, 106, 106, 106, 106])
      for (const events of [
        [...silent, swap(30 * MINUTE_MS, 2 * HOUR_MS)],
        [...silent.slice(0, 2), swap(30 * MINUTE_MS, 30 * MINUTE_MS), ...silent.slice(2)],
        [...watched, swap(1.5 * MINUTE_MS, 2 * HOUR_MS)],
        [...silent, corrected({ from: start + 30 * MINUTE_MS, ...at(2 * HOUR_MS) })],
        [...silent, finished({ at: start + 30 * MINUTE_MS, ...at(2 * HOUR_MS) })],
      ]) {
        const questions = await queriesOf([...bar(), ...events])
        for (const keg of ['keg-1', 'keg-2', 'keg-9'])
          expect((await questions.lifespan(LOC, keg, start + DAY_MS))?.total_poured_gallons ?? 0).toBe(0)
        expect(await questions.rate(LOC, '07', start + 3 * HOUR_MS)).toMatchObject({
          poured_gallons: 0,
          unseen_gallons: 0,
        })
        const { hours, unseen_gallons } = await questions.poursByHour(LOC, { from: start, to: start + DAY_MS })
        expect([unseen_gallons, hours.filter(({ pours }) => pours > 0)]).toEqual([0, []])
        expect(await questions.poursByBeer(LOC, { from: start, to: start + DAY_MS })).toEqual([])
      }
    })

    test("S60, S-g: pours by the hour of the location's own day", async () => {
      const zone = settings({ timezone: 'Asia/Kolkata', ...at(0) })
      const questions = await queriesOf([
        ...bar(),
        zone,
        ...readings(HOUR_MS, [160, 160, 158, 158, 158]),
        ...readings(2 * HOUR_MS, [158, 157, 157, 157]),
      ])
      const { timezone, hours } = await questions.poursByHour(LOC, { from: start, to: start + DAY_MS })
      expect(timezone).toBe('Asia/Kolkata')
      expect(hours).toHaveLength(24)
      expect(
        hours
          .filter(({ pours }) => pours > 0)
          .map(({ hour_of_day, pours, gallons }) => [hour_of_day, pours, gallons.toFixed(6)]),
      ).toEqual([
        [6, 1, gallonsOfLbs(2, 1.014).toFixed(6)],
        [7, 1, gallonsOfLbs(1, 1.014).toFixed(6)],
      ])
    })

    test('no answer contains a voided pour', async () => {
      const events = [
        ...bar(),
        ...readings(HOUR_MS, [160, 160, 158, 158, 158]),
        voided({ from: start, to: start + 2 * HOUR_MS, ...at(3 * HOUR_MS) }),
      ]
      const questions = await queriesOf(events)
      expect(
        (await questions.poursByHour(LOC, { from: start, to: start + DAY_MS })).hours.every(({ pours }) => pours === 0),
      ).toBe(true)
      expect(await questions.lifespan(LOC, 'keg-1', start + DAY_MS)).toMatchObject({ total_poured_gallons: 0 })
    })

    test("S-g: the hourly level of the source document's query is available", async () => {
      const questions = await queriesOf([...bar(), ...readings(HOUR_MS, [160, 150]), ...readings(2 * HOUR_MS, [100])])
      const hours = await questions.levelByHour(LOC, { from: start, to: start + DAY_MS })
      expect(hours.map(({ hour_of_day, avg_gallons }) => [hour_of_day, avg_gallons.toFixed(6)])).toEqual([
        [1, gallonsOfLbs(126, 1.014).toFixed(6)],
        [2, gallonsOfLbs(71, 1.014).toFixed(6)],
      ])
    })

    test('S-m, S-g: a correction, or a keg that is recorded late, changes the hourly level at once, also for earlier readings', async () => {
      const wrong = [...bar(), ...readings(HOUR_MS, [160, 150]), ...readings(2 * HOUR_MS, [100, 90])]
      const levels = async (...events: readonly Event[]) =>
        (await (await queriesOf([...wrong, ...events])).levelByHour(LOC, { from: start, to: start + DAY_MS })).map(
          ({ hour_of_day, avg_gallons }) => [hour_of_day, avg_gallons.toFixed(6)],
        )
      const right = corrected({ from: start + 2 * HOUR_MS, empty_lbs: 40, ...at(3 * HOUR_MS) })
      expect(await levels(right)).toEqual([
        [1, gallonsOfLbs(126, 1.014).toFixed(6)],
        [2, gallonsOfLbs(55, 1.01).toFixed(6)],
      ])
      const late = tapped({
        keg_id: 'keg-2',
        empty_lbs: 49,
        sg: 1,
        tapped_at: start + 2 * HOUR_MS + 30_000,
        ...at(3 * HOUR_MS),
      })
      expect(await levels(late)).toEqual([
        [1, gallonsOfLbs(126, 1.014).toFixed(6)],
        [2, ((gallonsOfLbs(71, 1.014) + gallonsOfLbs(41, 1)) / 2).toFixed(6)],
      ])
      expect(await levels(finished({ at: start + 2 * HOUR_MS, ...at(3 * HOUR_MS) }))).toEqual([
        [1, gallonsOfLbs(126, 1.014).toFixed(6)],
      ])
    })

    test('every answer is equal to the last digit in two generations that were written in another order', async () => {
      const [one, two] = ['SCALE-0042', 'SCALE-2'].map((device_id, tap) =>
        Array.from({ length: 60 }, (_, n) => ({
          device_id,
          weight: 160 - tap / 3 - Math.floor(n / 3) * (0.7 + tap / 7),
          battery_pct: 90 - n / 7,
          n,
        })),
      )
      const other = [
        registered({ device_id: 'SCALE-2', ...at(0) }),
        assigned({ tap: '08', device_id: 'SCALE-2', ...at(0) }),
        tapped({ tap: '08', keg_id: 'keg-2', beer_id: 'modelo', sg: 1.01, tapped_at: start, ...at(0) }),
      ]
      const events = [
        ...bar(),
        ...other,
        ...[...(one ?? []), ...(two ?? [])].flatMap(({ device_id, weight, battery_pct, n }) =>
          readings(HOUR_MS + n * 3 * MINUTE_MS, [weight], { device_id, battery_pct }),
        ),
      ]
      const answers = async (order: (points: readonly Versioned[]) => readonly Versioned[], size: number) => {
        const { table, points } = measuredBy(events)
        const series = under.stores.open(kegReadings, ++generations)
        const ordered = order(points)
        for (let from = 0; from < ordered.length; from += size) await series.write(ordered.slice(from, from + size))
        const questions = seriesQueries({ reader: readerOf(table), points: series.reader })
        const range = { from: start, to: start + DAY_MS }
        return [
          await questions.history(LOC, '07', range),
          await questions.history(LOC, '08', range),
          await questions.rate(LOC, '08', start + 5 * HOUR_MS),
          await questions.lifespan(LOC, 'keg-1', start + DAY_MS),
          await questions.poursByHour(LOC, range),
          await questions.levelByHour(LOC, range),
          await questions.batteryTrend(LOC, range),
          await questions.poursByBeer(LOC, range),
        ]
      }
      const inOrder = await answers((points) => points, 100)
      expect(await answers((points) => [...points].reverse(), 7)).toEqual(inOrder)
      expect(inOrder.slice(-2)).toMatchObject([{ length: 2 }, [{ beer_id: 'guinness' }, { beer_id: 'modelo' }]])
    })

    test('S61: the battery of each device by day', async () => {
      const other = [
        registered({ device_id: 'SCALE-2', ...at(0) }),
        assigned({ tap: '08', device_id: 'SCALE-2', ...at(0) }),
      ]
      const questions = await queriesOf([
        ...bar(),
        ...other,
        ...readings(HOUR_MS, [90, 90], { battery_pct: 60 }),
        ...readings(3 * HOUR_MS, [90], { battery_pct: 30 }),
        ...readings(HOUR_MS, [0], { device_id: 'SCALE-2', battery_pct: 90 }),
      ])
      expect(await questions.batteryTrend(LOC, { from: start, to: start + DAY_MS })).toEqual([
        { day: start, device_id: 'SCALE-0042', avg_battery_pct: 50, min_battery_pct: 30 },
        { day: start, device_id: 'SCALE-2', avg_battery_pct: 90, min_battery_pct: 90 },
      ])
    })

    test('S62: gallons by beer', async () => {
      const swap = tapped({
        keg_id: 'keg-2',
        beer_id: 'modelo',
        sg: 1.01,
        tapped_at: start + 2 * HOUR_MS,
        ...at(2 * HOUR_MS),
      })
      const questions = await queriesOf([
        ...bar(),
        ...readings(HOUR_MS, [160, 160, 158, 158, 158]),
        swap,
        ...readings(3 * HOUR_MS, [160, 160, 159, 159, 159]),
      ])
      const split = await questions.poursByBeer(LOC, { from: start, to: start + DAY_MS })
      expect(split.map(({ beer_id, gallons }) => [beer_id, gallons.toFixed(6)])).toEqual([
        ['guinness', gallonsOfLbs(2, 1.014).toFixed(6)],
        ['modelo', gallonsOfLbs(1, 1.01).toFixed(6)],
      ])
    })

    test('S-m: readings and pours of a wrong keg belong to the right keg, with its gravity', async () => {
      const wrong = [...bar(), ...readings(0, [160, 160, 158, 158, 158], { every: 6 * MINUTE_MS })]
      const questions = await queriesOf([
        ...wrong,
        corrected({ from: start, ...at(HOUR_MS) }),
        ...readings(HOUR_MS, [158, 157, 157, 157], { every: 6 * MINUTE_MS }),
      ])
      const lifespan = await questions.lifespan(LOC, 'keg-9', start + DAY_MS)
      expect(lifespan?.total_poured_gallons).toBeCloseTo(gallonsOfLbs(3, 1.01), 9)
      expect(await questions.lifespan(LOC, 'keg-1', start + DAY_MS)).toMatchObject({
        total_poured_gallons: 0,
        last_reading: null,
      })
      expect((await questions.history(LOC, '07', { from: start, to: start + 2 * HOUR_MS }))?.data).toHaveLength(9)
      expect(await questions.rate(LOC, '07', start + 2 * HOUR_MS)).toMatchObject({ keg_id: 'keg-9' })
    })
  })
}

test('S65: the length of the bins depends on the range, so that a chart has a few hundred bins', () => {
  expect([6 * HOUR_MS, DAY_MS, 7 * DAY_MS, 30 * DAY_MS, 365 * DAY_MS].map((range) => binOf(range) / MINUTE_MS)).toEqual(
    [1, 5, 30, 120, 1440],
  )
})
