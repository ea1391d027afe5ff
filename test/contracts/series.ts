import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PARTS, type Point, type SeriesReader, type SeriesSpec, type Stretch } from '../../projections/series.ts'
import type { Series, SeriesStores, Versioned } from '../../processors/engine/ports/series.ts'

export interface SeriesUnderTest {
  readonly stores: SeriesStores
  /** The time of the first points of the suite: the start of a UTC day, at which a bin begins. It must be recent, because stores reject old points. */
  readonly start: number
  readonly cleanup: () => Promise<void>
}

export const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** The contract of the series port. Every adapter runs it. Each test has a table of its own. */
export const seriesContract = (name: string, open: () => Promise<SeriesUnderTest>): void => {
  describe(`the series contract, ${name}`, () => {
    let under: SeriesUnderTest
    let tables = 0
    beforeAll(async () => {
      under = await open()
    })
    afterAll(async () => {
      await under.stores.close()
      await under.cleanup()
    })
    const fresh = (): Fresh => {
      const spec = specNamed(`series-contract-${++tables}`)
      return { spec, start: under.start, stores: under.stores, series: under.stores.open(spec, 1) }
    }
    describe('writes', () => writes(fresh))
    describe('points', () => points(fresh))
    describe('bins', () => bins(fresh))
    describe('generations', () => generations(fresh))
  })
}

interface Fresh {
  readonly spec: SeriesSpec
  readonly start: number
  readonly stores: SeriesStores
  readonly series: Series
}

const specNamed = (name: string): SeriesSpec => ({
  database: 'contract',
  name,
  dims: ['tap_id', 'loc_id', 'device_id'],
  measures: { reading: { level_pct: 'number', gallons: 'number', keg_id: 'text' }, pour: { gallons: 'number' } },
  rows: {
    key: ({ measure, dims, at, values }) => ({
      PK: `${measure}#${String(values['keg_id'] ?? dims['tap_id'])}`,
      SK: new Date(at).toISOString(),
    }),
    ttlSeconds: 365 * 24 * 60 * 60,
  },
})

const DIMS = { tap_id: 'loc-1#TAP#01', loc_id: 'loc-1', device_id: 'SCALE-1' }
const OTHER_TAP = { tap_id: 'loc-1#TAP#02', loc_id: 'loc-1', device_id: 'SCALE-2' }

interface GivenPoint {
  readonly level?: number | null
  readonly gallons?: number
  readonly keg?: string | null
  readonly dims?: Point['dims']
  readonly version?: number
}

const reading = (
  at: number,
  { level = 50, gallons = 7.5, keg = 'keg-1', dims = DIMS, version = 1 }: GivenPoint = {},
): Versioned => ({ measure: 'reading', dims, at, version, values: { level_pct: level, gallons, keg_id: keg } })

const pour = (at: number, gallons: number): Versioned => ({
  measure: 'pour',
  dims: DIMS,
  at,
  version: 1,
  values: { gallons },
})

const stretch = (from: number, to: number, over: Partial<Stretch> = {}): Stretch => ({
  measure: 'reading',
  where: { tap_id: DIMS.tap_id },
  from,
  to,
  partitions: ['reading#keg-1', `reading#${DIMS.tap_id}`],
  ...over,
})

const all = async (
  reader: SeriesReader,
  of: Stretch,
  only?: Parameters<SeriesReader['points']>[1],
): Promise<readonly Point[]> => {
  const found: Point[] = []
  for await (const page of reader.points(of, only)) found.push(...page)
  return found
}

const listed = async (series: Series): Promise<readonly Point[]> => {
  const found: Point[] = []
  for await (const page of series.list()) found.push(...page)
  return found
}

const bare = ({ measure, dims, at, values }: Point): Point => ({ measure, dims, at, values })

