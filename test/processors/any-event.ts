import fc from 'fast-check'
import { expect } from 'vitest'
import type { Item } from '../../projections/item.ts'
import type { Change, Domain } from '../../projections/projection.ts'
import { FORGOTTEN, type Event, type EventMeta } from '../../schemas/event.ts'
import type { Schema } from '../../schemas/avro.ts'
import { isEvent, namesOf, readSources, typeOf } from '../../schemas/sources.ts'

/** What meets what is there: strings, whole numbers, numbers. */
export interface Meeting {
  readonly strings: readonly string[]
  readonly longs: readonly number[]
  readonly doubles?: readonly number[]
  readonly meta: (meta: Partial<EventMeta>) => EventMeta
}

const sources = readSources()
const names = namesOf(sources)

/** Every event type that a domain folds. */
export const heardBy = ({ projections }: Domain) => sources.map(({ schema }) => schema).filter(isEvent).filter((schema) => projections.some(({ folds }) => folds[typeOf(schema)] !== undefined))

/** Anything the schemas allow, and now and then something that meets what is there. */
export const anyEventOf = (domain: Domain, { strings, longs, doubles = [], meta }: Meeting): fc.Arbitrary<Event> => {
  const string = fc.oneof(fc.constantFrom(...strings, '__proto__', ''), fc.string(), fc.string({ unit: 'binary', minLength: 60, maxLength: 200 }))
  const long = fc.oneof(fc.constantFrom(0, 1, 2, -1, 1000, ...longs), fc.maxSafeInteger())
  const bigint = fc.oneof(fc.constantFrom(0n, 1n, 3000n, -1n, 10n ** 18n), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n))
  const primitives: Record<string, fc.Arbitrary<unknown>> = {
    null: fc.constant(null), boolean: fc.boolean(), int: fc.oneof(fc.constantFrom(0, 1, 2, -300), fc.integer()), long, double: fc.oneof(fc.constantFrom(0, 1, ...doubles), fc.double()), string,
  }
  const valueOf = (schema: Schema): fc.Arbitrary<unknown> => {
    if (Array.isArray(schema)) return fc.oneof(...(schema as readonly Schema[]).map(valueOf))
    if (typeof schema === 'string') return primitives[schema] ?? valueOf(names.get(schema) ?? 'null')
    const of = schema as Exclude<Schema, string | readonly Schema[]>
    if (of.type === 'record') return fc.record(Object.fromEntries(of.fields.map(({ name, type }) => [name, valueOf(type)])))
    if (of.type === 'enum') return fc.constantFrom(...of.symbols)
    if (of.type === 'array') return fc.array(valueOf(of.items), { maxLength: 4 })
    if ('logicalType' in of && of.logicalType === 'bigint') return bigint
    return primitives[of.type] ?? fc.constant(null)
  }
  return fc.oneof(...heardBy(domain).map((schema) => {
    const fields = schema.fields.filter(({ name }) => name !== 'meta' && name !== 'personal')
    const personal = names.get(`tributary.${domain.name}.${schema.name}Personal`)
    return fc.record({
      data: fc.record(Object.fromEntries(fields.map(({ name, type }) => [name, valueOf(type)]))),
      personal: fc.oneof(fc.constantFrom(null, FORGOTTEN), ...(personal === undefined ? [] : [valueOf(personal)])),
      occurredAt: long,
    }).map(({ data, personal, occurredAt }) => ({ type: typeOf(schema), meta: meta({ occurredAt }), data, personal }))
  }))
}

/** A key that a store takes, and numbers that are numbers. */
export const expectFit = (item: Change): void => {
  expect(item.SK.length).toBeLessThan(400)
  expect(item.PK.length + item.SK.length).toBeLessThan(1000)
  expect(item.SK).not.toContain('undefined')
  expect(numbersIn(item as Item).every(Number.isFinite), item.PK + item.SK).toBe(true)
}

const numbersIn = (value: unknown): number[] => {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}
