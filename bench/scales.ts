import { join } from 'node:path'
import { duckdbSeries } from '../processors/adapters/duckdb/series.ts'
import { dynamoStores } from '../processors/adapters/dynamodb/store.ts'
import { kafkaLogs } from '../processors/adapters/kafka/logs.ts'
import { lmdbLogs } from '../processors/adapters/lmdb/log.ts'
import { lmdbStores } from '../processors/adapters/lmdb/store.ts'
import { systemClock } from '../processors/adapters/system-clock.ts'
import { timestreamSeries } from '../processors/adapters/timestream/series.ts'
import { startProcessor } from '../processors/engine/run/processor.ts'
import type { Series, SeriesStores } from '../processors/engine/ports/series.ts'
import type { Stores } from '../processors/engine/ports/store.ts'
import { scales } from '../processors/scales/domain.ts'
import { scalesSeries } from '../processors/scales/series.ts'
import { kegReadings } from '../projections/scales/series.ts'
import { openCodec } from '../schemas/codec.ts'
import { appendAll } from './append.ts'
import { inFolder } from './folder.ts'
import { openingEvents, readingEvents, type BarsLoad } from '../domains/scales/benchmark-events.ts'
import { startServices } from './services.ts'
import { perSecond, printTable } from './table.ts'
import type { Logs } from '../processors/engine/ports/log-admin.ts'

const MINUTE = 60_000
const BATCH = 500
const codec = openCodec()

interface Backends {
  readonly logs: Logs
  readonly stores: Stores
  readonly series: SeriesStores
}

interface Measured {
  readonly readings: number
  readonly appended: number
  readonly seconds: number
  readonly cpu: number
  /** The number of points that were written for the readings. Each point counts as one record. */
  readonly records: number
}

/** Appends readings while two processors fold the log, one into the state and one into the series. Ends when both contain the last reading. */
const endToEnd = async ({ logs, stores, series }: Backends, bars: BarsLoad): Promise<Measured> => {
  const log = await logs.open(scales.topic)
  const points = series.open(kegReadings, 1)
  let records = 0
  const countingSeries: Pick<Series, 'write'> = {
    write: (written) => {
      records += written.filter(({ measure }) => measure === 'reading').length
      return points.write(written)
    },
  }
  await appendAll(log, codec, openingEvents(bars), BATCH)
  const parts = { generation: 1, log, codec, clock: systemClock }
  const state = await startProcessor({ ...parts, domain: scales, store: await stores.create(scales.table, 1) })
  const charts = await startProcessor({
    ...parts,
    domain: scalesSeries,
    store: await stores.create(scalesSeries.table, 1),
    series: countingSeries,
  })
  await Promise.all([state.caughtUp(), charts.caughtUp()])
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  await appendAll(log, codec, readingEvents(bars), BATCH)
  const appended = performance.now() - began
  await Promise.all([state.caughtUp(), charts.caughtUp()])
  const seconds = (performance.now() - began) / 1000
  const usage = process.cpuUsage(cpu)
  await state.stop()
  await charts.stop()
  await series.close()
  return {
    readings: bars.readings,
    appended: appended / 1000,
    seconds,
    cpu: (usage.user + usage.system) / 1e6,
    records,
  }
}

const embedded = (bars: BarsLoad): Promise<Measured> =>
  inFolder(async (folder) => {
    const backends = {
      logs: lmdbLogs({ folder: join(folder, 'log') }),
      stores: lmdbStores({ folder: join(folder, 'tables') }),
      series: duckdbSeries({ folder: join(folder, 'series') }),
    }
    try {
      return await endToEnd(backends, bars)
    } finally {
      await backends.stores.close()
      await backends.logs.close()
    }
  })

const onServices = async (bars: BarsLoad): Promise<Measured> => {
  const services = await startServices()
  const timestream = await (await import('../timestream-local/server.ts')).startTimestreamLocal({ port: 0 })
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const backends = {
    logs: kafkaLogs({ brokers: [...services.kafka] }),
    stores: dynamoStores({ endpoint: services.dynamodb, region: 'local', credentials }),
    series: timestreamSeries({ endpoint: timestream.endpoint, region: 'us-east-1' }),
  }
  try {
    return await endToEnd(backends, bars)
  } finally {
    await backends.logs.close()
    await backends.stores.close()
    await timestream.close()
    await services.stop()
  }
}

/**
 * Measures readings per second end to end, and series records per reading. `--embedded` omits the run on Kafka and DynamoDB. `bench scales 5000`
 * uses 5,000 readings. Default: 50,000.
 */
export const scalesBench = async (rest: readonly string[] = []): Promise<void> => {
  const count = Number(rest.find((argument) => /^\d+$/.test(argument)) ?? 50_000)
  const bars = (readingCount: number): BarsLoad => {
    const [locations, taps, everyMs] = [20, 10, MINUTE]
    return {
      locations,
      taps,
      readings: readingCount,
      everyMs,
      from: Date.now() - (Math.ceil(readingCount / (locations * taps)) + 1) * everyMs,
    }
  }
  const rows = [row('embedded (LMDB, DuckDB)', await embedded(bars(count)))]
  if (!rest.includes('--embedded'))
    rows.push(row('Kafka + DynamoDB Local + timestream-local', await onServices(bars(Math.ceil(count / 10)))))
  printTable(
    'scales: readings of 200 taps at 20 locations, appended, attributed, folded, in the state and in the series',
    [['', 'readings', 'readings/s', 'appended/s', 'ms CPU/1,000 readings', 'series records/reading'], ...rows],
  )
}

const row = (name: string, { readings: count, appended, seconds, cpu, records }: Measured) => [
  name,
  count.toLocaleString('en'),
  perSecond(count, seconds),
  perSecond(count, appended),
  ((cpu * 1e6) / count).toFixed(0),
  (records / count).toFixed(2),
]
