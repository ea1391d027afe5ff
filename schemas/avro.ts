/**
 * Avro schemas as JSON. `expand` makes a schema self-contained and brings it into the form that is fingerprinted.
 */
import { createHash } from 'node:crypto'
import { Fault } from './fault.ts'

const PRIMITIVES = ['null', 'boolean', 'int', 'long', 'double', 'bytes', 'string'] as const
export type Primitive = (typeof PRIMITIVES)[number]

export interface Field {
  readonly name: string
  readonly type: Schema
  readonly default?: unknown
  readonly doc?: string
  readonly aliases?: readonly string[]
}

interface Named {
  readonly name: string
  readonly namespace?: string
  readonly doc?: string
  readonly aliases?: readonly string[]
}

export interface RecordSchema extends Named {
  readonly type: 'record'
  readonly fields: readonly Field[]
}
export interface EnumSchema extends Named {
  readonly type: 'enum'
  readonly symbols: readonly string[]
  readonly default?: string
}
export type NamedSchema = RecordSchema | EnumSchema
interface ArraySchema {
  readonly type: 'array'
  readonly items: Schema
}
/**
 * A primitive with an annotation. With `logicalType: "bigint"`, an annotation of this program, a long has the whole 64-bit range and is read as a
 * BigInt.
 */
interface AnnotatedSchema {
  readonly type: Primitive
  readonly logicalType?: string
}
/** A string is a primitive or the name of a type. */
export type Schema = string | readonly Schema[] | NamedSchema | ArraySchema | AnnotatedSchema

export const isPrimitive = (name: string): name is Primitive => PRIMITIVES.some((primitive) => primitive === name)

export const isUnion = (schema: Schema): schema is readonly Schema[] => Array.isArray(schema)

const isNamed = (schema: Exclude<Schema, string | readonly Schema[]>): schema is NamedSchema =>
  schema.type === 'record' || schema.type === 'enum'

export const qualify = (name: string, namespace: string): string =>
  name.includes('.') || namespace === '' ? name : `${namespace}.${name}`

export const fullName = ({ name, namespace = '' }: Named, enclosing = ''): string =>
  qualify(name, namespace || enclosing)

export const shortName = (name: string): string => name.slice(name.lastIndexOf('.') + 1)

const namespaceOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf('.')))

/**
 * Makes a schema self-contained: replaces the first use of each named type by its definition. Names are full, attributes have a fixed order, and
 * docs are removed. Everything that remains decides how bytes are read, and is fingerprinted.
 */
export const expand = (schema: NamedSchema, known: ReadonlyMap<string, NamedSchema>): NamedSchema => {
  const walk = createWalk(known, FINGERPRINTED)
  return walk(schema, '') as NamedSchema
}

/** Like `expand`, for people and for other tools: keeps the docs, and splits the name of each defined type into name and namespace. */
export const expandWithDocs = (schema: NamedSchema, known: ReadonlyMap<string, NamedSchema>): NamedSchema => {
  const walk = createWalk(known, DOCUMENTED)
  return walk(schema, '') as NamedSchema
}

/** How `expand` and `expandWithDocs` write the name and the doc of a type, and the doc of a field. */
interface Form {
  readonly heading: (name: string, doc: string | undefined) => Named
  readonly doc: (field: Field) => Pick<Field, 'doc'>
}

const FINGERPRINTED: Form = { heading: (name) => ({ name }), doc: () => ({}) }

const DOCUMENTED: Form = {
  heading: (name, doc) => ({ name: shortName(name), namespace: namespaceOf(name), ...(doc !== undefined && { doc }) }),
  doc: ({ doc }) => (doc === undefined ? {} : { doc }),
}

/** Types of Avro that no schema may use, and their replacements. */
const UNSUPPORTED: { readonly [type: string]: string } = {
  float: 'Use double.',
  fixed: 'Use bytes.',
  map: 'Use an array of records with a name and a value.',
}

/** Returns a function that makes a schema self-contained. Fault: `bad-schema`, for example for an unsupported type or a type that contains itself. */
const createWalk = (
  known: ReadonlyMap<string, NamedSchema>,
  form: Form,
): ((schema: Schema, namespace: string) => Schema) => {
  const written = new Set<string>()
  /** The names of the records that contain the current part. The innermost record is the last. */
  const around: string[] = []
  const requireSupported = (type: string): void => {
    if (Object.hasOwn(UNSUPPORTED, type))
      throw new Fault(
        'bad-schema',
        `${around.at(-1)} uses the Avro type ${type}, which is not supported. ${UNSUPPORTED[type]}`,
      )
  }
  const byName = (name: string, namespace: string): Schema => {
    if (isPrimitive(name)) return name
    requireSupported(name)
    const full = known.has(name) || written.has(name) ? name : qualify(name, namespace)
    if (around.includes(full))
      throw new Fault(
        'bad-schema',
        `The type ${full} contains itself, which is not supported. Use an array of records that name each other by an id.`,
      )
    if (written.has(full)) return full
    const definition = known.get(full)
    if (definition === undefined)
      throw new Fault(
        'bad-schema',
        `${around.at(-1)} refers to ${full}, which no schema defines. Declare it in an .avdl file or correct the name.`,
      )
    return walk(definition, namespaceOf(full))
  }
  const named = (schema: NamedSchema, namespace: string): NamedSchema => {
    const name = fullName(schema, namespace)
    if (written.has(name))
      throw new Fault('bad-schema', `The type ${name} is defined twice in one schema. Refer to it by name.`)
    written.add(name)
    const heading = form.heading(name, schema.doc)
    const aliases = schema.aliases && { aliases: schema.aliases.map((alias) => qualify(alias, namespaceOf(name))) }
    if (schema.type === 'record') {
      around.push(name)
      const fields = schema.fields.map((field) => fieldOf(field, namespaceOf(name)))
      around.pop()
      return { type: 'record', ...heading, ...aliases, fields }
    }
    return {
      type: 'enum',
      ...heading,
      ...aliases,
      symbols: schema.symbols,
      ...(schema.default !== undefined && { default: schema.default }),
    }
  }
  const fieldOf = (field: Field, namespace: string): Field => ({
    name: field.name,
    type: walk(field.type, namespace),
    ...(field.default !== undefined && { default: field.default }),
    ...(field.aliases && { aliases: field.aliases }),
    ...form.doc(field),
  })
  const walk = (schema: Schema, namespace: string): Schema => {
    if (typeof schema === 'string') return byName(schema, namespace)
    if (isUnion(schema)) return schema.map((branch) => walk(branch, namespace))
    if (isNamed(schema)) return named(schema, namespace)
    if (schema.type === 'array') return { type: 'array', items: walk(schema.items, namespace) }
    requireSupported(schema.type)
    return schema.logicalType === undefined
      ? byName(schema.type, namespace)
      : { type: schema.type, logicalType: schema.logicalType }
  }
  return walk
}

/** The named types that an expanded schema defines. */
export const definitionsOf = (schema: NamedSchema): ReadonlyMap<string, NamedSchema> => {
  const found = new Map<string, NamedSchema>()
  const walk = (part: Schema): void => {
    if (typeof part === 'string') return
    if (isUnion(part)) return part.forEach(walk)
    if ('name' in part) found.set(part.name, part)
    if (part.type === 'record') part.fields.forEach((field) => walk(field.type))
    else if (part.type === 'array') walk(part.items)
  }
  walk(schema)
  return found
}

/** SHA-256 of the expanded form. */
export const fingerprintOf = (expanded: NamedSchema): string =>
  createHash('sha256').update(JSON.stringify(expanded)).digest('hex')
