import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Item, Stored, Value } from '../../../projections/item.ts'
import { Fault } from '../../../schemas/fault.ts'

/**
 * Attributes in DynamoDB's format. Numbers are exact: a number is sent in its shortest decimal form, which is read as the same number. Whole numbers
 * beyond 2^53 are read as bigint, all other numbers as number. The marshaller of lib-dynamodb is not used. It rejects or rounds large numbers, and it
 * does not convert the items that DynamoDB returns when a condition fails.
 */
export type Attributes = Record<string, AttributeValue>

export const toAttributes = (item: Item): Attributes => members(item)

/** Every item that this program writes has `_pos`. If another program wrote an item without `_pos`, its `_pos` is -1. */
export const toStored = (attributes: Attributes): Stored => ({ _pos: -1, ...fromMembers(attributes) }) as Stored

export const toItem = (attributes: Attributes): Item => fromMembers(attributes) as Item

const toAttribute = (value: Value): AttributeValue => {
  switch (typeof value) {
    case 'string':
      return { S: value }
    case 'number':
    case 'bigint':
      return { N: String(value) }
    case 'boolean':
      return { BOOL: value }
    default:
      if (value === null) return { NULL: true }
      return Array.isArray(value)
        ? { L: value.map(toAttribute) }
        : { M: members(value as { [name: string]: Value | undefined }) }
  }
}

const members = (value: { readonly [name: string]: Value | undefined }): Attributes => {
  const attributes: Attributes = {}
  for (const name of Object.keys(value)) {
    const member = value[name]
    if (member === undefined) continue
    attributes[name] = toAttribute(member)
  }
  return attributes
}

const fromAttribute = (attribute: AttributeValue): Value => {
  if (attribute.S !== undefined) return attribute.S
  if (attribute.N !== undefined) return numberOf(attribute.N)
  if (attribute.M !== undefined) return fromMembers(attribute.M)
  if (attribute.L !== undefined) return attribute.L.map(fromAttribute)
  if (attribute.BOOL !== undefined) return attribute.BOOL
  if (attribute.NULL !== undefined) return null
  throw new Fault(
    'value-not-storable',
    `The table contains a value of type ${Object.keys(attribute).join()}, which this program never writes. Remove that item.`,
  )
}

const fromMembers = (attributes: Attributes): { [name: string]: Value } => {
  const value: { [name: string]: Value } = {}
  for (const name of Object.keys(attributes)) value[name] = fromAttribute(attributes[name] as AttributeValue)
  return value
}

const numberOf = (text: string): number | bigint => {
  const value = Number(text)
  return Number.isSafeInteger(value) || !Number.isInteger(value) ? value : (wholeNumberOf(text) ?? value)
}

/** Parses the text of a whole number, with or without an exponent. Undefined if the text is not a whole number. */
const wholeNumberOf = (text: string): bigint | undefined => {
  const [, sign, head, tail = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]\+?(-?\d+))?$/.exec(text) ?? []
  const shift = Number(exponent) - tail.length
  return head === undefined || shift < 0 ? undefined : BigInt(`${sign}${head}${tail}${'0'.repeat(shift)}`)
}
