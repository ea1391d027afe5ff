/** Finds the schema with an id, and the newest schema, which reads the records of older versions. */
import { fingerprintOf, fullName, shortName } from './avro.ts'
import type { NamedSchema, RecordSchema } from './avro.ts'
import { Fault } from './fault.ts'
import { expandRecord, latest } from './lock.ts'
import type { Lock, Locked } from './lock.ts'
import { shapeProblems } from './rules.ts'
import { isEvent, isWritten, namesOf, personalName, readSources } from './sources.ts'

/** Schemas that are not in the lock, for the domain of a test or a tutorial. They can refer to the types of the .avdl files in schemas/. */
export interface ExtraSchemas {
  readonly schemas?: readonly NamedSchema[]
  /** Older versions of these schemas, oldest first. They are read and never written. */
  readonly history?: readonly RecordSchema[]
}

export interface Registry {
  byId(id: number): Locked | undefined
  /** The newest schema of an event type. */
  event(type: string): Locked | undefined
  /** The newest schema of the personal record of an event. Undefined if the event has no personal record. */
  personal(event: Locked): Locked | undefined
  /** The newest schema of a record, which reads all versions of it. For a renamed record: the schema that has the old name as an alias. */
  reader(writer: Locked): Locked
}

export const createRegistry = (lock: Lock, extra: ExtraSchemas = {}): Registry => {
  const entries = [...lock.schemas, ...extraEntries(lock, extra)]
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const current = latest({ nextId: 0, schemas: entries })
  const aliased = new Map(
    [...current.values()].flatMap((entry) => (entry.schema.aliases ?? []).map((alias) => [alias, entry] as const)),
  )
  const readerOf = (writer: Locked): Locked => aliased.get(writer.name) ?? current.get(writer.name) ?? writer
  const events = new Map<string, Locked>()
  for (const entry of current.values()) {
    const type = shortName(entry.name)
    if (!isEvent(entry.schema) || readerOf(entry) !== entry) continue
    if (events.has(type)) throw new Fault('bad-schema', `Two domains have an event ${type}. Rename ${entry.name}.`)
    events.set(type, entry)
  }
  return {
    byId: (id) => byId.get(id),
    event: (type) => events.get(type),
    personal: (event) => current.get(personalName(event.name)),
    reader: readerOf,
  }
}

/** The types of the .avdl files, which are read once per process. */
let declared: ReadonlyMap<string, NamedSchema> | undefined

const extraEntries = (lock: Lock, { schemas = [], history = [] }: ExtraSchemas): readonly Locked[] => {
  if (schemas.length === 0) return []
  declared ??= namesOf(readSources())
  const known = new Map(declared)
  for (const schema of schemas) known.set(fullName(schema), schema)
  const locked = latest(lock)
  const versions = new Map<string, number>()
  return [...history, ...schemas]
    .filter((schema): schema is RecordSchema => isWritten(schema, known))
    .map((schema) => {
      const expanded = sound(expandRecord(schema, known))
      const { name } = expanded
      const version = (versions.get(name) ?? locked.get(name)?.version ?? 0) + 1
      versions.set(name, version)
      const fingerprint = fingerprintOf(expanded)
      return { id: idOf(fingerprint), name, version, fingerprint, schema: expanded }
    })
}

/** Checks an extra schema, which can come from anywhere. The schemas of the lock were checked before. Fault: `bad-schema`. */
const sound = (schema: RecordSchema): RecordSchema => {
  const [problem] = shapeProblems(schema)
  if (problem !== undefined) throw new Fault('bad-schema', `${problem.schema}: ${problem.detail}`)
  return schema
}

/** The id of an extra schema. It is far above the ids of the lock, and the same in every process. */
const idOf = (fingerprint: string): number => 0x40000000 + (Number.parseInt(fingerprint.slice(0, 8), 16) % 0x3fffffff)
