/**
 * Writes a record in one pass, if it is plainly what its schema says: every field there, none beside them, each well within its range.
 * It declines everything else, and the careful way (`encode.ts`) writes it or says what is wrong with it.
 */
import { isPrimitive, isUnion } from './avro.ts'
import type { NamedSchema, Primitive, RecordSchema, Schema } from './avro.ts'

export interface Page {
  readonly buf: Buffer
  pos: number
}

/** False: declined, and what was written so far means nothing. */
type Write = (page: Page, value: unknown) => boolean
export type Pen = Write

/** Undefined where the schema holds something that is left to the library (maps, fixed, floats, BigInt, unions of many, types within themselves). */
export const createPen = (schema: NamedSchema): Pen | undefined => {
  const named = new Map<string, Write | undefined>()
  const define = (part: NamedSchema): Write | undefined => {
    named.set(part.name, undefined)
    const write = part.type === 'record' ? recordWrite(part, compile) : part.type === 'enum' ? enumWrite(part.symbols) : undefined
    named.set(part.name, write)
    return write
  }
  const compile = (part: Schema): Write | undefined => {
    if (typeof part === 'string') return isPrimitive(part) ? PRIMITIVES[part] : named.get(part)
    if (isUnion(part)) return part.length === 2 && part[0] === 'null' ? optionalWrite(compile(part[1] as Schema)) : undefined
    if (part.type === 'record' || part.type === 'enum' || part.type === 'fixed') return define(part)
    if (part.type === 'array') return arrayWrite(compile(part.items))
    if (part.type === 'map' || part.logicalType === 'bigint') return undefined
    return PRIMITIVES[part.type]
  }
  return compile(schema)
}

/** A call for each field by its name, so that every one knows the shape it meets; a loop over names would be half as fast. */
const recordWrite = ({ fields }: RecordSchema, compile: (part: Schema) => Write | undefined): Write | undefined => {
  const writes = fields.map((field) => compile(field.type))
  if (writes.includes(undefined) || !fields.every(({ name }) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name))) return undefined
  const calls = fields.map(({ name }, index) => ` && w${index}(p, v.${name})`).join('')
  const make = new Function('is', ...writes.map((_, index) => `w${index}`), `return (p, v) => is(v)${calls}`) as (...parts: unknown[]) => Write
  return make((value: unknown) => hasFields(value, fields.length), ...writes)
}

/** As many as there should be: one that is missing is found when it is written. */
const hasFields = (value: unknown, count: number): boolean => typeof value === 'object' && value !== null && Object.keys(value).length === count

const enumWrite = (symbols: readonly string[]): Write => (page, value) => {
  const index = symbols.indexOf(value as string)
  return index >= 0 && writeLong(page, index)
}

const optionalWrite = (write: Write | undefined): Write | undefined =>
  write && ((page, value) => {
    page.buf[page.pos++] = value === null ? 0 : 2
    return value === null || write(page, value)
  })

const FEW = 1_000

const arrayWrite = (write: Write | undefined): Write | undefined =>
  write && ((page, value) => {
    if (!Array.isArray(value) || value.length > FEW) return false
    if (value.length > 0) writeLong(page, value.length)
    for (const item of value) if (!write(page, item)) return false
    page.buf[page.pos++] = 0
    return true
  })

const WIDE = 2 ** 52

const writeLong: Write = (page, value) => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value >= WIDE || value <= -WIDE) return false
  let rest = value < 0 ? -2 * value - 1 : 2 * value
  for (; rest >= 2 ** 31; rest = Math.floor(rest / 128)) page.buf[page.pos++] = rest % 128 | 128
  for (; rest >= 128; rest >>>= 7) page.buf[page.pos++] = rest & 127 | 128
  page.buf[page.pos++] = rest
  return true
}

const writeDouble: Write = (page, value) => {
  if (typeof value !== 'number' || !Number.isFinite(value) || page.pos + 8 > page.buf.length) return false
  page.pos = page.buf.writeDoubleLE(value, page.pos)
  return true
}

/** Below this a loop over characters costs less than a call out of JavaScript. */
const SHORT = 64

const writeString: Write = (page, value) => {
  if (typeof value !== 'string' || page.pos + 3 * value.length + 5 > page.buf.length) return false
  const { length } = value
  const start = page.pos
  if (length > SHORT) return writeText(page, value)
  writeLong(page, length)
  const { buf } = page
  let at = page.pos
  for (let index = 0; index < length; index += 1) {
    const char = value.charCodeAt(index)
    if (char >= 0x80) {
      page.pos = start
      return writeText(page, value)
    }
    buf[at++] = char
  }
  page.pos = at
  return true
}

const LONE_SURROGATE = /\p{Cs}/u

const writeText = (page: Page, value: string): boolean => {
  const bytes = Buffer.byteLength(value)
  if (bytes !== value.length && LONE_SURROGATE.test(value)) return false
  writeLong(page, bytes)
  page.pos += page.buf.write(value, page.pos, 'utf8')
  return true
}

const writeBytes: Write = (page, value) => {
  if (!Buffer.isBuffer(value) || page.pos + value.length + 5 > page.buf.length) return false
  writeLong(page, value.length)
  page.buf.set(value, page.pos)
  page.pos += value.length
  return true
}

/** `["null", "bytes"]`: how every event ends. */
export const writePersonalField: Write = (page, value) => {
  page.buf[page.pos++] = value === null ? 0 : 2
  return value === null || writeBytes(page, value)
}

const PRIMITIVES: { readonly [name in Primitive]: Write | undefined } = {
  null: (_, value) => value === null,
  boolean: (page, value) => {
    page.buf[page.pos++] = value === true ? 1 : 0
    return typeof value === 'boolean'
  },
  int: (page, value) => value === ((value as number) | 0) && writeLong(page, value),
  long: writeLong,
  float: undefined,
  double: writeDouble,
  bytes: writeBytes,
  string: writeString,
}
