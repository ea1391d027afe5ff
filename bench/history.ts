import { duckdbSeries } from '../processors/adapters/duckdb/series.ts'
import type { Versioned } from '../processors/engine/ports/series.ts'
import type { Key } from '../projections/item.ts'
import type { Reader } from '../projections/table.ts'
import type { TimelineItem } from '../projections/scales/items.ts'
import { tapIdOf, timelines } from '../projections/scales/keys.ts'
import { kegReadings } from '../projections/scales/series.ts'
import { seriesQueries } from '../projections/scales/series-queries.ts'
import { inFolder } from './folder.ts'
import { readingAt } from '../domains/scales/benchmark-events.ts'
import { perSecond, printTable, quantile } from './table.ts'

const MINUTE = 60_000
const YEAR = 525_600
const CHUNK = 5_000
const QUERIES = 30
const [LOC, TAP, FROM] = ['loc-001', '07', Date.UTC(2025, 10, 16)]

const pointAt = (nth: number): Versioned => ({
  measure: 'reading',
  at: FROM + nth * MINUTE,
  version: nth + 1,
  dims: { tap_id: tapIdOf(LOC, TAP), loc_id: LOC, device_id: 'scale-0' },
  values: { ...readingAt(nth), gallons: 10, keg_id: 'keg-0' },
})

/** The timeline of a tap that has the same keg all the time. */
const timeline: TimelineItem = {
  ...timelines.key(LOC, TAP),
  since: 0,
  kegs: [
    {
      keg_id: 'keg-0',
      beer_id: 'ipa',
      keg_type: 'half_barrel',
      full_lbs: 161.5,
      empty_lbs: 29,
      sg: 1.013,
      from: FROM,
      to: null,
    },
  ],
}
const reader = {
  get: async () => timeline,
  getMany: async (keys: readonly Key[]) => keys.map(({ SK }) => (SK === timeline.SK ? timeline : undefined)),
  query: async () => ({ items: [] }),
} as Reader

/** Measures the time of history queries over a year of readings of one keg, with one reading per minute. Uses the embedded store (DuckDB). */
export const historyBench = (): Promise<void> =>
  inFolder(async (folder) => {
    const stores = duckdbSeries({ folder })
    try {
      const series = stores.open(kegReadings, 1)
      const began = performance.now()
      for (let nth = 0; nth < YEAR; nth += CHUNK)
        await series.write(Array.from({ length: Math.min(CHUNK, YEAR - nth) }, (_, index) => pointAt(nth + index)))
      process.stderr.write(
        `  ${YEAR.toLocaleString('en')} points written, ${perSecond(YEAR, (performance.now() - began) / 1000)}/s\n`,
      )
      const { history } = seriesQueries({ reader, points: series.reader })
      const ranges = [
        ['a year', YEAR],
        ['a month', 43_200],
        ['a day', 1_440],
      ] as const
      const rows: (string | number)[][] = []
      for (const [name, minutes] of ranges) rows.push(await timeQueries(name, minutes, history))
      printTable(`history: over ${YEAR.toLocaleString('en')} points of one keg, embedded, ${QUERIES} queries each`, [
        ['', 'first ms', 'p50 ms', 'p99 ms', 'bins'],
        ...rows,
      ])
    } finally {
      await stores.close()
    }
  })

const timeQueries = async (name: string, minutes: number, history: ReturnType<typeof seriesQueries>['history']) => {
  const to = FROM + YEAR * MINUTE
  const times: number[] = []
  let bins = 0
  for (let count = 0; count < QUERIES; count += 1) {
    const began = performance.now()
    bins = (await history(LOC, TAP, { from: to - minutes * MINUTE, to }))?.data.length ?? 0
    times.push(performance.now() - began)
  }
  if (bins === 0) throw new Error('The history is empty, so nothing was measured.')
  return [name, (times[0] ?? 0).toFixed(1), quantile(times, 0.5).toFixed(1), quantile(times, 0.99).toFixed(1), bins]
}
