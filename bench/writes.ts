import { costsOf, type Cost, type Costs } from '../processors/adapters/dynamodb/cost.ts'
import { writeUnits } from '../processors/adapters/dynamodb/units.ts'
import { lmdbStores } from '../processors/adapters/lmdb/store.ts'
import type { LogRecord } from '../processors/engine/log.ts'
import { expenses } from '../processors/expenses/domain.ts'
import { meals } from '../processors/meals/domain.ts'
import { scales } from '../processors/scales/domain.ts'
import type { Item } from '../projections/item.ts'
import { dayOf } from '../projections/meals/day.ts'
import { mealIdOf, uidOf } from '../projections/meals/keys.ts'
import type { Domain } from '../projections/projection.ts'
import { tapStates, telemetry } from '../projections/scales/keys.ts'
import { scalesTable } from '../projections/scales/table.ts'
import { openCodec } from '../schemas/codec.ts'
import type { Event } from '../schemas/event.ts'
import type { MealLoggedData } from '../schemas/generated/meals.ts'
import type { ReadingReportedData } from '../schemas/generated/scales.ts'
import { inFolder } from './folder.ts'
import { openings, readings } from './readings.ts'
import { gathered, spent } from './spending.ts'
import { printTable } from './table.ts'
import { mealEvents } from './workload.ts'

/** Events of one domain whose write units are counted. */
interface Workload {
  readonly name: string
  readonly domain: Domain
  /** Appended first and not counted. */
  readonly opening: readonly Event[]
  readonly events: readonly Event[]
  /** Events within this time form one batch of at most 500 events. Absent: only one event at a time is measured. */
  readonly batch?: { readonly name: string; readonly ms: number }
  /** Write units of the source document's own writes. Default: one transaction per event over the same items. */
  readonly source?: number
}

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]
const codec = openCodec()

/** Write units by the documented rules, counted over local stores, as `tributary cost` does. */
const weigh = (domain: Domain, events: readonly Event[], windowMs: number): Promise<Costs> =>
  inFolder(async (folder) => {
    const stores = lmdbStores({ folder, fleeting: true })
    const records: readonly LogRecord[] = events.map((event, offset) => ({ partition: 0, offset, key: event.meta.key, value: codec.encode(event), timestamp: event.meta.recordedAt }))
    const log = { watermarks: async () => [{ partition: 0, low: 0, high: records.length }], read: async function* () { yield records } }
    let made = 0
    return costsOf({ domain, codec, log, windowMs, scratch: () => stores.create({ ...domain.table, name: `bench-${(made += 1)}` }, 1) }).finally(() => stores.close())
  })

const [DAYS, MEALS_A_DAY] = [120, 6]

/** Six meals of one person, every two hours of one day. */
const dayOfMeals = (day: number): readonly Event[] =>
  [...mealEvents({ events: 2 * MEALS_A_DAY, users: 1, seed: day })].filter(({ type }) => type === 'MealLogged').slice(0, MEALS_A_DAY).map((event, nth) => {
    const [data, person, eatenAt] = [event.data as MealLoggedData, `user-${day}`, Date.UTC(2024, 0, 1 + day, 7 + 2 * nth)]
    const meta = { ...event.meta, key: person, actorId: person, subjectId: person, recordedAt: eatenAt }
    return { ...event, meta, data: { ...data, eatenAt, mealId: mealIdOf(new Date(eatenAt).toISOString(), uidOf(data.mealId)), userDate: dayOf(eatenAt, data.utcOffsetMinutes) } }
  })

const eaten = (): Workload =>
  ({ name: 'a meal', domain: meals, opening: [], events: Array.from({ length: DAYS }, (_, day) => dayOfMeals(day)).flat(), batch: { name: `a day of ${MEALS_A_DAY} meals`, ms: 12 * HOUR } })

const shared = (): Workload => {
  const trip = { group: 'trip', members: 8, expenses: 500, sharers: 4, from: Date.UTC(2026, 10, 1), everyMs: HOUR }
  return { name: `an expense of ${trip.sharers} people`, domain: expenses, opening: gathered(trip), events: [...spent(trip)], batch: { name: 'batches of 500', ms: trip.expenses * HOUR } }
}

const measured = (name: string, everyMs: number, batch?: Workload['batch']): Workload => {
  const bars = { locations: 1, taps: 1, readings: 1_000, everyMs, from: Date.UTC(2026, 10, 16) }
  const events = [...readings(bars)]
  return { name, domain: scales, opening: openings(bars), events, source: twoUpdates(events), ...(batch && { batch }) }
}

/** The source document's two updates per reading: the tap's state, and the device's telemetry with its entry in the index of batteries. */
const twoUpdates = (events: readonly Event[]): number => {
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

const rowsOf = async ({ name, domain, opening, events, batch, source }: Workload): Promise<readonly (readonly string[])[]> => {
  const [before, all] = [await weigh(domain, opening, 0), await weigh(domain, [...opening, ...events], batch?.ms ?? 0)]
  const perEvent = (way: 'source' | 'trickle' | 'arrived', part: keyof Cost): number => (all[way][part] - before[way][part]) / events.length
  const theirs = source === undefined ? perEvent('source', 'domain') : source / events.length
  const row = (title: string, way: 'trickle' | 'arrived') => [title, ...[perEvent(way, 'domain'), theirs, perEvent(way, 'domain') / theirs, perEvent(way, 'bookkeeping')].map((value) => value.toFixed(3))]
  return [row(`${name}, one at a time`, 'trickle'), ...(batch === undefined ? [] : [row(`${name}, in ${batch.name}`, 'arrived')])]
}

/** Write units per event of every domain, next to the source documents' writes; our bookkeeping apart. */
export const writesBench = async (): Promise<void> => {
  const workloads = [eaten(), shared(), measured('a reading per second of one tap', SECOND, { name: 'batches of 500', ms: 1_000 * SECOND }), measured('a reading per minute of one tap', MINUTE)]
  const rows: (readonly string[])[] = []
  for (const workload of workloads) rows.push(...(await rowsOf(workload)))
  printTable('writes: write units per event, by the documented rules', [['', 'write units', 'source document', 'ratio', 'our bookkeeping'], ...rows])
}
