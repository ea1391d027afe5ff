import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { costsOf, type Cost, type Costs } from '../processors/adapters/dynamodb/cost.ts'
import { writeUnits } from '../processors/adapters/dynamodb/units.ts'
import { lmdbStores } from '../processors/adapters/lmdb/store.ts'
import type { LogRecord } from '../processors/engine/log.ts'
import { expenses } from '../processors/expenses/domain.ts'
import type { Item, Key } from '../projections/item.ts'
import { expensesTable } from '../projections/expenses/table.ts'
import { expenses as expenseItems } from '../projections/expenses/keys.ts'
import { openCodec } from '../schemas/codec.ts'
import type { Event } from '../schemas/event.ts'
import { gathered, spent, type Spending } from './spending.ts'
import { printTable, ratio } from './table.ts'

const codec = openCodec()
/** Four who share, of eight; an expense every hour. */
const TRIP: Spending = { group: 'trip', members: 8, expenses: 500, sharers: 4, from: Date.UTC(2026, 10, 1), everyMs: 3_600_000 }

const weighed = async (events: readonly Event[], windowMs: number): Promise<Costs> => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-'))
  const stores = lmdbStores({ folder, fleeting: true })
  let made = 0
  const records: readonly LogRecord[] = events.map((event, offset) => ({ partition: 0, offset, key: event.meta.key, value: codec.encode(event), timestamp: event.meta.recordedAt }))
  const log = { watermarks: async () => [{ partition: 0, low: 0, high: records.length }], read: async function* () { yield records } }
  try {
    return await costsOf({ domain: expenses, codec, log, windowMs, scratch: () => stores.create({ ...expenses.table, name: `bench-${(made += 1)}` }, 1) })
  } finally {
    await stores.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What the source document itself writes: the expense and its participants in a transaction, no balances and no history. */
const theirs = (events: readonly Event[]): number => {
  const items = new Map<string, Item>()
  let units = 0
  const get = <I extends Item>({ PK, SK }: Key) => items.get(`${PK} ${SK}`) as Item as I | undefined
  for (const event of events) {
    const changed = (expenses.projections[0]?.folds[event.type]?.(event, get).items ?? []).filter((item): item is Item => !('_removed' in item))
    for (const item of changed) items.set(`${item.PK} ${item.SK}`, item)
    const touches = changed.filter(({ SK }) => SK.startsWith(expenseItems.prefix) || SK.startsWith('PART#')).map((after) => ({ after }))
    if (touches.length > 0) units += writeUnits({ spec: expensesTable, touches, mode: 'transaction' }).domain
  }
  return units
}

/** Write units an expense, by the documented rules. */
export const unitsTable = async (): Promise<void> => {
  const [opened, paid] = [gathered(TRIP), [...spent(TRIP)]]
  const [before, all] = [await weighed(opened, 0), await weighed([...opened, ...paid], TRIP.expenses * TRIP.everyMs)]
  const over = (way: 'source' | 'trickle' | 'arrived', part: keyof Cost): number => (all[way][part] - before[way][part]) / TRIP.expenses
  const source = over('source', 'domain')
  const row = (name: string, way: 'trickle' | 'arrived') => [name, over(way, 'domain').toFixed(2), ratio(over(way, 'domain') / source), over(way, 'bookkeeping').toFixed(2)]
  printTable(`expenses: write units an expense of ${TRIP.sharers} people, by the documented rules`, [
    ['', 'write units', 'ratio to one transaction an expense', 'our bookkeeping'],
    ['one transaction an expense, the same items (source document\'s way)', source.toFixed(2), '1.00', '0.00'],
    row('trickle: one expense at a time', 'trickle'),
    row('burst: batches of 500', 'arrived'),
    ['the source document\'s own items alone: no balances, debts, history', (theirs([...opened, ...paid]) / TRIP.expenses).toFixed(2), '', ''],
  ])
}
