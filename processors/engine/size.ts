import type { Item, Value } from '../../projections/item.ts'
import type { Change } from '../../projections/projection.ts'
import { Fault } from '../../schemas/fault.ts'

/** What any store holds in one item at most. */
export const MAX_ITEM_BYTES = 400 * 1024

/** At least what a change weighs in a store. An item too large for any store is the same poison live and in a rebuild. */
export const sizeOfChange = (change: Change): number => {
  const size = '_removed' in change ? 100 : roughSize(change)
  if (size > MAX_ITEM_BYTES && exactSize(change as Item) > MAX_ITEM_BYTES) {
    throw new Fault('item-too-large', `The item ${change.PK} / ${change.SK} would exceed 400 KB. Fold less into one item.`)
  }
  return size
}

/** At least what the item weighs in a store, cheaply. */
const roughSize = (value: Value | undefined): number => {
  if (typeof value === 'string') return value.length * 3 + 3
  if (typeof value === 'number' || value === null || typeof value !== 'object') return 22
  let size = 3
  if (Array.isArray(value)) for (const member of value) size += roughSize(member as Value) + 1
  else for (const name in value) size += name.length * 3 + roughSize((value as { [name: string]: Value })[name]) + 1
  return size
}

const exactSize = (item: Item): number =>
  Buffer.byteLength(JSON.stringify(item, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member)))
