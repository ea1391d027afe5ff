import { OUR_RECORDS } from '../domains/list.ts'
import type { WriteWorkload } from '../domains/record.ts'
import { costsOf, type Cost, type Costs } from '../processors/adapters/dynamodb/cost.ts'
import { writeUnits } from '../processors/adapters/dynamodb/units.ts'
import { lmdbStores } from '../processors/adapters/lmdb/store.ts'
import type { LogRecord } from '../processors/engine/ports/log.ts'
import type { Item } from '../projections/item.ts'
import type { Domain } from '../projections/projection.ts'
import { openCodec } from '../schemas/codec.ts'
import type { Event } from '../schemas/event.ts'
import { inFolder } from './folder.ts'
import { printTable } from './table.ts'

const codec = openCodec()

/** Returns the cost of these events by DynamoDB's documented rules. Counts the writes to local stores, as `tributary cost` does. */
const measureCosts = (domain: Domain, events: readonly Event[], windowMs: number): Promise<Costs> =>
  inFolder(async (folder) => {
    const stores = lmdbStores({ folder, temporary: true })
    const records: readonly LogRecord[] = events.map((event, offset) => ({
      partition: 0,
      offset,
      key: event.meta.key,
      value: codec.encode(event),
      timestamp: event.meta.recordedAt,
    }))
    const log = {
      watermarks: async () => [{ partition: 0, low: 0, high: records.length }],
      read: async function* () {
        yield records
      },
    }
    let created = 0
    return costsOf({
      domain,
      codec,
      log,
      windowMs,
      scratch: () => stores.create({ ...domain.table, name: `bench-${(created += 1)}` }, 1),
    }).finally(() => stores.close())
  })

/**
 * Returns the write units of the writes that the specification of the domain prescribes for these events. Undefined if the workload does not name
 * these writes.
 */
const sourceUnitsOf = ({ table }: Domain, { events, sourceItems }: WriteWorkload): number | undefined => {
  if (sourceItems === undefined) return undefined
  const before = new Map<string, Item>()
  let units = 0
  for (const after of events.flatMap(sourceItems)) {
    const name = `${after.PK} ${after.SK}`
    units += writeUnits({ spec: table, touches: [{ before: before.get(name), after }], mode: 'single' }).domain
    before.set(name, after)
  }
  return units
}

const rowsOf = async (domain: Domain, workload: WriteWorkload): Promise<readonly (readonly string[])[]> => {
  const { name, opening, events, batch } = workload
  const [before, all] = [
    await measureCosts(domain, opening, 0),
    await measureCosts(domain, [...opening, ...events], batch?.ms ?? 0),
  ]
  const perEvent = (way: 'source' | 'trickle' | 'arrived', part: keyof Cost): number =>
    (all[way][part] - before[way][part]) / events.length
  const ownUnits = sourceUnitsOf(domain, workload)
  const source = ownUnits === undefined ? perEvent('source', 'domain') : ownUnits / events.length
  const row = (title: string, way: 'trickle' | 'arrived') => [
    title,
    ...[perEvent(way, 'domain'), source, perEvent(way, 'domain') / source, perEvent(way, 'bookkeeping')].map((value) =>
      value.toFixed(3),
    ),
  ]
  return [
    row(`${name}, one at a time`, 'trickle'),
    ...(batch === undefined ? [] : [row(`${name}, in ${batch.name}`, 'arrived')]),
  ]
}

/**
 * Measures the write units per event of every domain, compared with the writes that the domain's specification prescribes. Counts the writes of the
 * program's own rows (bookkeeping) separately.
 */
export const writesBench = async (): Promise<void> => {
  const rows: (readonly string[])[] = []
  for (const { domain, benchmarks } of OUR_RECORDS)
    for (const workload of (await benchmarks?.()) ?? []) rows.push(...(await rowsOf(domain, workload)))
  printTable('writes: write units per event, by the documented rules', [
    ['', 'write units', 'source document', 'ratio', 'bookkeeping'],
    ...rows,
  ])
}
