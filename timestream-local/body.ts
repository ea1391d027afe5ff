import { invalid } from './service-error.ts'

export type Body = Readonly<Record<string, unknown>>

/** True if the value is a JSON object. */
export const isBody = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * This function and the next ones read one field of a request's JSON. They throw a `ValidationException` that names the field if its value is not
 * allowed. The `optional…` functions return undefined if the field is missing or null.
 */
export const optionalText = (body: Body, field: string): string | undefined => {
  const value = body[field]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw invalid(`${field} must be a string.`)
  return value
}

export const requiredText = (body: Body, field: string): string => {
  const value = optionalText(body, field)
  if (value === undefined || value === '') throw invalid(`${field} is missing. Send a string that is not empty.`)
  return value
}

export const optionalWhole = (
  body: Body,
  field: string,
  [low, high]: readonly [number, number],
): number | undefined => {
  const value = body[field]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw invalid(`${field} must be a whole number.`)
  if (value < low || value > high) throw invalid(`${field} is ${value}. It must be between ${low} and ${high}.`)
  return value
}

export const optionalFlag = (body: Body, field: string): boolean | undefined => {
  const value = body[field]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'boolean') throw invalid(`${field} must be true or false.`)
  return value
}

export const optionalBody = (body: Body, field: string): Body | undefined => {
  const value = body[field]
  if (value === undefined || value === null) return undefined
  if (!isBody(value)) throw invalid(`${field} must be an object.`)
  return value
}

export const optionalList = (body: Body, field: string): readonly Body[] | undefined => {
  const value = body[field]
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) throw invalid(`${field} must be a list.`)
  return value.map((entry) => {
    if (!isBody(entry)) throw invalid(`${field} must be a list of objects.`)
    return entry
  })
}
