import { isAscii, isUtf8 } from 'node:buffer'
import { mistake, Problem } from './problem.ts'

/**
 * Parses a JSON body. Undefined if the body is empty. Throws a Problem for content that would be changed or lost silently (bad UTF-8, repeated
 * fields, lost digits, -0), and for content that is not accepted: deep nesting, forbidden names, control characters and extreme numbers.
 */
export const parseBody = (bytes: Buffer): unknown => {
  if (bytes.length === 0) return undefined
  const ascii = isAscii(bytes)
  if (!ascii && !isUtf8(bytes)) throw new Problem(400, 'bad-utf8', 'The body is not valid UTF-8. Encode it as UTF-8.')
  const text = bytes.toString(ascii ? 'latin1' : 'utf8')
  const shape = measure(text)
  if (shape.depth > MAX_DEPTH)
    throw new Problem(400, 'too-deep', `The body is nested deeper than ${MAX_DEPTH} levels. Flatten it.`)
  const value = parsed(text)
  const seen = { fields: 0 }
  if (isPlain(text, shape)) countFields(value, seen)
  else inspect(value, '', seen)
  if (shape.digits > MAX_DIGITS) {
    throw new Problem(
      400,
      'number-too-precise',
      `A number has more than ${MAX_DIGITS} significant digits, and some would be lost. Round it.`,
    )
  }
  if (seen.fields !== shape.fields)
    throw new Problem(400, 'duplicate-field', 'An object contains a field twice. Send it once.')
  return value
}

const MAX_DEPTH = 32
/** A double keeps at most 17 significant digits. */
const MAX_DIGITS = 17

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Problem(
      400,
      'malformed-json',
      `The body is not JSON: ${cause instanceof Error ? withoutContent(cause.message) : 'it cannot be parsed'}.`,
      { cause },
    )
  }
}

/** Returns only the position from an error message of V8. The message quotes the body, but answers and logs must not contain the body. */
const withoutContent = (message: string): string =>
  /at position \d+/.exec(message)?.[0].replace('at', 'the error is at') ?? 'it cannot be parsed'

const QUOTE = 34
const BACKSLASH = 92
const COLON = 58
const isOpening = (char: number) => char === 123 || char === 91
const isClosing = (char: number) => char === 125 || char === 93

interface Shape {
  readonly depth: number
  readonly fields: number
  /** The largest number of significant digits in one number, without zeros at its end. */
  readonly digits: number
  /** The largest number of digits in one number, from its first digit that is not 0, with zeros at its end. */
  readonly longest: number
  /** True if a number may have a sign or an exponent: outside of strings, the text contains a minus or the letter e. */
  readonly signed: boolean
}

/** Measures properties of the text that JSON.parse does not report: the nesting, the number of fields, and the digits of numbers. */
const measure = (text: string): Shape => {
  let [depth, level, fields, digits, run, longest] = [0, 0, 0, 0, 0, 0]
  let signed = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === ZERO) run += run > 0 ? 1 : 0
    else if (isDigit(char)) digits = Math.max(digits, (run += 1))
    else if (char !== DOT) run = 0
    longest = Math.max(longest, run)
    if (char === QUOTE) at = endOfString(text, at)
    else if (char === COLON) fields += 1
    else if (isOpening(char)) depth = Math.max(depth, (level += 1))
    else if (isClosing(char)) level -= 1
    else if (char === MINUS || char === LOWER_E || char === UPPER_E) signed = true
  }
  return { depth, fields, digits, longest, signed }
}

const MINUS = 45
const UPPER_E = 69
const LOWER_E = 101
const ZERO = 48
const DOT = 46
const isDigit = (char: number) => char >= 48 && char <= 57

const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

const isEscaped = (text: string, quote: number): boolean => {
  let at = quote - 1
  while (text.charCodeAt(at) === BACKSLASH) at -= 1
  return (quote - at) % 2 === 0
}

/** Matches JSON that `inspect` must check. Other JSON contains nothing forbidden if its numbers are short and have no minus and no exponent. */
const OUT_OF_THE_ORDINARY = /[\\\u007f]|proto|constructor|0{90}/

/** True if `inspect` would certainly accept the text. Most bodies are plain, so `inspect` does not have to visit every value. */
const isPlain = (text: string, { signed, longest }: Shape): boolean =>
  !signed && longest <= MAX_DIGITS && !OUT_OF_THE_ORDINARY.test(text)

const countFields = (value: unknown, seen: { fields: number }): void => {
  if (typeof value !== 'object' || value === null) return
  const members = Object.values(value)
  if (!Array.isArray(value)) seen.fields += members.length
  for (const member of members) countFields(member, seen)
}

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

const inspect = (value: unknown, pointer: string, seen: { fields: number }): void => {
  if (typeof value === 'string') inspectText(value, pointer)
  else if (typeof value === 'number') inspectNumber(value, pointer)
  else if (Array.isArray(value))
    for (let at = 0; at < value.length; at += 1) inspect(value[at], `${pointer}/${at}`, seen)
  else if (typeof value === 'object' && value !== null) inspectObject(value, pointer, seen)
}

const inspectObject = (value: object, pointer: string, seen: { fields: number }): void => {
  for (const [name, member] of Object.entries(value)) {
    seen.fields += 1
    inspectText(name, pointer)
    const path = `${pointer}/${name.includes('~') || name.includes('/') ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name}`
    if (FORBIDDEN_KEYS.has(name))
      throw mistake(400, {
        pointer: path,
        code: 'forbidden-name',
        detail: `A field must not have the name ${name}. Rename it.`,
      })
    inspect(member, path, seen)
  }
}

/** True if the number is too close to 0. The limit of DynamoDB is 1e-130. This limit is higher, because folds can compute still smaller numbers. */
export const isTooSmall = (value: number): boolean => value !== 0 && Math.abs(value) < 1e-100

const inspectNumber = (value: number, pointer: string): void => {
  if (!Number.isFinite(value))
    throw mistake(400, {
      pointer,
      code: 'number-not-finite',
      detail: 'The number is too large to be stored. Send a smaller one.',
    })
  if (isTooSmall(value))
    throw mistake(400, {
      pointer,
      code: 'number-too-small',
      detail: 'The number is closer to zero than 1e-100, so it cannot be stored. Send 0.',
    })
  if (Object.is(value, -0))
    throw mistake(400, { pointer, code: 'negative-zero', detail: 'Negative zero is not allowed. Send 0.' })
}

const SUSPECT = /[\p{Cs}\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/u
const LONE_SURROGATE = /\p{Cs}/u

const inspectText = (value: string, pointer: string): void => {
  if (!SUSPECT.test(value)) return
  if (LONE_SURROGATE.test(value))
    throw mistake(400, {
      pointer,
      code: 'lone-surrogate',
      detail: 'The text contains half a character (a lone surrogate). Send whole characters.',
    })
  throw mistake(400, {
    pointer,
    code: 'control-character',
    detail: 'The text contains a control character. Only tab and line breaks are allowed.',
  })
}
