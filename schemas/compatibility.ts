/**
 * The checks of all schemas together: the lock is complete and current, and every version can read every other
 * version of its record.
 */
import { definitionsOf, fingerprintOf, isUnion, shortName } from './avro.ts'
import type { RecordSchema, Schema } from './avro.ts'
import { compileType } from './compile.ts'
import { messageOf } from './fault.ts'
import { extendLock, latest, readLock, writtenNow } from './lock.ts'
import type { Lock, Locked } from './lock.ts'
import { docProblems, shapeProblems } from './rules.ts'
import type { Problem, Rule } from './rules.ts'
import { isEvent, readSources, SCHEMAS } from './sources.ts'
import type { Source } from './sources.ts'

export interface SchemaInfo {
  readonly id: number
  readonly name: string
  readonly version: number
  readonly fingerprint: string
  /** True if events are written with this version. */
  readonly current: boolean
}

export interface Report {
  readonly ok: boolean
  readonly schemas: readonly SchemaInfo[]
  readonly problems: readonly Problem[]
}

export interface Catalog {
  readonly sources: readonly Source[]
  readonly lock: Lock
}

/** Reads the schemas of a folder. Default: those of this program. */
export const readCatalog = (folder: URL = SCHEMAS): Catalog => ({
  sources: readSources(folder),
  lock: readLock(new URL('lock.json', folder)),
})

export const listSchemas = (lock: Lock = readLock()): readonly SchemaInfo[] => {
  const newest = latest(lock)
  return lock.schemas.map((entry) => {
    const { id, name, version, fingerprint } = entry
    return { id, name, version, fingerprint, current: newest.get(name) === entry }
  })
}

export const checkSchemas = ({ sources, lock }: Catalog = readCatalog()): Report => {
  const now = writtenNow(sources)
  const problems = [
    ...sources.flatMap(docProblems),
    ...now.flatMap(shapeProblems),
    ...typeProblems(now),
    ...lockProblems(lock),
    ...staleProblems(lock, now),
    ...versionProblems(lock),
  ]
  return { ok: problems.length === 0, schemas: listSchemas(lock), problems }
}

const problem = (schema: string, rule: Rule, detail: string): Problem => ({ schema, rule, detail })

const typeProblems = (now: readonly RecordSchema[]): readonly Problem[] => {
  const types = now.filter(isEvent).map(({ name }) => shortName(name))
  return now
    .filter((schema) => isEvent(schema) && types.filter((type) => type === shortName(schema.name)).length > 1)
    .map(({ name }) =>
      problem(name, 'one-type-one-event', `Another domain has an event ${shortName(name)}. Rename one.`),
    )
}

const lockProblems = ({ firstId = 1, nextId, schemas }: Lock): readonly Problem[] => {
  const intact = (schema: string, detail: string): Problem =>
    problem(schema, 'lock-intact', `${detail} Restore schemas/lock.json from version control.`)
  const ids = new Set(schemas.map(({ id }) => id))
  const versions = new Map<string, number>()
  const found: Problem[] = []
  if (ids.size !== schemas.length) found.push(intact('lock.json', 'An id is used twice.'))
  for (let id = firstId; id < nextId; id++) {
    if (!ids.has(id)) found.push(intact('lock.json', `The entry with id ${id} is missing, and events can contain it.`))
  }
  for (const { id, name, version, fingerprint, schema } of schemas) {
    if (id < firstId || id >= nextId) found.push(intact(name, `Its id ${id} was never assigned.`))
    if (version !== (versions.get(name) ?? 0) + 1) found.push(intact(name, `Version ${version} is out of order.`))
    if (fingerprint !== fingerprintOf(schema) || name !== schema.name) {
      found.push(intact(name, `Version ${version} does not match its fingerprint.`))
    }
    versions.set(name, version)
  }
  return found
}

const staleProblems = (lock: Lock, now: readonly RecordSchema[]): readonly Problem[] => {
  const retired = new Set(lock.retired)
  const declared = new Set(now.flatMap(({ name, aliases = [] }) => [name, ...aliases]))
  const changed = extendLock(lock, now).schemas.slice(lock.schemas.length)
  const gone = [...latest(lock).keys()].filter((name) => !declared.has(name) && !retired.has(name))
  return [
    ...changed.map(({ name }) =>
      problem(
        name,
        'lock-current',
        'It differs from the lock. Run npm run codegen -- --lock, or in a package of your own: tributary schemas codegen --lock.',
      ),
    ),
    ...gone.map((name) =>
      problem(
        name,
        'lock-current',
        'Logs can contain events of it, and no .avdl file declares it. Declare it again, name it as an alias of another record, or add it to "retired" in lock.json. If no log of this package exists yet, delete lock.json and lock the schemas again.',
      ),
    ),
  ]
}

const versionProblems = (lock: Lock): readonly Problem[] => {
  const versions = new Map<string, Locked[]>()
  for (const entry of lock.schemas) versions.set(entry.name, [...(versions.get(entry.name) ?? []), entry])
  return [...versions.values()].flatMap((entries) =>
    entries.flatMap((entry, index) =>
      entries.slice(0, index).flatMap((before) => [...readProblems(entry, before), ...readProblems(before, entry)]),
    ),
  )
}

/** The reasons why `reader` cannot read everything that `writer` wrote. Avro's rules, and a conversion that can change a number is a problem too. */
const readProblems = (reader: Locked, writer: Locked): readonly Problem[] => {
  const report = (reason: string): Problem =>
    problem(
      reader.name,
      'readable-by-all-versions',
      `Version ${reader.version} cannot read version ${writer.version}: ${reason}.`,
    )
  try {
    compileType(reader.schema).createResolver(compileType(writer.schema))
  } catch (error) {
    return [report(messageOf(error))]
  }
  return numberChanges(reader.schema, writer.schema).map(report)
}

/**
 * The fields whose numbers would lose their exact value. Avro itself allows these changes: it reads a long as a double, and does not distinguish
 * the bigint of this program from a long.
 */
const numberChanges = (reader: RecordSchema, writer: RecordSchema): readonly string[] => {
  const named = [definitionsOf(reader), definitionsOf(writer)] as const
  const found: string[] = []
  const compare = (into: Schema, from: Schema, path: string): void => {
    const [a, b] = [bare(into, named[0]), bare(from, named[1])]
    if (kindOf(a) !== kindOf(b)) found.push(`${path} is ${kindOf(a)} in one and ${kindOf(b)} in the other`)
    if (typeof a === 'string' || typeof b === 'string' || isUnion(a) || isUnion(b)) return
    if (a.type === 'array' && b.type === 'array') return compare(a.items, b.items, `${path}[]`)
    if (a.type !== 'record' || b.type !== 'record') return
    for (const field of a.fields) {
      const other = b.fields.find(({ name }) => name === field.name || field.aliases?.includes(name))
      if (other !== undefined) compare(field.type, other.type, path === '' ? field.name : `${path}.${field.name}`)
    }
  }
  compare(reader, writer, '')
  return found
}

/** Removes null from a union, and replaces the name of a type by its definition. */
const bare = (schema: Schema, named: ReadonlyMap<string, Schema>): Schema => {
  if (isUnion(schema)) return bare(schema.find((branch) => branch !== 'null') ?? 'null', named)
  return typeof schema === 'string' ? (named.get(schema) ?? schema) : schema
}

const kindOf = (schema: Schema): string => {
  if (typeof schema === 'string') return schema
  if (isUnion(schema)) return 'union'
  return 'logicalType' in schema && schema.logicalType === 'bigint' ? 'bigint' : schema.type
}
