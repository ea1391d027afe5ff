/** lock.json: every version of every record that was ever written, with its id. Entries are added and never changed. */
import { readFileSync } from 'node:fs'
import { expand, fingerprintOf } from './avro.ts'
import type { NamedSchema, RecordSchema } from './avro.ts'
import { Fault } from './fault.ts'
import { isWritten, namesOf, SCHEMAS } from './sources.ts'
import type { Source } from './sources.ts'

export interface Locked {
  /** On the wire. */
  readonly id: number
  readonly name: string
  readonly version: number
  readonly fingerprint: string
  /** Self-contained, so that what others define can change without changing what was written. */
  readonly schema: RecordSchema
}

export interface Lock {
  /** Ids are given in order; with this, an entry that is gone is missed. */
  readonly nextId: number
  readonly schemas: readonly Locked[]
}

export const EMPTY_LOCK: Lock = { nextId: 1, schemas: [] }

export const readLock = (url: URL = new URL('lock.json', SCHEMAS)): Lock => {
  try {
    return JSON.parse(readFileSync(url, 'utf8')) as Lock
  } catch (cause) {
    throw new Fault('bad-schema', 'schemas/lock.json cannot be read, and it names all that was ever written. Restore it.', { cause })
  }
}

/** One entry a line, so that two branches that add one each are merged with open eyes. */
export const formatLock = ({ nextId, schemas }: Lock): string =>
  `{\n"nextId": ${nextId},\n"schemas": [\n${schemas.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n}\n`

export const latest = (lock: Lock): ReadonlyMap<string, Locked> => {
  const byName = new Map<string, Locked>()
  for (const entry of lock.schemas) if (entry.version > (byName.get(entry.name)?.version ?? 0)) byName.set(entry.name, entry)
  return byName
}

/** What the files say now: events and their personal records, each self-contained. */
export const writtenNow = (sources: readonly Source[]): readonly RecordSchema[] => {
  const known = namesOf(sources)
  return sources
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
  return { nextId: lock.nextId + added.length, schemas: [...lock.schemas, ...added] }
}