const writes = (fresh: () => Fresh): void => {
  test('a point is read as it was written, and its missing values are null', async () => {
    const { series, start } = fresh()
    const written = [reading(start, { level: null, keg: null }), reading(start + 1, { level: 12.5, gallons: -0.25 })]
    expect(await series.write(written)).toEqual([])
    expect((await all(series.reader, stretch(start, start + 2))).map(bare)).toEqual(written.map(bare))
  })

  test('a point that is written twice is stored once', async () => {
    const { series, start } = fresh()
    for (let times = 0; times < 3; times += 1)
      expect(await series.write([reading(start), pour(start, 0.1)])).toEqual([])
    expect(await listed(series)).toHaveLength(2)
  })

  test('if two points have one instant, the point of the higher version stays, in any order of the writes', async () => {
    const { series, start } = fresh()
    const [older, newer] = [reading(start, { level: 1, version: 5 }), reading(start, { level: 2, version: 6 })]
    await series.write([newer])
    expect(await series.write([older])).toEqual([])
    await series.write([reading(start + 1, { level: 1, version: 5 })])
    await series.write([reading(start + 1, { level: 2, version: 6 })])
    await series.write([reading(start + 2, { level: 2, version: 6 }), reading(start + 2, { level: 1, version: 5 })])
    expect((await listed(series)).map(({ values }) => values['level_pct'])).toEqual([2, 2, 2])
  })

  test('points of one instant with different measures or dimensions are different points', async () => {
    const { series, start } = fresh()
    await series.write([reading(start), reading(start, { dims: OTHER_TAP, keg: 'keg-2' }), pour(start, 0.1)])
    expect(await listed(series)).toHaveLength(3)
  })

  test('more points than fit one request are all written', async () => {
    const { series, start } = fresh()
    const many = Array.from({ length: 250 }, (_, index) => reading(start + index * 1000, { level: index }))
    await series.write(many)
    expect((await all(series.reader, stretch(start, start + DAY_MS))).map(({ values }) => values['level_pct'])).toEqual(
      many.map(({ values }) => values['level_pct']),
    )
  })

  test('a write of no points succeeds', async () => {
    const { series } = fresh()
    expect(await series.write([])).toEqual([])
    expect(await listed(series)).toEqual([])
  })
}

const points = (fresh: () => Fresh): void => {
  test('a range includes its start and not its end, and only points with its dimensions', async () => {
    const { series, start } = fresh()
    await series.write(
      [0, 1, 2, 3].map((at) => reading(start + at)).concat(reading(start + 1, { dims: OTHER_TAP, keg: 'keg-2' })),
    )
    expect((await all(series.reader, stretch(start + 1, start + 3))).map(({ at }) => at - start)).toEqual([1, 2])
    expect(
      await all(series.reader, stretch(start, start + 9, { where: { tap_id: 'loc-1#TAP#09' }, partitions: [] })),
    ).toEqual([])
    expect(await all(series.reader, stretch(start + 3, start + 3))).toEqual([])
  })

  test('the newest points come first on request, and no more than the limit', async () => {
    const { series, start } = fresh()
    await series.write([0, 1, 2, 3].map((at) => reading(start + at)))
    expect(
      (await all(series.reader, stretch(start, start + 3), { newest: true, limit: 2 })).map(({ at }) => at - start),
    ).toEqual([2, 1])
    expect((await all(series.reader, stretch(start, start + 3), { limit: 1 })).map(({ at }) => at - start)).toEqual([0])
  })

  test('the points of a location come in the order of time', async () => {
    const { series, start } = fresh()
    await series.write([
      reading(start + 2),
      reading(start + 1, { dims: OTHER_TAP, keg: 'keg-2' }),
      reading(start, { keg: null }),
    ])
    const ofLocation = stretch(start, start + 9, {
      where: { loc_id: 'loc-1' },
      partitions: ['reading#keg-1', 'reading#keg-2', `reading#${DIMS.tap_id}`],
    })
    expect((await all(series.reader, ofLocation)).map(({ at, dims }) => [at - start, dims['device_id']])).toEqual([
      [0, 'SCALE-1'],
      [1, 'SCALE-2'],
      [2, 'SCALE-1'],
    ])
  })

  test('quotes in a dimension are only text', async () => {
    const { series, start } = fresh()
    await series.write([reading(start)])
    expect(
      await all(series.reader, stretch(start, start + 9, { where: { tap_id: "x' OR '1'='1" }, partitions: [] })),
    ).toEqual([])
  })
}

