import { dayNumberOf } from '../../projections/instant.ts'
import { isTooSmall } from '../http/json.ts'
import type { Range } from './limits.ts'

/** Why something a device said is not believed. `reason` is one of a few; `detail` says what and what would be right. */
export interface Doubt {
  readonly reason: 'malformed' | 'range' | 'past' | 'future' | 'unknown-device' | 'wrong-location'
  readonly detail: string
}

export type Fields = Readonly<Record<string, unknown>>
type Check = (value: unknown, name: string) => Doubt | undefined
export type Shape = Readonly<Record<string, Check>>

export const malformed = (detail: string): Doubt => ({ reason: 'malformed', detail })
const outOfRange = (detail: string): Doubt => ({ reason: 'range', detail })

/** Null is not said, in JSON as in Avro. A field that the shape does not name is not passed over: somebody meant something by it. */
export const doubtOf = (fields: Fields, shape: Shape, needed: readonly string[] = []): Doubt | undefined => {
  for (const name of needed) if ((fields[name] ?? null) === null) return malformed(`${name} is missing.`)
  for (const [name, value] of Object.entries(fields)) {
    const check = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (check === undefined) return malformed(`There is no field ${JSON.stringify(name.slice(0, 40))} here.`)
    const doubt = value === null ? undefined : check(value, name)
    if (doubt !== undefined) return doubt
  }
  return undefined
}

export const number = ({ minimum, maximum }: Range): Check => (value, name) => {
  if (typeof value !== 'number' || Number.isNaN(value)) return malformed(`${name} must be a number.`)
  if (isTooSmall(value)) return outOfRange(`${name} is ${value}, closer to zero than any table can hold; send 0.`)
  return value < minimum || value > maximum ? outOfRange(`${name} is ${value}; it lies between ${minimum} and ${maximum}.`) : undefined
}

export const whole = (least: number, most: number): Check => (value, name) => {
  if (typeof value !== 'number' || !Number.isInteger(value)) return malformed(`${name} must be a whole number.`)
  return number({ minimum: least, maximum: most })(value, name)
}

export const text = (pattern: RegExp): Check => (value, name) =>
  typeof value === 'string' && pattern.test(value) ? undefined : malformed(`${name} must be text like ${String(pattern)}.`)

export const yesOrNo: Check = (value, name) => (typeof value === 'boolean' ? undefined : malformed(`${name} must be true or false.`))

export const anything: Check = () => undefined

const INSTANT = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** A clock as devices tell it: epoch milliseconds, or RFC 3339 with its offset. */
export const clockOf = (value: unknown): number | undefined => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined
  const date = typeof value === 'string' ? INSTANT.exec(value)?.[1] : undefined
  return date !== undefined && dayNumberOf(date) !== undefined ? Date.parse(String(value)) : undefined
}

export const clock: Check = (value, name) =>
  clockOf(value) === undefined ? malformed(`${name} must be epoch milliseconds or an instant such as 2026-11-16T08:30:00Z.`) : undefined
