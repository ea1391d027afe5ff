import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FORGOTTEN, type Event } from '../../../schemas/event.ts'
import type { Schema } from '../../../schemas/avro.ts'
import { isEvent, namesOf, readSources, typeOf } from '../../../schemas/sources.ts'
import { aHistory } from './arbitrary.ts'
import { foldInto, tableOf } from './given.ts'
import { BREAKFAST, ID, metaOf, NOW } from './said.ts'

/** Anything the schemas allow, and now and then something that meets what is there. */
const names = namesOf(readSources())
const string = fc.oneof(fc.constantFrom(ID, '2026-11-16', '2026-11-15', 'fiber', '__proto__', 'p1', '', 'i1'), fc.string(), fc.string({ unit: 'binary', minLength: 60, maxLength: 200 }))
const long = fc.oneof(fc.constantFrom(0, 1, 2, -1, 1000, BREAKFAST, NOW), fc.maxSafeInteger())

const valueOf = (schema: Schema): fc.Arbitrary<unknown> => {
  if (Array.isArray(schema)) return fc.oneof(...(schema as readonly Schema[]).map(valueOf))
  if (typeof schema === 'string') return primitives[schema] ?? valueOf(names.get(schema) ?? 'null')
  const of = schema as Exclude<Schema, string | readonly Schema[]>
  if (of.type === 'record') return fc.record(Object.fromEntries(of.fields.map(({ name, type }) => [name, valueOf(type)])))
  if (of.type === 'enum') return fc.constantFrom(...of.symbols)
  if (of.type === 'array') return fc.array(valueOf(of.items), { maxLength: 4 })
  return primitives[of.type] ?? fc.constant(null)
}

const primitives: Record<string, fc.Arbitrary<unknown>> = {
  null: fc.constant(null), boolean: fc.boolean(), int: fc.oneof(fc.constantFrom(0, 1, -300), fc.integer()), long, string,
}

const anyEvent: fc.Arbitrary<Event> = fc.oneof(...readSources().filter(({ domain }) => domain === 'meals' || domain === 'common').map(({ schema }) => schema).filter(isEvent).map((schema) => {
  const fields = schema.fields.filter(({ name }) => name !== 'meta' && name !== 'personal')
  const personal = names.get(`tributary.meals.${schema.name}Personal`)
  return fc.record({
    data: fc.record(Object.fromEntries(fields.map(({ name, type }) => [name, valueOf(type)]))),
    personal: fc.oneof(fc.constantFrom(null, FORGOTTEN), ...(personal === undefined ? [] : [valueOf(personal)])),
    occurredAt: long as fc.Arbitrary<number>,
  }).map(({ data, personal, occurredAt }) => ({ type: typeOf(schema), meta: metaOf({ occurredAt }), data, personal }))
}))

test('folding never throws, and never writes what is no number or no key, whatever the schemas allow', () =>
  fc.assert(
    fc.property(aHistory, fc.array(anyEvent, { minLength: 1, maxLength: 10, size: 'max' }), (history, wild) => {
      const table = tableOf(history)
      wild.forEach((event, position) => {
        const { items = [] } = foldInto(table, event, history.length + position)
        for (const item of items) {
          expect(item.SK.length).toBeLessThan(300)
          expect(item.SK).not.toContain('undefined')
          expect(numbersIn(item).every(Number.isFinite), JSON.stringify(item)).toBe(true)
        }
      })
    }),
    { numRuns: 400 },
  ))

const numbersIn = (value: unknown): number[] => {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}
