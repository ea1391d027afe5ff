import fc from 'fast-check'
import { foldedTypes, type ContractCase, type Pools } from './case.ts'
import { expand, fullName, type NamedSchema, type RecordSchema, type Schema } from '../../schemas/avro.ts'
import type { Domain } from '../../projections/projection.ts'
import { FORGOTTEN, type Event } from '../../schemas/event.ts'
import { isEvent, personalName, readSources, typeOf, type Source } from '../../schemas/sources.ts'

/** The schemas by the folder that contains them. */
const read = new Map<string | undefined, readonly Source[]>()
const sourcesOf = ({ record: { domain } }: ContractCase): readonly Source[] => {
  const folder = domain.schemas
  const sources = read.get(folder?.href) ?? readSources(folder)
  read.set(folder?.href, sources)
  return sources
}

/** The schemas of the domain's folder, and those that the case adds. Each schema contains the types to which it refers. */
const schemasOf = (subject: ContractCase): readonly NamedSchema[] => {
  const { schemas = [] } = subject
  const declared = [...sourcesOf(subject).map(({ schema }) => schema), ...schemas]
  const known = new Map(declared.map((schema) => [fullName(schema), schema]))
  return declared.map((schema) => expand(schema, known))
}

/** The event types that the domain declares. Empty for a further domain, because the main domain of the record declares its events. */
export const ownTypes = (subject: ContractCase): readonly string[] => {
  const { record, isFurther, schemas = [] } = subject
  if (isFurther) return []
  const { name, schemas: folder } = record.domain
  const own = sourcesOf(subject).filter(({ domain, shared }) => (folder === undefined ? domain === name : !shared))
  return [...own.map(({ schema }) => schema), ...schemas].filter(isEvent).map(typeOf)
}

/** The schemas of the events that the domain folds. */
export const foldedSchemas = (subject: ContractCase): readonly RecordSchema[] => {
  const folded = foldedTypes(subject.record.domain)
  return schemasOf(subject)
    .filter(isEvent)
    .filter((schema) => folded.has(typeOf(schema)))
}

/** Texts of 1,500 and 1,600 bytes. They are too long for a sort key, which has at most 1,024 bytes. */
const LONG = ['x'.repeat(1_500), '\u{10FFFF}'.repeat(400)]
/** Texts that often cause mistakes in keys of items, in objects and at limits. */
export const STRANGE: readonly string[] = [
  '',
  ' ',
  '#',
  'a#b',
  '..',
  '__proto__',
  'constructor',
  '\u0000',
  '😀',
  ...LONG,
]

/** Every generated event is recorded after this instant, in epoch milliseconds. */
const START = Date.UTC(2026, 10, 16, 12)

type Kind = 'plausible' | 'any'

/** Values for the fields of the events that every domain with tokens folds, by the name of the field. */
const COMMON: Readonly<Record<string, readonly unknown[]>> = {
  patId: ['p1', 'p2'],
  hash: ['ab'.repeat(32), 'cd'.repeat(32)],
  date: ['2026-11-15', '2026-11-16'],
}

const fieldsOf = ({ fields }: Pools, key: string): Readonly<Record<string, readonly unknown[]>> => ({
  ...COMMON,
  ...fields?.(key),
})

/**
 * Generates finite numbers that a store can contain, NaN and the infinities. Replaces other finite numbers by 0. Edges refuse such numbers, because
 * an event with such a number parks its key. So folds never receive them.
 */
const double = fc
  .double()
  .map((value) => (Number.isFinite(value) && (Math.abs(value) < 1e-100 || Math.abs(value) > 1e100) ? 0 : value))

