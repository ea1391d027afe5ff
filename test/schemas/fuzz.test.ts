import avro from 'avsc'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RecordSchema } from '../../schemas/avro.ts'
import { openCodec } from '../../schemas/codec.ts'
import type { Codec } from '../../schemas/codec.ts'
import { compileType, framedOf, headOf } from '../../schemas/compile.ts'
import { aim, createCursor } from '../../schemas/cursor.ts'
import type { Event } from '../../schemas/event.ts'
import { Fault } from '../../schemas/fault.ts'
import { createGuard } from '../../schemas/guard.ts'
import { readLock } from '../../schemas/lock.ts'
import { isEvent } from '../../schemas/sources.ts'
import { inputCount } from '../../testing/property-runs.ts'
import { MEALS } from './meals.ts'
import { FILLED, TOY } from './toy.ts'

const codec = openCodec({ schemas: TOY })
const samples: readonly Event[] = [...MEALS, FILLED]
const valid = samples.map((event) => Buffer.from(codec.encode(event)))
const CODES = ['not-wire-format', 'unknown-schema', 'hostile-payload', 'bad-payload']

/** Decodes the bytes. Returns the event, or undefined if the codec throws one of its faults. Any other error fails the test. */
const survives = (bytes: Uint8Array): Event | undefined => {
  try {
    return codec.decode(bytes)
  } catch (error) {
    if (!(error instanceof Fault) || !CODES.includes(error.code)) throw error
    return undefined
  }
}

const schemas: readonly RecordSchema[] = readLock().schemas.map(({ schema }) => schema)
const guards = schemas.map((schema) => createGuard(isEvent(schema) ? framedOf(schema) : schema))
const cursor = createCursor()

/** Checks that a guard (the check of bytes before they are decoded) reads no more list items than the size of the bytes and of the schema allows. */
const bounded = (bytes: Buffer): void => {
  aim(cursor, bytes)
  for (const [index, guard] of guards.entries()) {
    try {
      guard(cursor, 0, bytes.length)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
    }
    expect(cursor.items).toBeLessThanOrEqual(3 * bytes.length + JSON.stringify(schemas[index]).length)
  }
}

const anyValid = fc.constantFrom(...valid)
const where = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
const edit = fc.tuple(where, fc.uint8Array({ maxLength: 6 }), fc.integer({ min: 0, max: 6 }))
const mutated = fc.tuple(anyValid, fc.array(edit, { minLength: 1, maxLength: 4 })).map(([bytes, edits]) =>
  edits.reduce((buf, [share, put, cut]) => {
    const at = Math.floor(share * (buf.length + 1))
    return Buffer.concat([buf.subarray(0, at), put, buf.subarray(at + cut)])
  }, bytes),
)
/** Generates bytes. Half of them have a special meaning in Avro: they begin large numbers, or are negative counts or ends of blocks. */
const nasty = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 1, 2, 3, 0x7f, 0x80, 0xff))
const headed = fc
  .tuple(anyValid, fc.array(nasty, { maxLength: 60 }))
  .map(([bytes, tail]) => Buffer.concat([bytes.subarray(0, 5), Buffer.from(tail)]))

describe('the codec under random bytes', () => {
  test('random bytes are refused with a fault', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void survives(bytes)),
      { numRuns: inputCount(5_000) },
    )
  })

  test('random bytes after a known header are refused or read', () => {
    fc.assert(
      fc.property(headed, (bytes) => void survives(bytes)),
      { numRuns: inputCount(10_000) },
    )
  })

  test('a mutated event is refused, or read as a value that can be written again', () => {
    let read = 0
    fc.assert(
      fc.property(mutated, (bytes) => {
        const event = survives(bytes)
        if (event === undefined) return
        read++
        expect(codec.decode(codec.encode(event))).toStrictEqual(event)
      }),
      { numRuns: inputCount(10_000) },
    )
    expect(read).toBeGreaterThan(0)
  })

  test('an event cut short anywhere is refused', () => {
    for (const bytes of valid) {
      for (let length = 0; length < bytes.length; length++) expect(survives(bytes.subarray(0, length))).toBeUndefined()
    }
  })

  test('the guard reads no more items than the bytes and the schema allow', () => {
    fc.assert(
      fc.property(fc.oneof(mutated, headed), (bytes) => bounded(bytes.subarray(5))),
      { numRuns: inputCount(1_000) },
    )
  })
})

describe('the codec under random events', () => {
  const codePoint = fc
    .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
    .map((code) => String.fromCodePoint(code))
  const special = fc.constantFrom('', 'constructor', '\uFFFD', 'a\0b')
  const words = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: codePoint }), special)
  const long = fc.oneof(fc.integer(), fc.integer({ min: -(2 ** 52), max: 2 ** 53 - 2 }))
  const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null })
  const meta = fc.record(
    {
      eventId: words,
      key: words,
      occurredAt: long,
      recordedAt: long,
      source: words,
      correlationId: orNull(words),
      causationId: orNull(words),
      actorId: orNull(words),
      subjectId: orNull(words),
      request: orNull(fc.record({ key: words, hash: words }, { noNullPrototype: true })),
    },
    { noNullPrototype: true },
  )
  const amounts = fc.array(fc.record({ name: words, amount: long }, { noNullPrototype: true }), { maxLength: 5 })
  const logged = fc.record(
    {
      type: fc.constant('MealLogged'),
      meta,
      data: fc.record(
        {
          mealId: words,
          eatenAt: long,
          tz: words,
          utcOffsetMinutes: fc.integer(),
          userDate: words,
          dayOverridden: fc.boolean(),
          dayRuleVersion: fc.integer(),
          calories: long,
          protein: long,
          carbs: long,
          fat: long,
          extended: amounts,
          dropped: amounts,
          registryVersion: orNull(long),
          importId: orNull(words),
          rowHash: orNull(words),
        },
        { noNullPrototype: true },
      ),
      personal: orNull(
        fc.record({ mealSummary: words, emoji: orNull(words), notes: orNull(words) }, { noNullPrototype: true }),
      ),
    },
    { noNullPrototype: true },
  )

  test('every event is decoded unchanged', () => {
    const meals: Codec = openCodec()
    fc.assert(
      fc.property(logged, (event) => void expect(meals.decode(meals.encode(event))).toStrictEqual(event)),
      { numRuns: inputCount(3_000) },
    )
  })

  test('the guard and the library read the same values', () => {
    const schema = schemas.find(({ name }) => name === 'tributary.meals.MealLogged') as RecordSchema
    const type = compileType(headOf(schema))
    const plain = avro.Type.forSchema(JSON.parse(JSON.stringify(schema)) as avro.schema.RecordType)
    fc.assert(
      fc.property(logged, (event) => {
        const bytes = Buffer.from(codec.encode(event))
        expect(type.decode(bytes, 5).value).toStrictEqual({ meta: event.meta, data: event.data })
        const { meta: flatMeta, personal, ...data } = plain.decode(bytes, 5).value as Record<string, unknown>
        expect({ meta: flatMeta, data }).toEqual({ meta: event.meta, data: event.data })
        expect(personal === null).toBe(event.personal === null)
      }),
      { numRuns: inputCount(1_000) },
    )
  })
})
