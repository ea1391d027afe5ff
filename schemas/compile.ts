/**
 * Compiles schemas to the types of the Avro library. Records become plain objects, and fields marked bigint become
 * BigInt.
 */
import avro from 'avsc'
import type { Type } from 'avsc'
import type { NamedSchema, RecordSchema, Schema } from './avro.ts'
import { FRAME } from './guard.ts'

/** Replaces the long of the library, which throws beyond 2^53 and loses the sign of numbers below -(2^52). */
const bigint = avro.types.LongType.__with({
  fromBuffer: (buf: Buffer) => buf.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buf = Buffer.alloc(8)
    buf.writeBigInt64LE(value)
    return buf
  },
  fromJSON: (value: number | string) => BigInt(value),
  toJSON: (value: bigint) => String(value),
  isValid: (value: unknown) => typeof value === 'bigint' && BigInt.asIntN(64, value) === value,
  compare: (a: bigint, b: bigint) => (a < b ? -1 : Number(a > b)),
})

const isMarked = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && 'logicalType' in schema && schema.logicalType === 'bigint'

/** Compiles an expanded schema. Records become plain objects, because folds store and compare them. */
export const compileType = (schema: NamedSchema): Type => {
  const registry: { [name: string]: Type } = {}
  const type = avro.Type.forSchema(mutable(schema), {
    registry,
    omitRecordMethods: true,
    wrapUnions: 'never',
    typeHook: (part) => (isMarked(part) ? bigint : undefined),
  })
  for (const named of Object.values(registry)) plain(named)
  return type
}

/** Returns a copy, because the library changes the schema that it receives. */
const mutable = (schema: Schema): LibrarySchema => structuredClone(schema) as LibrarySchema
type LibrarySchema = Parameters<typeof avro.Type.forSchema>[0]

const plain = (type: Type): void => {
  if (type instanceof avro.types.RecordType)
    (type.recordConstructor as { prototype: object }).prototype = Object.prototype
}

/** The type of `personal`, the last field of every event. */
export const PERSONAL_FIELD: Type = avro.Type.forSchema(['null', 'bytes'], { wrapUnions: 'never' })

/**
 * Returns the schema of an event without its last field, `personal`, and with the fields of the event in one record `data`. A record within a record
 * adds no bytes, so this schema reads and writes the same bytes. It reads directly into `{ meta, data }`, so no fields are copied between objects.
 */
export const headOf = ({ name, aliases, fields }: RecordSchema): RecordSchema => {
  const data: RecordSchema = {
    type: 'record',
    name: `${name}__data`,
    ...suffixed(aliases),
    fields: fields.slice(1, -1),
  }
  return {
    type: 'record',
    name,
    ...(aliases && { aliases }),
    fields: [...fields.slice(0, 1), { name: 'data', type: data }],
  }
}

const suffixed = (aliases: readonly string[] | undefined): { aliases?: readonly string[] } =>
  aliases === undefined ? {} : { aliases: aliases.map((alias) => `${alias}__data`) }

/**
 * Returns the schema of `headOf` with the field `personal`. The guard (the reader of this schema) reads `personal` as the position at which the
 * personal record begins, or null.
 */
export const framedOf = (event: RecordSchema): RecordSchema => {
  const head = headOf(event)
  return {
    ...head,
    fields: [...head.fields, { name: 'personal', type: ['null', { type: 'bytes', logicalType: FRAME }] }],
  }
}
