import { sameItem, type Item } from '../../../projections/item.ts'
import type { IndexSpec, TableSpec } from '../../../projections/table.ts'
import { sizeOf } from '../../engine/rows/size.ts'
import { isReserved, projectedAttributes } from './table.ts'
import { isBookkeeping } from '../../engine/generations/bookkeeping.ts'

/**
 * Write units by DynamoDB's documented rules. They are computed here because emulators report other numbers.
 * The size of an item is the size of its attribute names and values. A write costs one unit per started KB of the larger of the old and the new
 * item. A write in a transaction costs twice as much. A write whose condition fails costs the same as if it succeeded. Each index costs its own
 * writes of the projected item. Index writes are asynchronous and outside of the transaction, so they are not doubled.
 */
export interface Units {
  /** Units of the domain's items. */
  readonly domain: number
  /** Units of this program's own rows: idempotency keys, outcomes, outbox, parked events, timers, checkpoints. */
  readonly bookkeeping: number
}

/** An item before and after a write. Undefined: the item does not exist. */
export interface Touch {
  readonly before?: Item | undefined
  readonly after?: Item | undefined
}

export interface Written {
  readonly spec: TableSpec
  readonly touches: readonly Touch[]
  /** `single`: each write alone, also in a batch. `transaction`: all writes in one transaction. */
  readonly mode: 'single' | 'transaction'
  /** True if a condition failed, so that nothing changed and indexes cost nothing. Default: false. */
  readonly failed?: boolean
}

export const NO_UNITS: Units = { domain: 0, bookkeeping: 0 }

export const addUnits = (a: Units, b: Units): Units => ({
  domain: a.domain + b.domain,
  bookkeeping: a.bookkeeping + b.bookkeeping,
})

export const writeUnits = ({ spec, touches, mode, failed = false }: Written): Units => {
  let domain = 0
  let bookkeeping = 0
  for (const touch of touches) {
    const table = unitsOf(Math.max(weight(touch.before), weight(touch.after))) * (mode === 'transaction' ? 2 : 1)
    const units = failed ? table : table + spec.indexes.reduce((sum, index) => sum + indexUnits(spec, index, touch), 0)
    const key = touch.after ?? touch.before
    if (key !== undefined && (isBookkeeping(key) || isReserved(key.PK))) bookkeeping += units
    else domain += units
  }
  return { domain, bookkeeping }
}

const weight = (item: Item | undefined): number => (item === undefined ? 0 : sizeOf(item))

const unitsOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1024))

/** The units of an index: one write if the item enters the index, leaves it or changes in it. Two writes if its index key changes. Otherwise 0. */
const indexUnits = (spec: TableSpec, index: IndexSpec, { before, after }: Touch): number => {
  const attributes = projectedAttributes(spec, index)
  const oldItem = projected(index, attributes, before)
  const newItem = projected(index, attributes, after)
  if (oldItem === undefined && newItem === undefined) return 0
  if (oldItem === undefined || newItem === undefined) return unitsOf(weight(oldItem ?? newItem))
  if (oldItem[index.pk] !== newItem[index.pk] || oldItem[index.sk] !== newItem[index.sk])
    return unitsOf(sizeOf(oldItem)) + unitsOf(sizeOf(newItem))
  return sameItem(oldItem, newItem) ? 0 : unitsOf(Math.max(sizeOf(oldItem), sizeOf(newItem)))
}

const projected = (
  index: IndexSpec,
  attributes: 'all' | readonly string[],
  item: Item | undefined,
): Item | undefined => {
  if (item === undefined || item[index.pk] === undefined || item[index.sk] === undefined) return undefined
  if (attributes === 'all') return item
  const names = ['PK', 'SK', index.pk, index.sk, ...attributes]
  return Object.fromEntries(names.filter((name) => item[name] !== undefined).map((name) => [name, item[name]])) as Item
}
