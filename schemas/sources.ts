/** The declared types: one Avro IDL file per domain (`meals.avdl`), and `common.avdl` for the types that all domains share. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { fullName, isUnion, qualify, shortName } from './avro.ts'
import type { Field, NamedSchema, RecordSchema, Schema } from './avro.ts'
import { Fault } from './fault.ts'
import { readIdl } from './idl.ts'

/**
 * This file exists only next to the TypeScript sources. The compiled program is in dist/schemas/, so it uses the folder schemas/ of the package
 * instead.
 */
const commonSource = new URL('./common.avdl', import.meta.url)
export const SCHEMAS = existsSync(commonSource)
  ? new URL('./', import.meta.url)
  : new URL('../../schemas/', import.meta.url)

const COMMON = new URL('common.avdl', SCHEMAS)

/** The type of `meta`, the first field of every event. */
export const ENVELOPE = 'tributary.EventMeta'

export interface Source {
  /** The name of the file, for messages: `meals.avdl`. */
  readonly path: string
  readonly domain: string
  readonly schema: NamedSchema
  /** True if the type is from common.avdl of this program and the other sources are from another package. */
  readonly shared?: true
}

/**
 * Every type of a folder, with the fields `meta` and `personal` added to the events. The folder of another package does not declare the types of these
 * fields, so the result then also contains the types of our common.avdl.
 */
export const readSources = (root: URL = SCHEMAS): readonly Source[] => {
  const own = readdirSync(root)
    .filter((file) => file.endsWith('.avdl'))
    .sort()
    .flatMap((file) => readFile(new URL(file, root)))
  const shared = own.some(({ schema }) => fullName(schema) === ENVELOPE) ? [] : readFile(COMMON)
  return addFrames([...shared.map((source) => ({ ...source, shared: true }) as const), ...own])
}

/** The types of one file outside `schemas/`, for `openCodec`. */
export const readSchemas = (file: URL): readonly NamedSchema[] => addFrames(readFile(file)).map(({ schema }) => schema)

const readFile = (file: URL): readonly Source[] => {
  const path = basename(file.pathname)
  return readIdl(readFileSync(file, 'utf8'), path).map((schema) => ({ path, domain: basename(path, '.avdl'), schema }))
}

/** Adds `meta` and `personal` to the events: the records to which no other type refers, without the envelope and the personal records. */
const addFrames = (sources: readonly Source[]): readonly Source[] => {
  const known = namesOf(sources)
  const parts = new Set([ENVELOPE, ...sources.flatMap(({ schema }) => partsOf(schema))])
  return sources.map((source) => {
    const { schema, path } = source
    const name = fullName(schema)
    if (known.get(name) !== schema)
      throw new Fault('bad-schema', `schemas/${path}: ${name} is declared twice. Rename one.`)
    if (schema.type !== 'record' || parts.has(name) || name.endsWith(PERSONAL)) return source
    return { ...source, schema: withFrame(schema, { path, hasPersonal: known.has(personalName(name)) }) }
  })
}

const withFrame = (
  schema: RecordSchema,
  { path, hasPersonal }: { path: string; hasPersonal: boolean },
): RecordSchema => {
  const framed = schema.fields.find(({ name }) => name === 'meta' || name === 'personal')
  if (framed !== undefined)
    throw new Fault(
      'bad-schema',
      `schemas/${path}: ${schema.name} declares the field ${framed.name}, which every event has. Remove it.`,
    )
  const doc = hasPersonal
    ? `The ${personalName(schema.name)} record of the subject, framed with its own schema id.`
    : 'Always null.'
  const personal: Field = { name: 'personal', type: ['null', 'bytes'], default: null, doc }
  return { ...schema, fields: [{ name: 'meta', type: ENVELOPE }, ...schema.fields, personal] }
}

/** The full names of the types that a type refers to, without itself. */
const partsOf = (schema: NamedSchema): readonly string[] => {
  const self = fullName(schema)
  const namesIn = (part: Schema): readonly string[] => {
    if (typeof part === 'string') return [qualify(part, schema.namespace ?? '')]
    if (isUnion(part)) return part.flatMap(namesIn)
    if (part.type === 'array') return namesIn(part.items)
    return part.type === 'record' ? part.fields.flatMap(({ type }) => namesIn(type)) : []
  }
  return namesIn(schema).filter((name) => name !== self)
}

export const namesOf = (sources: readonly Source[]): ReadonlyMap<string, NamedSchema> =>
  new Map(sources.map(({ schema }) => [fullName(schema), schema]))

/** True for an event: a record whose first field is `meta`. */
export const isEvent = (schema: NamedSchema): schema is RecordSchema =>
  schema.type === 'record' && schema.fields[0]?.name === 'meta'

const PERSONAL = 'Personal'

export const personalName = (event: string): string => `${event}${PERSONAL}`

/** True for the events and their personal records: the schemas that are written to the log. */
export const isWritten = (schema: NamedSchema, known: ReadonlyMap<string, NamedSchema>): schema is RecordSchema => {
  if (schema.type !== 'record') return false
  if (isEvent(schema)) return true
  const name = fullName(schema)
  return name.endsWith(PERSONAL) && known.has(name.slice(0, -PERSONAL.length))
}

export const typeOf = (schema: NamedSchema): string => shortName(schema.name)
