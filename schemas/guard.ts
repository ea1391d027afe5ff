/**
 * Reads a record by its writer's schema from untrusted bytes. Five bytes can claim a billion items, and a decoder that trusts them blocks for
 * minutes. So a guard rejects a record that claims more items than its bytes can contain. A guard is also the fastest way to read, because it reads
 * in one pass and creates objects from literals.
 */
import { isPrimitive, isUnion } from './avro.ts'
import type { EnumSchema, NamedSchema, RecordSchema, Schema } from './avro.ts'
import { bad, hostile, LIMITS, PRIMITIVES, readBigint, readFrame, readVarint } from './cursor.ts'
import type { Cursor, Read } from './cursor.ts'
import { Fault } from './fault.ts'
import { createScale } from './weight.ts'

/** Reads the cursor's bytes from `from` up to `to`. Faults: `hostile-payload`, `bad-payload`. */
export type Guard = (cursor: Cursor, from: number, to: number) => unknown

/** The `logicalType` of bytes that contain another record in wire format. A guard reads such bytes as the position at which that record begins. */
export const FRAME = 'frame'

/** Field names that are refused, because they have a special meaning in a JavaScript object. */
const TRAPS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Compiles a guard from a self-contained schema, as `expand` returns it. */
export const createGuard = (schema: NamedSchema): Guard => {
  const read = createCompiler(schema)(schema)
  return (cursor, from, to) => {
    cursor.name = schema.name
    cursor.pos = from
    cursor.end = to
    cursor.items = cursor.weightless = 0
    cursor.wide = false
    if (to - from > LIMITS.bytes) hostile(cursor, `it has ${to - from} bytes, more than ${LIMITS.bytes}`)
    const value = read(cursor)
    if (cursor.pos !== to) bad(cursor, `${to - cursor.pos} bytes follow the record`)
    return value
  }
}

type Compile = (schema: Schema) => Read

const createCompiler = (whole: NamedSchema): Compile => {
  const named = new Map<string, Read>()
  const weigh = createScale(whole)
  const reference = (name: string): Read => {
    const read = named.get(name)
    if (read === undefined) throw new Fault('bad-schema', `The type ${name} is not defined. Guard the expanded schema.`)
    return read
  }
  const define = (schema: NamedSchema): Read => {
    const read = schema.type === 'record' ? recordRead(schema, compile) : enumRead(schema)
    named.set(schema.name, read)
    return read
  }
  const compile: Compile = (schema) => {
    if (typeof schema === 'string') return isPrimitive(schema) ? PRIMITIVES[schema] : reference(schema)
    if (isUnion(schema)) return unionRead(schema.map(compile))
    if (schema.type === 'record' || schema.type === 'enum') return define(schema)
    if (schema.type === 'array') return arrayRead(compile(schema.items), weigh(schema.items))
    return annotatedRead(schema.logicalType) ?? PRIMITIVES[schema.type]
  }
  return compile
}

const annotatedRead = (logicalType: string | undefined): Read | undefined => {
  if (logicalType === 'bigint') return readBigint
  return logicalType === FRAME ? readFrame : undefined
}

const enumRead =
  ({ symbols }: EnumSchema): Read =>
  (cursor) => {
    const index = readVarint(cursor)
    return symbols[index] ?? bad(cursor, `an enum has no symbol ${index}`)
  }

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Compiles a function that returns an object literal, so that all records of a schema have one hidden class in V8. A loop over the names would be
 * half as fast.
 */
const recordRead = ({ name, fields }: RecordSchema, compile: Compile): Read => {
  const wrong = fields.find((field) => !NAME.test(field.name) || TRAPS.has(field.name))
  if (wrong !== undefined)
    throw new Fault('bad-schema', `${name} has a field that cannot be named ${wrong.name}. Rename it.`)
  const literal = fields.map((field, index) => `${field.name}: r${index}(c)`).join(', ')
  const make = new Function(...fields.map((_, index) => `r${index}`), `return (c) => ({ ${literal} })`) as (
    ...reads: Read[]
  ) => Read
  return make(...fields.map((field) => compile(field.type)))
}

const unionRead =
  (branches: readonly Read[]): Read =>
  (cursor) => {
    const index = readVarint(cursor)
    const branch = branches[index]
    return branch === undefined ? bad(cursor, `a union has no branch ${index}`) : branch(cursor)
  }

/**
 * Reads the number of items of the next block of an array. Returns 0 at the end of the array. If the stored number is negative, the size of the block
 * in bytes follows it.
 */
const readCount = (cursor: Cursor, weight: number): number => {
  const signed = readVarint(cursor)
  const count = Math.abs(signed)
  cursor.blockEnd = -1
  if (signed < 0) {
    const size = readVarint(cursor)
    cursor.blockEnd = cursor.pos + size
    if (size < 0 || cursor.blockEnd > cursor.end)
      hostile(cursor, `a block claims ${size} bytes where ${cursor.end - cursor.pos} are left`)
  }
  const left = cursor.end - cursor.pos
  if (count * weight > left) hostile(cursor, `it claims ${count} items where ${left} bytes are left`)
  if (cursor.items + count > LIMITS.items) hostile(cursor, `it has more than ${LIMITS.items} items`)
  if (weight === 0 && (cursor.weightless += count) > LIMITS.weightless) {
    hostile(cursor, `it claims more than ${LIMITS.weightless} items that take no bytes`)
  }
  cursor.items += count
  return count
}

/** Checks the declared size of a block: a reader that skips the items by the size must reach the same position. */
const closeBlock = (cursor: Cursor, blockEnd: number): void => {
  if (blockEnd >= 0 && blockEnd !== cursor.pos) bad(cursor, 'a block has another size than it declares')
}

const arrayRead =
  (item: Read, weight: number): Read =>
  (cursor) => {
    const items: unknown[] = []
    for (let count = readCount(cursor, weight); count > 0; count = readCount(cursor, weight)) {
      const { blockEnd } = cursor
      for (let index = 0; index < count; index++) items.push(item(cursor))
      closeBlock(cursor, blockEnd)
    }
    return items
  }
