import { DescribeTableCommand, TimestreamWriteClient } from '@aws-sdk/client-timestream-write'
import { expect, onTestFinished, test } from 'vitest'
import { startTimestreamLocal } from '../../../../timestream-local/server.ts'
import { recordsOf } from '../../../../processors/adapters/timestream/records.ts'
import { timestreamSeries } from '../../../../processors/adapters/timestream/series.ts'
import type { Series, Versioned } from '../../../../processors/engine/ports/series.ts'
import type { SeriesSpec } from '../../../../projections/series.ts'
import { DAY_MS, seriesContract } from '../../../contracts/series.ts'
import { questionsContract } from '../../../contracts/series-questions.ts'

const NOW = Date.UTC(2026, 2, 18, 12)

seriesContract('Timestream', async () => {
  const server = await startTimestreamLocal({ port: 0, now: () => NOW })
  // The points start today, because Timestream keeps recent points in its memory store. Only there, a write immediately returns existing versions.
  return {
    stores: timestreamSeries({ endpoint: server.endpoint }),
    start: Math.floor(NOW / DAY_MS) * DAY_MS,
    cleanup: () => server.close(),
  }
})

const SPEC: SeriesSpec = {
  database: 'test',
  name: 'points',
  dims: ['tap_id', 'loc_id'],
  measures: { reading: { level_pct: 'number', note: 'text' } },
  rows: { key: ({ at }) => ({ PK: 'P', SK: String(at) }), ttlSeconds: 1 },
}

const point = (at: number, values: Versioned['values'] = { level_pct: 1 }): Versioned => ({
  measure: 'reading',
  dims: { tap_id: 'a', loc_id: 'l' },
  at,
  version: 1,
  values,
})

const started = async () => {
  const server = await startTimestreamLocal({ port: 0, now: () => NOW })
  const stores = timestreamSeries({ endpoint: server.endpoint })
  onTestFinished(async () => {
    await stores.close()
    await server.close()
  })
  return { server, series: stores.open(SPEC, 1) }
}

const times = async (series: Series): Promise<readonly number[]> => {
  const found: number[] = []
  for await (const page of series.list()) found.push(...page.map(({ at }) => at))
  return found
}

test('one of a hundred points outside of the retention is reported with the reason, and the others are written', async () => {
  const { series } = await started()
  const tooOld = point(NOW - 400 * DAY_MS)
  const others = Array.from({ length: 99 }, (_, index) => point(NOW - index * 1000))
  const rejected = await series.write([...others.slice(0, 50), tooOld, ...others.slice(50)])
  expect(rejected).toMatchObject([
    { point: { at: tooOld.at }, reason: expect.stringContaining('outside the time range') as string },
  ])
  expect(await times(series)).toHaveLength(99)
})

test('S63: points older than the memory store and not older than a year are written', async () => {
  const { series } = await started()
  expect(await series.write([point(NOW - 300 * DAY_MS), point(NOW - 2 * DAY_MS), point(NOW)])).toEqual([])
  expect(await times(series)).toHaveLength(3)
})

test('S63: a table stores the last day in memory and a year on disk', async () => {
  const { server, series } = await started()
  await series.write([point(NOW)])
  const client = new TimestreamWriteClient({
    endpoint: server.endpoint,
    region: 'local',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  })
  onTestFinished(() => client.destroy())
  const { Table } = await client.send(new DescribeTableCommand({ DatabaseName: 'test', TableName: 'points' }))
  expect(Table?.RetentionProperties).toEqual({
    MemoryStoreRetentionPeriodInHours: 24,
    MagneticStoreRetentionPeriodInDays: 365,
  })
})

test('a point that is too large for a call is reported, and the others are written', async () => {
  const { series } = await started()
  const rejected = await series.write([point(NOW), point(NOW - 1, { level_pct: 1, note: 'x'.repeat(5_000) })])
  expect(rejected.map(({ point: { at } }) => at)).toEqual([NOW - 1])
  expect(await times(series)).toEqual([NOW])
})

test('a service that is down causes a retriable fault, and writes succeed when it is back', async () => {
  const { server, series } = await started()
  await series.write([point(NOW)])
  await server.close()
  await expect(series.write([point(NOW - 1)])).rejects.toMatchObject({ code: 'series-unavailable', retriable: true })
  const again = await startTimestreamLocal({ port: server.port, now: () => NOW })
  onTestFinished(() => again.close())
  // The service stores data in memory only, so the restart has removed the table. The write creates it again.
  expect(await series.write([point(NOW - 1)])).toEqual([])
  expect(await times(series)).toEqual([NOW - 1])
})

test('all pages of an answer are read', async () => {
  const { series } = await started()
  const points = Array.from({ length: 900 }, (_, index) =>
    point(NOW - index * 1000, { level_pct: index, note: 'n'.repeat(1_900) }),
  )
  expect(await series.write(points)).toEqual([])
  expect(await times(series)).toEqual(points.map(({ at }) => at).reverse())
})

test('S66: one record per point, and shared dimensions are common attributes', () => {
  const points = [point(NOW), { ...point(NOW + 1, { level_pct: 2, note: 'n' }), dims: { tap_id: 'b', loc_id: 'l' } }]
  expect(recordsOf(points, SPEC)).toEqual({
    CommonAttributes: {
      MeasureValueType: 'MULTI',
      TimeUnit: 'MILLISECONDS',
      Dimensions: [{ Name: 'loc_id', Value: 'l' }],
    },
    Records: [
      {
        Dimensions: [{ Name: 'tap_id', Value: 'a' }],
        MeasureName: 'reading',
        MeasureValues: [{ Name: 'level_pct', Value: '1', Type: 'DOUBLE' }],
        Time: String(NOW),
        Version: 1,
      },
      {
        Dimensions: [{ Name: 'tap_id', Value: 'b' }],
        MeasureName: 'reading',
        MeasureValues: [
          { Name: 'level_pct', Value: '2', Type: 'DOUBLE' },
          { Name: 'note', Value: 'n', Type: 'VARCHAR' },
        ],
        Time: String(NOW + 1),
        Version: 1,
      },
    ],
  })
})

questionsContract('Timestream', async () => {
  const server = await startTimestreamLocal({ port: 0, now: () => NOW })
  return {
    stores: timestreamSeries({ endpoint: server.endpoint }),
    start: Math.floor(NOW / DAY_MS - 1) * DAY_MS,
    cleanup: () => server.close(),
  }
})
