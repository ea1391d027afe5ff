/** The .avsc files as they lie in the tree: one folder a domain, and `common` for what all share. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { fullName, shortName } from './avro.ts'
import type { NamedSchema, RecordSchema } from './avro.ts'
import { Fault, messageOf } from './fault.ts'

/** The compiled program lies in dist/ and the schemas beside it, in the package's own folder. */
const beside = new URL('./common/EventMeta.avsc', import.meta.url)
export const SCHEMAS = existsSync(beside) ? new URL('./', import.meta.url) : new URL('../../schemas/', import.meta.url)

export interface Source {
  /** Folder and file, for messages: `meals/MealLogged.avsc`. */
  readonly path: string
  readonly domain: string
  readonly schema: NamedSchema
}

export const readSources = (root: URL = SCHEMAS): readonly Source[] =>
  readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .flatMap((domain) => readDomain(root, domain))

const readDomain = (root: URL, domain: string): readonly Source[] =>
  readdirSync(new URL(`${domain}/`, root))
    .filter((file) => file.endsWith('.avsc'))
    .sort()
    .map((file) => readSource(root, domain, file))

const readSource = (root: URL, domain: string, file: string): Source => {
  const path = `${domain}/${file}`
  const text = readFileSync(new URL(path, root), 'utf8')
  try {
    const schema = JSON.parse(text) as NamedSchema
    if (file !== `${schema.name}.avsc`) throw new Error(`it defines ${schema.name}; name the file after it`)
    return { path, domain, schema }
  } catch (cause) {
    throw new Fault('bad-schema', `schemas/${path} cannot be used: ${messageOf(cause)}.`, { cause })
  }
}

export const namesOf = (sources: readonly Source[]): ReadonlyMap<string, NamedSchema> =>
  new Map(sources.map(({ schema }) => [fullName(schema), schema]))

/** An event is a record that begins with the envelope; its type is its short name. */
export const isEvent = (schema: NamedSchema): schema is RecordSchema => schema.type === 'record' && schema.fields[0]?.name === 'meta'

export const personalName = (event: string): string => `${event}Personal`

/** What events are written with: the events themselves and the records of their personal field. */
export const isWritten = (schema: NamedSchema, known: ReadonlyMap<string, NamedSchema>): schema is RecordSchema => {
  if (schema.type !== 'record') return false
  if (isEvent(schema)) return true
  const name = fullName(schema)
  return name.endsWith('Personal') && known.has(name.slice(0, -'Personal'.length))
}

export const typeOf = (schema: NamedSchema): string => shortName(schema.name)
