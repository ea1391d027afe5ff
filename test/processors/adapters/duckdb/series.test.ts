import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { duckdbSeries } from '../../../../processors/adapters/duckdb/series.ts'
import { kegReadings } from '../../../../projections/scales/series.ts'
import type { SeriesSpec } from '../../../../projections/series.ts'
import { seriesContract } from '../../../contracts/series.ts'
import { questionsContract } from '../../../contracts/series-questions.ts'

const START = Date.UTC(2026, 2, 18)

seriesContract('embedded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-series-'))
  return { stores: duckdbSeries({ folder }), start: START, cleanup: () => rm(folder, { recursive: true }) }
})

const SPEC: SeriesSpec = {
  database: 'test',
  name: 'points',
  dims: ['tap_id'],
  measures: { reading: { level_pct: 'number' } },
  rows: { key: ({ at }) => ({ PK: 'P', SK: String(at) }), ttlSeconds: 1 },
}

const point = (at: number) => ({ measure: 'reading', dims: { tap_id: 'a' }, at, version: 1, values: { level_pct: 1 } })

test('written points are in the file after it was opened again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-series-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (let times = 0; times < 2; times += 1) {
    const stores = duckdbSeries({ folder })
    await stores.open(SPEC, 1).write([point(START + times)])
    await stores.close()
  }
  const stores = duckdbSeries({ folder })
  const found = []
  for await (const page of stores.open(SPEC, 1).list()) found.push(...page)
  await stores.close()
  expect(found).toEqual([point(START), point(START + 1)])
})

test('a file that was created before a measure was added keeps its points and accepts points of that measure', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-series-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { unseen, ...older } = kegReadings.measures
  const dims = { tap_id: 'loc-001#TAP#07', loc_id: 'loc-001', device_id: 'SCALE-0042' }
  const values = { gallons: 0.5, sg: 1.01, ended_at: START + 1, keg_id: 'keg-1' }
  const [pour, missed] = ['pour', 'unseen'].map((measure) => ({ measure, dims, at: START, version: 1, values }))
  const before = duckdbSeries({ folder })
  await before.open({ ...kegReadings, measures: older }, 1).write(pour === undefined ? [] : [pour])
  await before.close()
  const stores = duckdbSeries({ folder })
  const series = stores.open(kegReadings, 1)
  await series.write(missed === undefined ? [] : [missed])
  const found = []
  for await (const page of series.list()) found.push(...page)
  await stores.close()
  expect(unseen).toBeDefined()
  expect(found).toEqual([pour, missed])
})

test('a file that cannot be opened causes a retriable fault, and writes succeed when it can be opened', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-series-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const blocker = join(folder, 'test.points')
  const { writeFile } = await import('node:fs/promises')
  await writeFile(blocker, 'a file where a folder should be')
  const stores = duckdbSeries({ folder })
  const series = stores.open(SPEC, 1)
  await expect(series.write([point(START)])).rejects.toMatchObject({ code: 'series-unavailable', retriable: true })
  await rm(blocker)
  expect(await series.write([point(START)])).toEqual([])
  await stores.close()
})

questionsContract('embedded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-series-'))
  return { stores: duckdbSeries({ folder }), start: START, cleanup: () => rm(folder, { recursive: true }) }
})