/** Returns generators by the name of a primitive type. `plausible`: values of the pools, and small numbers. `any`: all values of the type. */
const primitivesOf = (pools: Pools, kind: Kind): Readonly<Record<string, fc.Arbitrary<unknown>>> => {
  const { keys, people = keys } = pools
  const pooled = [...keys, ...people, ...keys.flatMap((key) => Object.values(fieldsOf(pools, key)).flat())]
  const strings = pooled.filter((value) => typeof value === 'string')
  const numbers = pooled.filter((value) => typeof value === 'number')
  const longs = numbers.filter(Number.isInteger)
  const either = <T>(few: readonly T[], more: fc.Arbitrary<T>): fc.Arbitrary<T> =>
    kind === 'any' ? fc.oneof(fc.constantFrom(...few), more) : fc.constantFrom(...few)
  return {
    null: fc.constant(null),
    boolean: fc.boolean(),
    string: either(strings, fc.oneof(fc.constantFrom(...STRANGE), fc.constantFrom(...LONG), fc.string())),
    int: either([0, 1, 2, 60], fc.integer()),
    long: either(
      [0, 1, 2, 1000, ...longs, ...(kind === 'any' ? [-1, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] : [])],
      fc.maxSafeInteger(),
    ),
    double: either([0, 1, 2.5, ...numbers], double),
    bigint: either([0n, 1n, 3000n], fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)),
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  int: 'number',
  long: 'number',
  double: 'number',
  bigint: 'bigint',
  boolean: 'boolean',
}

/**
 * Returns generators of values for Avro schemas. A field that has a pool gets values of this pool. With the kind `any`, it sometimes gets other
 * values, too.
 */
const createValues = (subject: ContractCase, kind: Kind, key: string) => {
  const names = new Map(schemasOf(subject).map((schema) => [fullName(schema), schema]))
  const primitives = primitivesOf(subject.pools, kind)
  const pools = fieldsOf(subject.pools, key)
  const primitive = (type: string, field: string): fc.Arbitrary<unknown> => {
    const general = primitives[type] ?? fc.constant(null)
    const pool = (pools[field] ?? []).filter((value) => typeof value === TYPES[type])
    if (pool.length === 0) return general
    return kind === 'any' ? fc.oneof(fc.constantFrom(...pool), general, general) : fc.constantFrom(...pool)
  }
  const named = (name: string): NamedSchema => {
    const schema = names.get(name)
    if (schema === undefined) throw new Error(`No schema declares ${name}.`)
    return schema
  }
  const valueOf = (schema: Schema, field: string): fc.Arbitrary<unknown> => {
    if (Array.isArray(schema)) return fc.oneof(...(schema as readonly Schema[]).map((each) => valueOf(each, field)))
    if (typeof schema === 'string')
      return primitives[schema] === undefined ? valueOf(named(schema), field) : primitive(schema, field)
    const of = schema as Exclude<Schema, string | readonly Schema[]>
    if (of.type === 'record') return record(of.fields)
    if (of.type === 'enum') return fc.constantFrom(...of.symbols)
    if (of.type === 'array') return fc.array(valueOf(of.items, field), { maxLength: 4 })
    return primitive('logicalType' in of && of.logicalType === 'bigint' ? 'bigint' : of.type, field)
  }
  const record = (fields: RecordSchema['fields']): fc.Arbitrary<unknown> =>
    fc.record(Object.fromEntries(fields.map(({ name, type }) => [name, valueOf(type, name)])))
  const personalOf = (schema: RecordSchema): fc.Arbitrary<unknown> => {
    const personal = names.get(personalName(fullName(schema)))
    const none = kind === 'any' || personal === undefined ? [null, FORGOTTEN] : [FORGOTTEN]
    return personal === undefined
      ? fc.constantFrom(...none)
      : fc.oneof({ weight: 3, arbitrary: valueOf(personal, '') }, { weight: 1, arbitrary: fc.constantFrom(...none) })
  }
  return { record, personalOf }
}

/** A generated event that has no time yet. The function returns the event with the time `now`, in epoch milliseconds. */
type Drawn = (now: number) => Event

