import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { costsOf, type Cost } from '../processors/adapters/dynamodb/cost.ts'
import { writeUnits } from '../processors/adapters/dynamodb/units.ts'
import { lmdbStores } from '../processors/adapters/lmdb/store.ts'
import type { LogRecord } from '../processors/engine/log.ts'
import { scales } from '../processors/scales/domain.ts'
import type { Item } from '../projections/item.ts'
import { tapStates, telemetry } from '../projections/scales/keys.ts'
import { scalesTable } from '../projections/scales/table.ts'
import { openCodec } from '../schemas/codec.ts'
import type { Event } from '../schemas/event.ts'
import type { ReadingReportedData } from '../schemas/generated/scales.ts'
import { openings, readings } from './readings.ts'
import { printTable } from './table.ts'

const READINGS = 1_000
const [SECOND, MINUTE] = [1_000, 60_000]
const codec = openCodec()

/** Weighed by the documented rules over local stores, as `tributary cost` does. */
const weighed = async (events: readonly Event[], windowMs: number) => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-'))
  const stores = lmdbStores({ folder, fleeting: true })
  let made = 0
  const records: readonly LogRecord[] = events.map((event, offset) => ({ partition: 0, offset, key: event.meta.key, value: codec.encode(event), timestamp: event.meta.recordedAt }))
  const log = { watermarks: async () => [{ partition: 0, low: 0, high: records.length }], read: async function* () { yield records } }
  try {
    return await costsOf({ domain: scales, codec, log, windowMs, scratch: () => stores.create({ ...scales.table, name: `bench-${(made += 1)}` }, 1) })
  } finally {
    await stores.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const over = (all: Cost, before: Cost) => ({ domain: all.domain - before.domain, bookkeeping: all.bookkeeping - before.bookkeeping })

/** The source document's two updates a reading: the tap's state, and the device's telemetry with its place in the index of batteries. */
const theirs = (events: readonly Event[]): number => {
  const known = new Map<string, Item>()
  let units = 0
  for (const { data, meta } of events) {
    const { level_pct, weight_lbs, battery_v, battery_pct, at } = data as ReadingReportedData
    const updated_at = new Date(at).toISOString()
    const items: readonly Item[] = [
      { ...tapStates.key(meta.key, '01'), level_pct, gallons: 12.345678, weight_lbs, updated_at, tare_status: 'complete' },
      { ...telemetry.key('scale-0', 1), battery_loc_id: meta.key, battery_v, battery_pct, updated_at },
    ]
    for (const after of items) {
      const name = `${after.PK} ${after.SK}`
      units += writeUnits({ spec: scalesTable, touches: [{ before: known.get(name), after }], mode: 'single' }).domain
      known.set(name, after)
    }
  }
  return units
}

const measured = async (everyMs: number) => {
  const bars = { locations: 1, taps: 1, readings: READINGS, everyMs, from: Date.UTC(2026, 10, 16) }
  const [opened, read] = [openings(bars), [...readings(bars)]]
  const [before, all] = [await weighed(opened, 0), await weighed([...opened, ...read], READINGS * everyMs)]
  return { theirs: theirs(read), alone: over(all.trickle, before.trickle), together: over(all.arrived, before.arrived) }
}

/** Write units for 1,000 readings of one tap; rows of readings are not counted. */
export const unitsTable = async (): Promise<void> => {
  const [burst, slow] = [await measured(SECOND), await measured(MINUTE)]
  const row = (name: string, { domain, bookkeeping }: { domain: number; bookkeeping: number }, source: number) => [name, domain, source, (domain / source).toFixed(3), bookkeeping]
  printTable(`scales: write units for ${READINGS.toLocaleString('en')} readings of one tap, by the documented rules`, [
    ['', 'write units', 'source document', 'ratio', 'our bookkeeping'],
    row('a burst (one a second, in batches of 500)', burst.together, burst.theirs),
    row('one a minute, each alone', slow.alone, slow.theirs),
    row('one a second, each alone', burst.alone, burst.theirs),
  ])
}
