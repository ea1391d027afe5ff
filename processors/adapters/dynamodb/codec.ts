import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Item, Stored, Value } from '../../../projections/item.ts'
import { Fault } from '../../../schemas/fault.ts'

/**
 * Values as DynamoDB spells them. Numbers are exact: a number is sent in its shortest decimal form, which reads back as the
 * same number; whole numbers beyond 2^53 come back as bigint, the others as number, whichever they were before.
 * lib-dynamodb's marshaller is not used: items in failed conditions come past it, and it refuses or rounds large numbers.
 */
export type Attributes = Record<string, AttributeValue>

export const toAttributes = (item: Item): Attributes => members(item)

/** Every item of our tables carries `_pos`; what another program put there without one counts as never touched. */
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
      return Array.isArray(value) ? { L: value.map(toAttribute) } : { M: members(value as { [name: string]: Value | undefined }) }
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
  throw new Fault('value-not-storable', `A table of ours holds a value of a type we never write (${Object.keys(attribute).join()}). Remove that item.`)
}

const fromMembers = (attributes: Attributes): { [name: string]: Value } => {
  const value: { [name: string]: Value } = {}
  for (const name of Object.keys(attributes)) value[name] = fromAttribute(attributes[name] as AttributeValue)
  return value
}

const numberOf = (text: string): number | bigint => {
  const value = Number(text)
  return Number.isSafeInteger(value) || !Number.isInteger(value) ? value : (wholeOf(text) ?? value)
}

/** The digits of a whole number, spelled with an exponent or without. */
const wholeOf = (text: string): bigint | undefined => {
  const [, sign, head, tail = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]\+?(-?\d+))?$/.exec(text) ?? []
  const shift = Number(exponent) - tail.length
  return head === undefined || shift < 0 ? undefined : BigInt(`${sign}${head}${tail}${'0'.repeat(shift)}`)
}