/** Generates events of one type and one log key. */
const drawnOf = (subject: ContractCase, schema: RecordSchema, kind: Kind, key: string): fc.Arbitrary<Drawn> => {
  const {
    record: { domain },
    pools: { keys, people = keys },
  } = subject
  const { record, personalOf } = createValues(subject, kind, key)
  return fc
    .record({
      actor: fc.constantFrom(...people, null),
      number: fc.noBias(fc.maxSafeNat()),
      at:
        kind === 'any'
          ? fc.constantFrom(null, null, null, 0, -1, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
          : fc.constant(null),
      data: record(schema.fields.filter(({ name }) => name !== 'meta' && name !== 'personal')),
      personal: personalOf(schema),
    })
    .map(({ actor, number, at, data, personal }) => (now) => ({
      type: typeOf(schema),
      meta: {
        eventId: `drawn-${number}`,
        key,
        occurredAt: at ?? now,
        recordedAt: now,
        source: 'test',
        correlationId: null,
        causationId: null,
        actorId: actor,
        subjectId: isKeyedByPerson(domain, typeOf(schema)) ? key : actor,
        request: null,
      },
      data,
      personal,
    }))
}

const isKeyedByPerson = ({ keyedByPeople }: Domain, type: string): boolean =>
  keyedByPeople === undefined || keyedByPeople.includes(type)

const keysFor = (
  { record: { domain }, pools: { keys, people = keys } }: ContractCase,
  type: string,
  kind: Kind,
): readonly string[] => {
  if (kind === 'any') return [...new Set([...keys, ...people, '__proto__'])]
  return domain.keyedByPeople?.includes(type) === true ? people : keys
}

/** A generated sequence of events that has no times yet. The function returns the events, all later than `start` (epoch milliseconds). */
type Following = (start: number) => readonly Event[]

const eventsOf = (
  subject: ContractCase,
  kind: Kind,
  {
    types,
    ...lengths
  }: { readonly maxLength: number; readonly minLength?: number; readonly types?: readonly string[] | undefined },
): fc.Arbitrary<Following> => {
  const schemas = foldedSchemas(subject).filter((schema) => types?.includes(typeOf(schema)) ?? true)
  if (schemas.length === 0) return fc.constant(() => [])
  const wait = fc.constantFrom(1, 1_000, 60_000, 3_600_000)
  const drawn = fc.oneof(
    ...schemas.map((schema) =>
      fc.oneof(...keysFor(subject, typeOf(schema), kind).map((key) => drawnOf(subject, schema, kind, key))),
    ),
  )
  return fc.array(fc.tuple(wait, drawn), { ...lengths, size: 'max' }).map((steps) => (start) => {
    let now = start
    return steps.map(([ms, event]) => event((now += ms)))
  })
}

/** Generates events that the schemas allow, of any type and with any value. */
export const anyEvents = (subject: ContractCase): fc.Arbitrary<readonly Event[]> =>
  eventsOf(subject, 'any', { minLength: 1, maxLength: 20 }).map((following) => following(START))

/**
 * Generates plausible histories of the domain. If the case has a `history`, takes histories from it and adds some generated events of the given
 * types to each. Default of `types`: every type that the domain folds. If the case has no `history`, generates all events, of every type.
 */
export const histories = (subject: ContractCase, types?: readonly string[]): fc.Arbitrary<readonly Event[]> => {
  const { history } = subject
  if (history === undefined)
    return eventsOf(subject, 'plausible', { maxLength: 40 }).map((following) => following(START))
  return fc
    .tuple(history, eventsOf(subject, 'plausible', { maxLength: 8, types }))
    .map(([events, following]) => [...events, ...following(lastOf(events))])
}

/** The latest time at which one of the events was recorded, in epoch milliseconds. At least `START`. */
export const lastOf = (events: readonly Event[]): number =>
  events.reduce((latest, { meta }) => Math.max(latest, meta.recordedAt), START)

/** Generates histories in which the subject of every event is the person that its personal field is about. */
export const personalHistories = (subject: ContractCase): fc.Arbitrary<readonly Event[]> =>
  histories(subject, subject.record.domain.keyedByPeople)
