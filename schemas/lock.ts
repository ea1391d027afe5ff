/** lock.json contains every version of every written record, with its id. Entries are added and never changed. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expand, fingerprintOf, fullName } from './avro.ts'
import type { NamedSchema, RecordSchema } from './avro.ts'
import { Fault } from './fault.ts'
import { isWritten, namesOf, readSources, SCHEMAS } from './sources.ts'
import type { Source } from './sources.ts'

export interface Locked {
  /** The id of the schema in the bytes of an event. */
  readonly id: number
  readonly name: string
  readonly version: number
  readonly fingerprint: string
  /** Contains the definitions of all types that it uses, so that changes in other schemas do not change it. */
  readonly schema: RecordSchema
}

export interface Lock {
  /** The id of the first entry. Default: 1. In another package it is at least 100,000, so that its ids differ from the ids of this program. */
  readonly firstId?: number
  /** The id of the next new entry. Ids are assigned in order, so a smaller id without an entry shows that an entry is missing. */
  readonly nextId: number
  /** Records that no file declares any more. A person adds the names. The entries of these records stay, so that their events stay readable. */
  readonly retired?: readonly string[]
  readonly schemas: readonly Locked[]
}

export const EMPTY_LOCK: Lock = { nextId: 1, schemas: [] }

/** The lock of a new package. Its ids depend on the name of its first record, and are far from those of this program. */
export const emptyLockOf = (name: string): Lock => {
  const hash = Number.parseInt(createHash('sha256').update(name).digest('hex').slice(0, 8), 16)
  const firstId = FIRST_FOREIGN_ID + (hash % FOREIGN_RANGES) * FOREIGN_RANGE
  return { firstId, nextId: firstId, schemas: [] }
}
const [FIRST_FOREIGN_ID, FOREIGN_RANGE, FOREIGN_RANGES] = [100_000, 1_000, 1_000_000]

/**
 * The schemas of a domain. Without `folder`: the schemas of this program. With the folder of a package: its schemas and those that all domains share.
 * Fault: `bad-schema` if the lock of the package is missing or uses an id of the shared schemas.
 */
export const lockOf = (folder?: URL): Lock => {
  const ours = readLock()
  if (folder === undefined) return ours
  const own = readLock(new URL('lock.json', folder))
  const names = new Set(readSources().flatMap(({ domain, schema }) => (domain === 'common' ? [fullName(schema)] : [])))
  const shared = ours.schemas.filter(({ name }) => names.has(name))
  const twice = own.schemas.find(({ id }) => shared.some((entry) => entry.id === id))
  if (twice !== undefined)
    throw new Fault(
      'bad-schema',
      `${folder.pathname}lock.json gives ${twice.name} the id ${twice.id}, which a schema of all domains has.`,
    )
  const retired = own.retired ?? []
  return { nextId: own.nextId, retired, schemas: [...shared, ...own.schemas] }
}

export const readLock = (url: URL = new URL('lock.json', SCHEMAS)): Lock => {
  try {
    return JSON.parse(readFileSync(url, 'utf8')) as Lock
  } catch (cause) {
    throw new Fault(
      'bad-schema',
      `${url.pathname} cannot be read. It contains every schema that was ever written. Restore it from version control. For a new package, run tributary schemas codegen --lock.`,
      { cause },
    )
  }
}

/** Writes one entry per line, so that two branches that both add an entry give a merge conflict. */
export const formatLock = ({ firstId, nextId, retired, schemas }: Lock): string => {
  const first = firstId === undefined ? '' : `"firstId": ${firstId},\n`
  const gone = retired === undefined ? '' : `"retired": ${JSON.stringify(retired)},\n`
  const entries = schemas.map((entry) => JSON.stringify(entry)).join(',\n')
  return `{\n${first}"nextId": ${nextId},\n${gone}"schemas": [\n${entries}\n]\n}\n`
}

export const latest = (lock: Lock): ReadonlyMap<string, Locked> => {
  const byName = new Map<string, Locked>()
  for (const entry of lock.schemas)
    if (entry.version > (byName.get(entry.name)?.version ?? 0)) byName.set(entry.name, entry)
  return byName
}

/** The current schemas of events and their personal records, each with the definitions of all types that it uses. */
export const writtenNow = (sources: readonly Source[]): readonly RecordSchema[] => {
  const known = namesOf(sources)
  return sources
    .filter(({ shared }) => shared !== true)
    .map(({ schema }) => schema)
    .filter((schema): schema is RecordSchema => isWritten(schema, known))
    .map((schema) => expandRecord(schema, known))
}

export const expandRecord = (schema: RecordSchema, known: ReadonlyMap<string, NamedSchema>): RecordSchema =>
  expand(schema, known) as RecordSchema

/** The lock with a new version for each record that is new or has changed. */
export const extendLock = (lock: Lock, now: readonly RecordSchema[]): Lock => {
  const before = latest(lock)
  const added = now
    .map((schema) => ({ schema, fingerprint: fingerprintOf(schema), old: before.get(schema.name) }))
    .filter(({ fingerprint, old }) => old?.fingerprint !== fingerprint)
    .map(({ schema, fingerprint, old }, index) => {
      const { name } = schema
      return { id: lock.nextId + index, name, version: (old?.version ?? 0) + 1, fingerprint, schema }
    })
  return { ...lock, nextId: lock.nextId + added.length, schemas: [...lock.schemas, ...added] }
}
