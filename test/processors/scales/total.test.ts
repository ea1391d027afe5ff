import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FORGOTTEN, type Event } from '../../../schemas/event.ts'
import type { Schema } from '../../../schemas/avro.ts'
import { isEvent, namesOf, readSources, typeOf } from '../../../schemas/sources.ts'
import { scales } from '../../../processors/scales/domain.ts'
import { aHistory } from './arbitrary.ts'
import { foldInto, tableOf } from './given.ts'
import { metaOf, MINUTE, NOW } from './said.ts'

/** Anything the schemas allow, and now and then something that meets what is there. */
const names = namesOf(readSources())
const meeting = ['loc-001', 'loc-001-A', 'loc-001-k1', '01', 'b1', 'low_keg', 'silent_device', 'TAP#01', 'DEVICE#loc-001-A', 'guinness', 'half_barrel', '__proto__', 'p1', '']
const string = fc.oneof(fc.constantFrom(...meeting), fc.string(), fc.string({ unit: 'binary', minLength: 60, maxLength: 200 }))
const long = fc.oneof(fc.constantFrom(0, 1, 2, -1, 1000, NOW, NOW + MINUTE), fc.maxSafeInteger())
const double = fc.oneof(fc.constantFrom(0, 1, 50, 95.25, -5, 161.5), fc.double())

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
  null: fc.constant(null), boolean: fc.boolean(), int: fc.oneof(fc.constantFrom(0, 1, 2, -300), fc.integer()), long, double, string,
}

const heard = readSources().map(({ schema }) => schema).filter(isEvent).filter((schema) => scales.projections.some(({ folds }) => folds[typeOf(schema)] !== undefined))

const anyEvent: fc.Arbitrary<Event> = fc.oneof(...heard.map((schema) => {
  const fields = schema.fields.filter(({ name }) => name !== 'meta' && name !== 'personal')
  return fc.record({
    data: fc.record(Object.fromEntries(fields.map(({ name, type }) => [name, valueOf(type)]))),
    personal: fc.constantFrom(null, FORGOTTEN),
    occurredAt: long as fc.Arbitrary<number>,
  }).map(({ data, personal, occurredAt }) => ({ type: typeOf(schema), meta: metaOf({ occurredAt }), data, personal }))
}))

test('every event that scales may say is folded', () => expect(heard.length).toBe(34))

test('folding never throws, and never writes what is no number or no key, whatever the schemas allow', () =>
  fc.assert(
    fc.property(aHistory, fc.array(anyEvent, { minLength: 1, maxLength: 10, size: 'max' }), (history, wild) => {
      const table = tableOf(history)
      wild.forEach((event, position) => {
        for (const { items = [] } of foldInto(table, event, history.length + position)) {
          for (const item of items) {
            expect(item.SK.length).toBeLessThan(400)
            expect(item.PK.length + item.SK.length).toBeLessThan(1000)
            expect(item.SK).not.toContain('undefined')
            expect(numbersIn(item).every(Number.isFinite), JSON.stringify(item)).toBe(true)
          }
        }
      })
    }),
    { numRuns: 200 },
  ))

const numbersIn = (value: unknown): number[] => {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}
