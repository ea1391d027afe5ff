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

export const refuseTooLarge = (item: Stored): void => {
  // A UTF-16 unit is at most three bytes of UTF-8, so most items need no second look.
  if (sizeOf(item, text => text.length) * 3 <= MAX_ITEM_BYTES) return
  const bytes = sizeOf(item, text => Buffer.byteLength(text))
  if (bytes <= MAX_ITEM_BYTES) return
  throw new Fault('item-too-large', `The item ${item.PK} ${item.SK} has ${bytes} bytes; an item may have ${MAX_ITEM_BYTES}. Fold less into one item.`)
}
