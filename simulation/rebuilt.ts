import { build } from '../processors/engine/rebuild/build.ts'
import type { LogRecord } from '../processors/engine/ports/log.ts'
import { plainTarget } from './build-model.ts'
import { checkItems, checkPoints, type Violation } from './checkers.ts'
import type { Topic } from './log-model.ts'
import type { Expected } from './reference.ts'
import { createScheduler } from './scheduler.ts'
import { createSeriesTables, plainSeries, type SeriesTable } from './series-model.ts'
import { createTable, storeFor, type Table } from './store-model.ts'
import { createRandom } from './random.ts'
import type { Workload } from './workload.ts'

type RebuildInput = Pick<Workload, 'domain' | 'codec'>

/**
 * Checker C4. Runs two builds, and checks that both results equal the fold of the log. The first build keeps all items in memory. The second keeps
 * one item in memory, reads the partitions in another order, stops in the middle and resumes.
 */
export const checkRebuilt = async (
  topic: Topic,
  workload: RebuildInput,
  expected: Expected,
): Promise<readonly Violation[]> => {
  const ends = topic.partitions.map((records, partition) => [partition, records.length] as const)
  const halves = ends.map(([partition, end]) => [partition, Math.floor(end / 2)] as const)
  const plain = await buildFrom(topic, workload, { stops: [ends], workingSet: 10_000 })
  const resumed = await buildFrom(topic, workload, { stops: [halves, ends.toReversed()], workingSet: 1 })
  return [...differences('in one part', plain, expected), ...differences('in two parts', resumed, expected)]
}

interface BuildResult {
  readonly table: Table
  readonly series: SeriesTable | undefined
}

const differences = (how: string, { table, series }: BuildResult, expected: Expected): readonly Violation[] =>
  [...checkItems(table.items.values(), expected), ...(series ? checkPoints(series, expected) : [])].map(
    ({ detail }) => ({ checker: 'C4', detail: `built ${how}: ${detail}` }),
  )

interface Building {
  readonly stops: readonly (readonly (readonly [number, number])[])[]
  readonly workingSet: number
}

const buildFrom = async (
  topic: Topic,
  { domain, codec }: RebuildInput,
  { stops, workingSet }: Building,
): Promise<BuildResult> => {
  const table = createTable(domain.table, true)
  const scheduler = createScheduler({ seed: 0, faults: () => undefined })
  const store = storeFor({ scheduler, random: createRandom(0) }, scheduler.spawn('build', 0, false), table)
  const series = domain.series && createSeriesTables(true).of(domain.series, 1)
  const target = plainTarget(store, table)
  for (const ends of stops)
    await build({
      domain,
      codec,
      target,
      series: series && plainSeries(series),
      ends: new Map(ends),
      workingSet,
      log: { read: (partition, from, to) => pagesOf(topic.partitions[partition]?.slice(from, to) ?? []) },
    })
  return { table, series }
}

async function* pagesOf(records: readonly LogRecord[]): AsyncGenerator<readonly LogRecord[]> {
  for (let at = 0; at < records.length; at += 7) yield records.slice(at, at + 7)
}
