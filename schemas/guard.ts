/**
 * A skim over the bytes of a record, by its writer's schema, before a decoder may see them. The decoder believes what a
 * record claims, and five bytes that claim a billion map entries block it for minutes; this walk is bounded by the bytes
 * that are there.
 */
import { isPrimitive, isUnion } from './avro.ts'
import type { EnumSchema, NamedSchema, RecordSchema, Schema } from './avro.ts'
import { Fault } from './fault.ts'
import { advance, bad, hostile, LIMITS, PRIMITIVE_SKIMS, readLong, skimBigint, skimText } from './skim.ts'
import type { Cursor, Skim } from './skim.ts'
import { createScale } from './weight.ts'

export interface Guard {
  /** Refuses with `hostile-payload` or `bad-payload` what may not be decoded; the record ends where `buf` does. */
  check(buf: Buffer, from: number): void
  /** What the last check saw. */
  readonly seen: { readonly steps: number; readonly wide: boolean }
}

/** Names that are no data on a JavaScript object. */
const TRAPS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
const LONGEST_TRAP = 11

const NOTHING = Buffer.alloc(0)

/** Of a self-contained schema, as `expand` makes it. */
export const createGuard = (schema: NamedSchema): Guard => {
  const skim = createCompiler(schema)(schema)
  const cursor: Cursor = { name: schema.name, buf: NOTHING, pos: 0, items: 0, weightless: 0, depth: 0, steps: 0, wide: false }
  const check = (buf: Buffer, from: number): void => {
    cursor.buf = buf
    cursor.pos = from
    cursor.items = cursor.weightless = cursor.depth = cursor.steps = 0
    cursor.wide = false
    if (buf.length > LIMITS.bytes) hostile(cursor, `it has ${buf.length} bytes, more than ${LIMITS.bytes}`)
    skim(cursor)
    if (cursor.pos !== buf.length) bad(cursor, `${buf.length - cursor.pos} bytes follow the record`)
    cursor.buf = NOTHING
  }
  return { check, seen: cursor }
}

const createCompiler = (whole: NamedSchema): ((schema: Schema) => Skim) => {
  const named = new Map<string, { skim?: Skim }>()
  const weigh = createScale(whole)
  const reference = (name: string): Skim => {
    const target = named.get(name)
    if (target === undefined) throw new Fault('bad-schema', `The type ${name} is not defined. Guard the expanded schema.`)
    // A type that refers to itself is not compiled yet, so it is looked up when it is reached.
    return target.skim ?? ((cursor) => target.skim?.(cursor))
  }
  const define = (schema: NamedSchema): Skim => {
    const entry: { skim?: Skim } = {}
    named.set(schema.name, entry)
    return (entry.skim = namedSkim(schema, compile))
  }
  const compile = (schema: Schema): Skim => {
    if (typeof schema === 'string') return isPrimitive(schema) ? PRIMITIVE_SKIMS[schema] : reference(schema)
    if (isUnion(schema)) return unionSkim(schema.map(compile))
    switch (schema.type) {
      case 'record':
      case 'enum':
      case 'fixed':
        return define(schema)
      case 'array':
        return blocksSkim({ skim: compile(schema.items), weight: weigh(schema.items) })
      case 'map':
        return blocksSkim({ skim: entrySkim(compile(schema.values)), weight: 1 })
      default:
        return 'logicalType' in schema && schema.logicalType === 'bigint' ? skimBigint : PRIMITIVE_SKIMS[schema.type]
    }
  }
  return compile
}

const namedSkim = (schema: NamedSchema, compile: (schema: Schema) => Skim): Skim => {
  if (schema.type === 'record') return recordSkim(schema, compile)
  return schema.type === 'enum' ? enumSkim(schema) : (cursor) => advance(cursor, schema.size)
}

const enter = (cursor: Cursor): void => {
  if (++cursor.depth > LIMITS.depth) hostile(cursor, `it nests deeper than ${LIMITS.depth}`)
}

const recordSkim = (schema: RecordSchema, compile: (schema: Schema) => Skim): Skim => {
  const fields = schema.fields.map((field) => compile(field.type))
  return (cursor) => {
    enter(cursor)
    cursor.steps += fields.length
    for (let index = 0; index < fields.length; index++) (fields[index] as Skim)(cursor)
    cursor.depth--
  }
}

const enumSkim = ({ symbols }: EnumSchema): Skim => (cursor) => {
  const index = readLong(cursor)
  if (index < 0 || index >= symbols.length) bad(cursor, `an enum has no symbol ${index}`)
}

const unionSkim = (branches: readonly Skim[]): Skim => (cursor) => {
  const index = readLong(cursor)
  const branch = branches[index]
  if (branch === undefined) return bad(cursor, `a union has no branch ${index}`)
  branch(cursor)
}

const entrySkim = (value: Skim): Skim => (cursor) => {
  const length = skimText(cursor)
  if (length <= LONGEST_TRAP && TRAPS.has(cursor.buf.toString('latin1', cursor.pos - length, cursor.pos))) hostile(cursor, 'a map has a key that is a trap')
  value(cursor)
}

interface Items {
  readonly skim: Skim
  readonly weight: number
}

/** Arrays and maps: blocks of a count and as many items, until a count of zero. A negative count is followed by the block's size. */
const blocksSkim = (items: Items): Skim => (cursor) => {
  enter(cursor)
  for (let count = readLong(cursor); count !== 0; count = readLong(cursor)) {
    if (count > 0) skimBlock(cursor, items, count)
    else skimSizedBlock(cursor, items, -count)
  }
  cursor.depth--
}

const skimBlock = (cursor: Cursor, { skim, weight }: Items, count: number): void => {
  const left = cursor.buf.length - cursor.pos
  if (count * weight > left) hostile(cursor, `it claims ${count} items where ${left} bytes are left`)
  if ((cursor.items += count) > LIMITS.items) hostile(cursor, `it has more than ${LIMITS.items} items`)
  if (weight === 0 && (cursor.weightless += count) > LIMITS.weightless) hostile(cursor, `it claims more than ${LIMITS.weightless} items that take no bytes`)
  cursor.steps += count
  for (let index = 0; index < count; index++) skim(cursor)
}

/** A reader that does not want the items jumps by the size: it must lead to the same place. */
const skimSizedBlock = (cursor: Cursor, items: Items, count: number): void => {
  const size = readLong(cursor)
  const from = cursor.pos
  if (size < 0 || size > cursor.buf.length - from) hostile(cursor, `a block claims ${size} bytes where ${cursor.buf.length - from} are left`)
  skimBlock(cursor, items, count)
  if (cursor.pos - from !== size) bad(cursor, `a block of ${cursor.pos - from} bytes says it has ${size}`)
}
