import { describe, expect, test } from 'vitest'
import { openCodec } from '../../schemas/codec.ts'
import type { Event } from '../../schemas/event.ts'
import { FORGOTTEN } from '../../schemas/event.ts'
import { readLock } from '../../schemas/lock.ts'
import { readSources, isEvent } from '../../schemas/sources.ts'
import { MEALS } from './meals.ts'
import { BIGINT, event, FILLED, META, record, toyCodec } from './toy.ts'

const codec = openCodec()
const logged = MEALS[0] as Event

const faultOf = (action: () => unknown): { code: string; message: string } => {
  try {
    action()
  } catch (error) {
    return error as { code: string; message: string }
  }
  throw new Error('nothing was thrown')
}

describe('the wire format', () => {
  test('every event of meals is decoded unchanged', () => {
    for (const said of MEALS) expect(codec.decode(codec.encode(said))).toStrictEqual(said)
  })

  test('the sample contains every event of meals', () => {
    const types = readSources()
      .filter(({ domain }) => domain === 'meals')
      .map(({ schema }) => schema)
      .filter(isEvent)
      .map(({ name }) => name)
    expect(MEALS.map(({ type }) => type)).toEqual(expect.arrayContaining(types))
  })

  test('a record is a zero, the id of the lock in four bytes, and Avro', () => {
    const bytes = Buffer.from(codec.encode(logged))
    const entry = readLock().schemas.find(({ name }) => name === 'tributary.meals.MealLogged')
    expect(bytes[0]).toBe(0)
    expect(bytes.readInt32BE(1)).toBe(entry?.id)
    expect(bytes.subarray(6, 6 + 36).toString()).toBe(logged.meta.eventId)
  })

  test('the personal record is framed with its own id', () => {
    const bytes = Buffer.from(codec.encode(logged))
    const id = readLock().schemas.find(({ name }) => name === 'tributary.meals.MealLoggedPersonal')?.id
    expect(bytes.includes(Buffer.from([0, 0, 0, 0, id ?? -1]))).toBe(true)
  })

  test('the head is the same whether the caller passes the event or the value is decoded', () => {
    for (const said of MEALS) {
      const value = codec.encode(said)
      const { type, meta } = said
      expect(codec.head?.(value)).toMatchObject({ type, meta, schema: { name: expect.stringContaining(type) } })
      expect(codec.head?.(value, said)).toEqual(codec.head?.(value))
    }
  })

  test('bytes in plain arrays and at an offset are read in the same way', () => {
    const bytes = codec.encode(logged)
    const padded = new Uint8Array([9, 9, ...bytes, 9])
    expect(codec.decode(padded.subarray(2, padded.length - 1))).toStrictEqual(logged)
  })

  test('a decoded value does not change when its bytes are overwritten', () => {
    const toy = toyCodec()
    const bytes = Buffer.from(toy.encode(FILLED))
    const decoded = toy.decode(bytes)
    bytes.fill(0)
    expect(decoded).toStrictEqual(FILLED)
  })

  test('events larger than a page of text are decoded unchanged', () => {
    const long = { ...logged, personal: { mealSummary: 'ä'.repeat(3_000), emoji: null, notes: 'n'.repeat(5_000) } }
    expect(codec.decode(codec.encode(long))).toStrictEqual(long)
  })
})

describe('every kind of field', () => {
  test('doubles, enums, nested types and bytes are decoded unchanged', () => {
    const toy = toyCodec()
    expect(toy.decode(toy.encode(FILLED))).toStrictEqual(FILLED)
  })

  test('a field marked bigint can contain the whole range of 64 bits', () => {
    const toy = openCodec({ schemas: [event('Paid', [{ name: 'amounts', type: { type: 'array', items: BIGINT } }])] })
    const amounts = [0n, -1n, 1n, 127n, -129n, 2n ** 53n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)]
    const paid: Event = { type: 'Paid', meta: META, data: { amounts }, personal: null }
    expect(toy.decode(toy.encode(paid))).toStrictEqual(paid)
  })

  test('a field with a default can be left out and is decoded as the default', () => {
    const { importId: _, ...data } = logged.data as { importId: null }
    expect(codec.decode(codec.encode({ ...logged, data }))).toStrictEqual(logged)
  })
})

