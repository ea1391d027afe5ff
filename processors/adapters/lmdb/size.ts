import type { Stored, Value } from '../../../projections/item.ts'
import { Fault } from '../../../schemas/fault.ts'

/** The bound of DynamoDB, kept here too, so that what works embedded works there. */
const MAX_ITEM_BYTES = 400 * 1024

const sizeOf = (value: Value | undefined, bytesOf: (text: string) => number): number => {
  if (typeof value === 'string') return bytesOf(value)
  if (typeof value !== 'object' || value === null) return 8
  let sum = 3
  for (const [name, member] of Object.entries(value)) sum += bytesOf(name) + 1 + sizeOf(member as Value | undefined, bytesOf)
  return sum
}

/** Gives about the size of an item. */
export const refuseTooLarge = (item: Stored): number => {
  const units = sizeOf(item, text => text.length)
  // A UTF-16 unit is at most three bytes of UTF-8, so most items need no second look.
  if (units * 3 <= MAX_ITEM_BYTES) return units
  const bytes = sizeOf(item, text => Buffer.byteLength(text))
  if (bytes <= MAX_ITEM_BYTES) return bytes
  throw new Fault('item-too-large', `The item ${item.PK} ${item.SK} has ${bytes} bytes; an item may have ${MAX_ITEM_BYTES}. Fold less into one item.`)
}
