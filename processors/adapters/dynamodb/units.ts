import { sameItem, type Item } from '../../../projections/item.ts'
import type { IndexSpec, TableSpec } from '../../../projections/table.ts'
import { isBookkeeping } from '../../engine/keys.ts'
import { sizeOf } from '../../engine/size.ts'
import { isReserved, projectedAttributes } from './table.ts'

/**
 * Write units by DynamoDB's documented rules, computed here because emulators report others:
 * an item weighs its attribute names and values; a write costs one unit for each begun KB of the larger of what was there and
 * what will be, twice in a transaction, also when its condition fails; an index costs its own writes of the projected item.
 * Indexes follow asynchronously, outside of the transaction, so their writes are counted once.
 */
export interface Units {
  /** The items of the domain. */
  readonly domain: number
  /** Ours: idempotency keys, outcomes, outbox, parked, timers, checkpoints. */
  readonly bookkeeping: number
}

/** One item before and after a write; absent is undefined. */
export interface Touch {
  readonly before?: Item | undefined
  readonly after?: Item | undefined
}

export interface Written {
  readonly spec: TableSpec
  readonly touches: readonly Touch[]
  /** Alone (also each write of a batch), or all of them in one transaction. */
  readonly mode: 'single' | 'transaction'
  /** Its condition failed: nothing changed, so indexes cost nothing. */
  readonly failed?: boolean
}

export const NO_UNITS: Units = { domain: 0, bookkeeping: 0 }

export const addUnits = (a: Units, b: Units): Units => ({ domain: a.domain + b.domain, bookkeeping: a.bookkeeping + b.bookkeeping })

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

/** Entering, leaving or changing the index is a write; a new index key is a removal and a write. */
const indexUnits = (spec: TableSpec, index: IndexSpec, { before, after }: Touch): number => {
  const attributes = projectedAttributes(spec, index)
  const old = projected(index, attributes, before)
  const now = projected(index, attributes, after)
  if (old === undefined && now === undefined) return 0
  if (old === undefined || now === undefined) return unitsOf(weight(old ?? now))
  if (old[index.pk] !== now[index.pk] || old[index.sk] !== now[index.sk]) return unitsOf(sizeOf(old)) + unitsOf(sizeOf(now))
  return sameItem(old, now) ? 0 : unitsOf(Math.max(sizeOf(old), sizeOf(now)))
}

const projected = (index: IndexSpec, attributes: 'all' | readonly string[], item: Item | undefined): Item | undefined => {
  if (item === undefined || item[index.pk] === undefined || item[index.sk] === undefined) return undefined
  if (attributes === 'all') return item
  const names = ['PK', 'SK', index.pk, index.sk, ...attributes]
  return Object.fromEntries(names.filter((name) => item[name] !== undefined).map((name) => [name, item[name]])) as Item
}
