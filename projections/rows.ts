import { isObject } from '../schemas/object.ts'
import type { Value } from './item.ts'

/** A row of an imported file as plain values. They do not depend on the format of the file. */
export type Row = { readonly [name: string]: Value | undefined }

/** Reads a row from plain JSON or DynamoDB JSON (`{"S": …}`). The row can be inside `{"Item": …}`. Undefined for anything else. */
export const rowOf = (raw: unknown): Row | undefined => {
  if (!isObject(raw)) return undefined
  if (isObject(raw['Item'])) return rowOf(raw['Item'])
  const typed = isTyped(raw['PK'])
  const entries = Object.entries(raw).map(([name, value]) => [name, typed ? untyped(value) : plain(value)] as const)
  return entries.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(entries)
}

/**
 * Reads a field in both spellings: older rows contain `MealSummary`, newer rows `mealSummary`. The newer spelling has
 * priority, also if its value is 0 or empty. Undefined if both are absent or null.
 */
export const field = (row: Row, name: string): Value | undefined =>
  own(row, name) ?? own(row, `${name.charAt(0).toUpperCase()}${name.slice(1)}`) ?? undefined

export const textField = (row: Row, name: string): string | undefined => {
  const value = field(row, name)
  return typeof value === 'string' ? value : undefined
}

export const numberField = (row: Row, name: string): number | undefined => {
  const value = field(row, name)
  return typeof value === 'number' ? value : undefined
}

export const mapField = (row: Row, name: string): Row => {
  const value = field(row, name)
  return isObject(value) ? (value as Row) : {}
}

/**
 * The epoch milliseconds of an instant. Undefined if the text is not an instant. Older programs wrote microseconds, which are cut off, and
 * no zone, which means UTC.
 */
export const instantOf = (text: string | undefined): number | undefined => {
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,3})?\d*(Z|[+-]\d\d:\d\d)?$/.exec(text ?? '')
  if (parts === null) return undefined
  const ms = Date.parse(`${parts[1]}${parts[2] ?? ''}${parts[3] ?? 'Z'}`)
  return Number.isNaN(ms) ? undefined : ms
}

const own = (row: Row, name: string): Value | undefined => (Object.hasOwn(row, name) ? row[name] : undefined)

const isTyped = (value: unknown): boolean => isObject(value) && typeof value['S'] === 'string'

const plain = (value: unknown): Value | undefined => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (Array.isArray(value)) return all(value.map(plain))
  return isObject(value) ? members(value, plain) : undefined
}

const untyped = (value: unknown): Value | undefined => {
  const [type, content] = isObject(value) ? (Object.entries(value)[0] ?? []) : []
  if (type === 'S' && typeof content === 'string') return content
  if (type === 'N' && typeof content === 'string') return number(content)
  if (type === 'BOOL' && typeof content === 'boolean') return content
  if (type === 'NULL') return null
  if (type === 'M' && isObject(content)) return members(content, untyped)
  if (type === 'L' && Array.isArray(content)) return all(content.map(untyped))
  if (type === 'SS' && Array.isArray(content)) return all(content.map(plain))
  if (type === 'NS' && Array.isArray(content)) return all(content.map((text) => plain(Number(text))))
  return undefined
}

/** An integer that a JavaScript number cannot represent exactly stays text. */
const number = (text: string): Value | undefined =>
  /^-?\d{16,38}$/.test(text) && !Number.isSafeInteger(Number(text)) ? text : plain(Number(text))

const all = (values: readonly (Value | undefined)[]): Value | undefined =>
  values.includes(undefined) ? undefined : (values as readonly Value[])

const members = (
  value: { readonly [name: string]: unknown },
  read: (member: unknown) => Value | undefined,
): Value | undefined => {
  const entries = Object.entries(value).map(([name, member]) => [name, read(member)] as const)
  return entries.some(([, member]) => member === undefined) ? undefined : Object.fromEntries(entries)
}
