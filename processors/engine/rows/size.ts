import type { Item, Value } from '../../../projections/item.ts'
import { Fault } from '../../../schemas/fault.ts'

/**
 * The size of an item in bytes by DynamoDB's rule: attribute names and values as UTF-8, a number by its significant digits, 3 bytes for
 * each list or map and 1 byte for each of its members. All stores and all prices use this size. Throws `value-not-storable` for a value
 * that no store can store.
 */
export const sizeOf = (item: Item): number => membersSize(item, 0, 0)

/** The maximum depth of lists and maps in an item. DynamoDB allows 32 levels and counts the item itself as the first one. */
const MAX_DEPTH = 31
const MAX_NAME_BYTES = 65_535
/** The numbers that DynamoDB stores: 38 significant digits, and these magnitudes. */
const MAX_DIGITS = 38
const MAX_MAGNITUDE = 1e126
const MIN_MAGNITUDE = 1e-130

type Members = { readonly [name: string]: Value | undefined }

const membersSize = (value: Members, overhead: number, depth: number): number => {
  let size = 0
  for (const name in value) {
    const member = value[name]
    if (member !== undefined) size += nameSize(name) + valueSize(member, depth) + overhead
  }
  return size
}

const nameSize = (name: string): number => {
  const bytes = textSize(name)
  if (bytes > 0 && bytes <= MAX_NAME_BYTES && name !== '__proto__') return bytes
  throw notStorable(bytes > MAX_NAME_BYTES ? `an attribute name of ${bytes} bytes` : `an attribute named "${name}"`)
}

const valueSize = (value: Value, depth: number): number => {
  switch (typeof value) {
    case 'string':
      return textSize(value)
    case 'number':
      return numberSize(value)
    case 'bigint':
      return bigintSize(value)
    case 'boolean':
      return 1
    case 'object':
      return value === null ? 1 : nestedSize(value, depth + 1)
    default:
      throw notStorable(`a value of type ${typeof value}`)
  }
}

const nestedSize = (value: Exclude<Value & object, null>, depth: number): number => {
  if (depth > MAX_DEPTH) throw notStorable(`lists and maps nested more than ${MAX_DEPTH} deep`)
  if (!Array.isArray(value)) return 3 + membersSize(value as Members, 1, depth)
  let size = 3
  for (let index = 0; index < value.length; index += 1) size += valueSize(value[index] as Value, depth) + 1
  return size
}

/** Up to this length of a text, a loop in JavaScript is faster than a call of `Buffer.byteLength`. */
const SHORT = 64

/** The size of a text in UTF-8 bytes. */
export const textSize = (text: string): number => {
  const { length } = text
  if (length > SHORT) return Buffer.byteLength(text)
  for (let index = 0; index < length; index += 1) if (text.charCodeAt(index) >= 0x80) return Buffer.byteLength(text)
  return length
}

const digitsSize = (digits: number, isNegative: boolean): number => 1 + Math.ceil(digits / 2) + (isNegative ? 1 : 0)

const numberSize = (value: number): number => {
  const magnitude = Math.abs(value)
  if (magnitude < 10 && Number.isInteger(value)) return digitsSize(1, value < 0)
  if (!(magnitude >= MIN_MAGNITUDE && magnitude < MAX_MAGNITUDE)) throw notStorable(`the number ${value}`)
  return digitsSize(
    Number.isSafeInteger(value) ? integerDigits(magnitude) : significantDigits(String(magnitude)),
    value < 0,
  )
}

/** The number of significant digits of a safe integer above zero. */
const integerDigits = (value: number): number => {
  let rest = value
  while (rest % 10 === 0) rest /= 10
  let digits = 1
  for (let power = 10; power <= rest; power *= 10) digits += 1
  return digits
}

const bigintSize = (value: bigint): number => {
  const digits = value.toString().replace('-', '')
  const significant = significantDigits(digits)
  if (digits.length > 126 || significant > MAX_DIGITS) throw notStorable(`an integer of ${digits.length} digits`)
  return digitsSize(significant, value < 0n)
}

const significantDigits = (text: string): number => {
  const [mantissa = ''] = text.split('e')
  return Math.max(1, mantissa.replace('.', '').replace(/^0+/, '').replace(/0+$/, '').length)
}

export const notStorable = (what: string): Fault =>
  new Fault(
    'value-not-storable',
    `No store can store ${what}. Reject such a value before it becomes an event, or change the fold.`,
  )
