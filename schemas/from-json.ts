/** Reads the fields of an event from JSON that a person typed, and checks them against the newest schema of the event. */
import { definitionsOf, isUnion, shortName } from './avro.ts'
import type { NamedSchema, RecordSchema, Schema } from './avro.ts'
import { Fault } from './fault.ts'
import { lockOf } from './lock.ts'
import { isObject } from './object.ts'
import { createRegistry } from './registry.ts'
import { EARLIEST, FIRST_YEAR, LAST_YEAR, LATEST, rfc3339 } from './rfc3339.ts'

export interface FieldsOfEvent {
  readonly data: Readonly<Record<string, unknown>>
  readonly personal: Readonly<Record<string, unknown>> | null
}

/**
 * Reads the fields of an event from JSON. `json` contains the fields of the event and, under `personal`, the fields of its personal record. A field
 * with a default can be left out. An instant is epoch milliseconds or RFC 3339 text. A number of 64 bits can be a text of its digits.
 * Fault: `bad-event`, with the path of the field.
 */
export const eventFromJson = (type: string, json: unknown, folder?: URL): FieldsOfEvent => {
  const registry = createRegistry(lockOf(folder))
  const event = registry.event(type)
  if (event === undefined) throw badEvent(`No schema is named ${type}. See: tributary schemas show.`)
  if (!isObject(json)) throw badEvent(`The JSON of a ${type} must be an object with the fields of its schema.`)
  const { personal = null, ...data } = json
  const record = event.schema as RecordSchema
  const own: RecordSchema = {
    ...record,
    fields: record.fields.filter(({ name }) => name !== 'meta' && name !== 'personal'),
  }
  const about = registry.personal(event)
  if (personal !== null && about === undefined)
    throw badEvent(`A ${type} has no personal fields: leave out "personal".`)
  const read = (schema: RecordSchema, value: unknown, path: string) =>
    recordOf({ type, types: definitionsOf(schema) }, schema, { value, path })
  return {
    data: read(own, data, ''),
    personal:
      personal === null || about === undefined ? null : read(about.schema as RecordSchema, personal, 'personal.'),
  }
}

interface Reading {
  readonly type: string
  readonly types: ReadonlyMap<string, NamedSchema>
}

interface Place {
  readonly value: unknown
  readonly path: string
}

const recordOf = (
  reading: Reading,
  schema: RecordSchema,
  { value, path }: Place,
): Readonly<Record<string, unknown>> => {
  if (!isObject(value)) throw wrong(reading, path, `an object with ${namesOf(schema)}`)
  const unknown = Object.keys(value).find((name) => !schema.fields.some((field) => field.name === name))
  if (unknown !== undefined)
    throw badEvent(`A ${reading.type} has no field ${path}${unknown}. It has ${namesOf(schema)}.`)
  return Object.fromEntries(
    schema.fields.map((field) => {
      if (Object.hasOwn(value, field.name))
        return [field.name, valueOf(reading, field.type, { value: value[field.name], path: `${path}${field.name}` })]
      if (field.default === undefined)
        throw badEvent(`A ${reading.type} needs the field ${path}${field.name}. It has ${namesOf(schema)}.`)
      return [field.name, field.default]
    }),
  )
}

const valueOf = (reading: Reading, schema: Schema, place: Place): unknown => {
  const { value, path } = place
  if (isUnion(schema))
    return value === null && schema.includes('null')
      ? null
      : valueOf(reading, schema.find((branch) => branch !== 'null') ?? 'null', place)
  if (typeof schema === 'string') {
    const named = reading.types.get(schema)
    return named === undefined ? primitiveOf(reading, schema, place) : valueOf(reading, named, place)
  }
  if ('logicalType' in schema && schema.logicalType === 'timestamp-millis') return instantOf(reading, place)
  if ('logicalType' in schema && schema.logicalType === 'bigint') return digitsOf(reading, place)
  if (schema.type === 'record') return recordOf(reading, schema, { value, path: `${path}.` })
  if (schema.type === 'enum') {
    if (typeof value === 'string' && schema.symbols.includes(value)) return value
    throw wrong(reading, path, `one of ${schema.symbols.join(', ')}`)
  }
  if (schema.type === 'array') {
    if (!Array.isArray(value)) throw wrong(reading, path, 'a list')
    return value.map((member: unknown, index) =>
      valueOf(reading, schema.items, { value: member, path: `${path}.${index}` }),
    )
  }
  return primitiveOf(reading, schema.type, place)
}

/** For each primitive: the check of a value, and the words for a valid value in the error text. */
const PRIMITIVE: Readonly<Record<string, readonly [(value: unknown) => boolean, string]>> = {
  null: [(value) => value === null, 'null'],
  boolean: [(value) => typeof value === 'boolean', 'true or false'],
  string: [(value) => typeof value === 'string' && value.isWellFormed(), 'text'],
  int: [
    (value) => typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 31,
    'a whole number of 32 bits',
  ],
  long: [(value) => Number.isSafeInteger(value), 'a whole number'],
  double: [(value) => typeof value === 'number', 'a number'],
}

const primitiveOf = (reading: Reading, name: string, { value, path }: Place): unknown => {
  const [isRight, what] = PRIMITIVE[name] ?? [
    () => false,
    `of the type ${shortName(name)}, which cannot be typed by hand`,
  ]
  if (isRight(value)) return value
  throw wrong(reading, path, what)
}

const instantOf = (reading: Reading, { value, path }: Place): number => {
  const ms = typeof value === 'string' ? rfc3339(value) : value
  if (typeof ms === 'number' && Number.isInteger(ms) && ms >= EARLIEST && ms <= LATEST) return ms
  throw wrong(
    reading,
    path,
    `epoch milliseconds, or an instant such as 2026-11-16T08:30:00Z, in the years ${FIRST_YEAR} to ${LAST_YEAR}`,
  )
}

const digitsOf = (reading: Reading, { value, path }: Place): bigint => {
  if (Number.isSafeInteger(value) || (typeof value === 'string' && /^-?\d{1,19}$/.test(value)))
    return BigInt(value as number | string)
  throw wrong(reading, path, 'a whole number, or text of its digits')
}

const namesOf = ({ fields }: RecordSchema): string => fields.map(({ name }) => name).join(', ') || 'no fields'

const wrong = ({ type }: Reading, path: string, what: string): Fault =>
  badEvent(`The field ${path} of a ${type} must be ${what}.`)

const badEvent = (message: string): Fault => new Fault('bad-event', message)