describe('values that are refused when they are written', () => {
  const data = logged.data as object
  const personal = logged.personal as object
  const filled = FILLED.data as object
  test.each<[string, Event, string]>([
    ['a type without a schema', { ...logged, type: 'Eaten' }, 'bad-event'],
    ['a missing field', { ...logged, data: {} }, 'bad-event'],
    ['an unknown field', { ...logged, data: { ...data, colour: 'red' } }, 'bad-event'],
    ['an unknown personal field', { ...logged, personal: { ...personal, colour: 'red' } }, 'bad-event'],
    ['a string for a number', { ...logged, data: { ...data, calories: '1' } }, 'bad-event'],
    ['a fraction for a long', { ...logged, data: { ...data, calories: 0.5 } }, 'bad-event'],
    ['a long beyond 2^53', { ...logged, data: { ...data, calories: 2 ** 53 } }, 'bad-event'],
    [
      'a long below -(2^52), of which the library loses the sign',
      { ...logged, data: { ...data, calories: -(2 ** 52) - 5 } },
      'bad-event',
    ],
    ['an int beyond 32 bits', { ...logged, data: { ...data, utcOffsetMinutes: 2 ** 31 } }, 'bad-event'],
    ['NaN', { ...FILLED, data: { ...filled, litres: Number.NaN } }, 'bad-event'],
    ['an infinite double', { ...FILLED, data: { ...filled, litres: Number.POSITIVE_INFINITY } }, 'bad-event'],
    ['an unknown symbol of an enum', { ...FILLED, data: { ...filled, state: 'ajar' } }, 'bad-event'],
    ['null in a list', { ...FILLED, data: { ...filled, counts: [null] } }, 'bad-event'],
    ['text for bytes', { ...FILLED, data: { ...filled, raw: 'ab' } }, 'bad-event'],
    ['a bigint beyond 64 bits', { ...FILLED, data: { ...filled, price: 2n ** 63n } }, 'bad-event'],
    ['a lone surrogate', { ...logged, personal: { ...personal, notes: 'a\uD800' } }, 'bad-event'],
    ['forgotten personal data', { ...logged, personal: FORGOTTEN }, 'bad-event'],
    ['personal data where none is declared', { ...logged, type: 'PatRevoked', data: { patId: 'p' } }, 'bad-event'],
    ['more than 256 KiB', { ...logged, personal: { ...personal, notes: 'x'.repeat(300_000) } }, 'event-too-large'],
  ])('%s', (_, wrong, code) => {
    expect(faultOf(() => toyCodec().encode(wrong)).code).toBe(code)
  })

  test('the refusal names the field', () => {
    expect(faultOf(() => codec.encode({ ...logged, data: { ...data, calories: '1' } })).message).toContain(
      'data.calories',
    )
  })

  test('a U+FFFD of the writer stays', () => {
    const said = { ...logged, personal: { ...personal, notes: 'a\uFFFD' } }
    expect(codec.decode(codec.encode(said))).toStrictEqual(said)
  })
})

describe('schemas in memory', () => {
  test('an id depends on the schema alone, so two processes agree', () => {
    expect(toyCodec().decode(toyCodec().encode(FILLED))).toStrictEqual(FILLED)
  })

  test('an event without an envelope or a personal field is refused', () => {
    const bare = record('Bare', [
      { name: 'meta', type: 'tributary.EventMeta' },
      { name: 'x', type: 'int' },
    ])
    expect(faultOf(() => openCodec({ schemas: [bare] })).code).toBe('bad-schema')
  })

  test('a type that meals already has is refused', () => {
    expect(faultOf(() => openCodec({ schemas: [event('MealLogged', [])] })).message).toContain('MealLogged')
  })

  test('an unknown type name is refused', () => {
    expect(faultOf(() => openCodec({ schemas: [event('Lost', [{ name: 'x', type: 'Nowhere' }])] })).message).toContain(
      'toy.Nowhere',
    )
  })

  test('a field cannot be named __proto__', () => {
    const trapped = openCodec({ schemas: [event('Trapped', [{ name: '__proto__', type: 'int' }])] })
    expect(faultOf(() => trapped.encode({ type: 'Trapped', meta: META, data: {}, personal: null })).code).toBe(
      'bad-schema',
    )
  })
})
