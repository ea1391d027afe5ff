import { dayNumberOf } from '../../projections/instant.ts'
import { isTooSmall } from '../http/json.ts'
import type { Range } from './limits.ts'

/** The reason why the server quarantines an event of a device. `detail` contains the wrong value and the allowed values. */
export interface Defect {
  readonly reason: 'malformed' | 'range' | 'past' | 'future' | 'unknown-device' | 'wrong-location'
  readonly detail: string
}

export type Fields = Readonly<Record<string, unknown>>
type Check = (value: unknown, name: string) => Defect | undefined
/** The allowed fields of an object, each with the check of its value. */
export type Shape = Readonly<Record<string, Check>>

export const malformed = (detail: string): Defect => ({ reason: 'malformed', detail })
const outOfRange = (detail: string): Defect => ({ reason: 'range', detail })

/**
 * Returns the first defect of an object, or undefined. A null field counts as absent, in JSON as in Avro. A field that is not in the shape is a
 * defect, because its value would be lost.
 */
export const defectOf = (fields: Fields, shape: Shape, required: readonly string[] = []): Defect | undefined => {
  for (const name of required) if ((fields[name] ?? null) === null) return malformed(`${name} is missing.`)
  for (const [name, value] of Object.entries(fields)) {
    const check = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (check === undefined) return malformed(`There is no field ${JSON.stringify(name.slice(0, 40))} here.`)
    const defect = value === null ? undefined : check(value, name)
    if (defect !== undefined) return defect
  }
  return undefined
}

export const number =
  ({ minimum, maximum }: Range): Check =>
  (value, name) => {
    if (typeof value !== 'number' || Number.isNaN(value)) return malformed(`${name} must be a number.`)
    if (isTooSmall(value)) return outOfRange(`${name} is ${value}, closer to zero than any table can store. Send 0.`)
    return value < minimum || value > maximum
      ? outOfRange(`${name} is ${value}. It must be between ${minimum} and ${maximum}.`)
      : undefined
  }

export const whole =
  (minimum: number, maximum: number): Check =>
  (value, name) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) return malformed(`${name} must be a whole number.`)
    return number({ minimum, maximum })(value, name)
  }

export const text =
  (pattern: RegExp): Check =>
  (value, name) =>
    typeof value === 'string' && pattern.test(value)
      ? undefined
      : malformed(`${name} must be text that matches ${String(pattern)}.`)

export const boolean: Check = (value, name) =>
  typeof value === 'boolean' ? undefined : malformed(`${name} must be true or false.`)

/** Accepts every value. The caller checks the value later. */
export const anything: Check = () => undefined

const INSTANT = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** Returns the epoch milliseconds of a device's clock: epoch milliseconds, or RFC 3339 with an offset. Undefined if the value is neither. */
export const clockOf = (value: unknown): number | undefined => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined
  const date = typeof value === 'string' ? INSTANT.exec(value)?.[1] : undefined
  return date !== undefined && dayNumberOf(date) !== undefined ? Date.parse(String(value)) : undefined
}

export const clock: Check = (value, name) =>
  clockOf(value) === undefined
    ? malformed(`${name} must be epoch milliseconds or an instant such as 2026-11-16T08:30:00Z.`)
    : undefined