const bins = (fresh: () => Fresh): void => {
  test('a bin has the count, the sum and the minimum of the points that have the value', async () => {
    const { series, start } = fresh()
    await series.write([
      reading(start, { level: 10 }),
      reading(start + 1, { level: 20 }),
      reading(start + 2, { level: null }),
      reading(start + MINUTE_MS, { level: 7 }),
      reading(start + 3 * MINUTE_MS, { level: null }),
    ])
    const found = await series.reader.bins(stretch(start, start + DAY_MS), { ms: MINUTE_MS, of: ['level_pct'] })
    expect(found.filter(({ values }) => values['level_pct'] !== undefined)).toEqual([
      { at: start, values: { level_pct: { count: 2, sum: 30 * PARTS, min: 10 } } },
      { at: start + MINUTE_MS, values: { level_pct: { count: 1, sum: 7 * PARTS, min: 7 } } },
    ])
  })

  test('there can be one bin per value of a dimension', async () => {
    const { series, start } = fresh()
    await series.write([
      reading(start, { level: 10 }),
      reading(start + 1, { level: 20, dims: { ...DIMS, tap_id: 'loc-1#TAP#03' } }),
      reading(start, { level: 5, dims: OTHER_TAP, keg: 'keg-2' }),
    ])
    const ofLocation = stretch(start, start + DAY_MS, {
      where: { loc_id: 'loc-1' },
      partitions: ['reading#keg-1', 'reading#keg-2'],
    })
    expect(await series.reader.bins(ofLocation, { ms: DAY_MS, by: 'device_id', of: ['level_pct'] })).toEqual([
      { at: start, by: 'SCALE-1', values: { level_pct: { count: 2, sum: 30 * PARTS, min: 10 } } },
      { at: start, by: 'SCALE-2', values: { level_pct: { count: 1, sum: 5 * PARTS, min: 5 } } },
    ])
  })

  test('sums are computed in whole millionths, so that they are equal to the last digit in every generation', async () => {
    const { series, stores, spec, start } = fresh()
    const next = stores.open(spec, 2)
    const levels = Array.from(
      { length: 200 },
      (_, index) => (index % 7 === 0 ? -1 : 1) * (0.1 + ((index * 7919) % 1000) / 3),
    )
    const written = levels.map((level, index) =>
      reading(start + index * 100, { level, ...(index % 2 === 1 && { dims: { ...DIMS, device_id: 'SCALE-9' } }) }),
    )
    await series.write(written)
    for (let from = written.length; from > 0; from -= 13)
      await next.write(written.slice(Math.max(0, from - 13), from).reverse())
    const sum = levels.reduce((total, level) => total + Math.sign(level) * Math.round(Math.abs(level) * PARTS), 0)
    for (const binning of [
      { ms: MINUTE_MS, of: ['level_pct'] },
      { ms: DAY_MS, by: 'device_id', of: ['level_pct'] },
    ]) {
      const [one, two] = await Promise.all(
        [series, next].map(({ reader }) => reader.bins(stretch(start, start + DAY_MS), binning)),
      )
      expect(one).toEqual(two)
      expect(one?.reduce((total, { values }) => total + (values['level_pct']?.sum ?? 0), 0)).toBe(sum)
    }
  })
}

const generations = (fresh: () => Fresh): void => {
  test('points are listed by measure, dimensions and time', async () => {
    const { series, start } = fresh()
    await series.write([
      reading(start + 1),
      reading(start, { dims: OTHER_TAP, keg: 'keg-2' }),
      pour(start + 5, 0.2),
      reading(start),
    ])
    expect((await listed(series)).map(({ measure, dims, at }) => [measure, dims['tap_id'], at - start])).toEqual([
      ['pour', DIMS.tap_id, 5],
      ['reading', DIMS.tap_id, 0],
      ['reading', DIMS.tap_id, 1],
      ['reading', OTHER_TAP.tap_id, 0],
    ])
  })

  test('a generation has points of its own, and a dropped one has none', async () => {
    const { series, stores, spec, start } = fresh()
    const next = stores.open(spec, 2)
    await series.write([reading(start)])
    await next.write([reading(start, { level: 1 }), reading(start + 1)])
    expect([(await listed(series)).length, (await listed(next)).length]).toEqual([1, 2])
    await next.close()
    await stores.drop(spec, 2)
    await stores.drop(spec, 2)
    const again = stores.open(spec, 2)
    expect(await listed(again)).toEqual([])
    expect(await listed(series)).toHaveLength(1)
  })
}
