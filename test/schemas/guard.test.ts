import { isUtf8 } from 'node:buffer'
import avro from 'avsc'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Field, Schema } from '../../schemas/avro.ts'
import { openCodec } from '../../schemas/codec.ts'
import { aim, createCursor, LIMITS } from '../../schemas/cursor.ts'
import type { Event } from '../../schemas/event.ts'
import { createGuard } from '../../schemas/guard.ts'
import type { Guard } from '../../schemas/guard.ts'
import { MEALS } from './meals.ts'
import { BIGINT, event, META, record } from './toy.ts'

/** Encodes a whole number as Avro does: in zigzag order, seven bits per byte. */
const varint = (value: bigint | number): number[] => {
  let bits = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n))
  const bytes: number[] = []
  for (; bits >= 0x80n; bits >>= 7n) bytes.push(Number(bits & 0x7fn) | 0x80)
  return [...bytes, Number(bits)]
}
const text = (value: string): number[] => [...varint(Buffer.byteLength(value)), ...Buffer.from(value)]
const double = (value: number): number[] => {
  const buf = Buffer.alloc(8)
  buf.writeDoubleLE(value)
  return [...buf]
}

const guardOf = (type: Schema): Guard => createGuard({ type: 'record', name: 'R', fields: [{ name: 'x', type }] })

interface Outcome {
  readonly value?: unknown
  readonly code?: string
  readonly message?: string
  readonly items: number
}

/** Reads `bytes` as a field of the type. Returns the value, or code and reason of the fault, and the number of list items that were read. */
const read = (type: Schema, bytes: readonly number[], guard = guardOf(type)): Outcome => {
  const cursor = createCursor()
  const buf = Buffer.from(bytes)
  aim(cursor, buf)
  try {
    const value = guard(cursor, 0, buf.length) as { x: unknown }
    return { value: value.x, items: cursor.items }
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return { code, message, items: cursor.items }
  }
}

/** Returns the bytes of the personal field of an encoded event. They end the event, and begin with a zero and the schema id in four bytes. */
const personalFrame = (bytes: Buffer): Buffer => bytes.subarray(bytes.lastIndexOf(Buffer.from([0, 0, 0, 0])))

const LIST: Schema = { type: 'array', items: 'long' }
const THOUSAND = [...varint(1000), ...Array<number>(1000).fill(0)]
const NULLS: Schema = { type: 'array', items: 'null' }

describe('hostile bytes are rejected before any value is created', () => {
  test.each<[string, Schema, number[], string]>([
    ['a list of a billion longs', LIST, [...varint(1e9), 2, 2], 'claims 1000000000 items where 2 bytes are left'],
    ['a list of 2^62 longs', LIST, varint(2n ** 62n), 'items where 0 bytes are left'],
    ['a negative count of 2^63', LIST, [...varint(-(2n ** 63n)), 0], 'items where 0 bytes are left'],
    ['a billion nulls, which take no bytes', NULLS, [...varint(65_000), 0], 'more than 1024 items that take no bytes'],
    [
      'nulls in many small blocks',
      NULLS,
      [...Array<number>(600).fill(4), 0],
      'more than 1024 items that take no bytes',
    ],
    ['too many items in many blocks', LIST, [...Array(66).fill(THOUSAND).flat(), 0], 'more than 65536 items'],
    [
      'a block that claims more bytes than there are',
      LIST,
      [...varint(-1), ...varint(99), 2, 0],
      'a block claims 99 bytes',
    ],
    ['a block of negative size', LIST, [...varint(-1), ...varint(-2), 2, 0], 'a block claims -2 bytes'],
    ['more than 256 KiB', 'string', text('x'.repeat(LIMITS.bytes)), 'more than 262144'],
  ])('%s', (_, type, bytes, reason) => {
    const { code, message, items } = read(type, bytes)
    expect(code).toBe('hostile-payload')
    expect(message).toContain(reason)
    expect(items).toBeLessThanOrEqual(bytes.length + LIMITS.weightless)
  })
})

describe('bytes that do not match the schema are rejected', () => {
  test.each<[string, Schema, number[], string]>([
    ['a record cut short', 'long', [0x80], 'ends in the middle'],
    ['nothing at all', 'int', [], 'ends in the middle'],
    ['trailing bytes', 'int', [2, 0], '1 bytes follow'],
    ['a string longer than what is left', 'string', [...varint(9), 65], 'claims 9 bytes where 1 are left'],
    ['a string of negative length', 'string', varint(-1), 'claims -1 bytes'],
    ['bytes of 2^60', 'bytes', varint(2n ** 60n), 'bytes where 0 are left'],
    ['a double cut short', 'double', [0, 0], 'claims 8 bytes'],
    ['NaN', 'double', double(Number.NaN), 'NaN or infinite'],
    ['NaN with a payload', 'double', [1, 0, 0, 0, 0, 0, 0xf0, 0x7f], 'NaN or infinite'],
    ['Infinity', 'double', double(Number.POSITIVE_INFINITY), 'NaN or infinite'],
    ['-Infinity', 'double', double(Number.NEGATIVE_INFINITY), 'NaN or infinite'],
    ['a boolean of 2', 'boolean', [2], 'neither 0 nor 1'],
    ['an int of 2^31', 'int', varint(2 ** 31), 'beyond 32 bits'],
    ['an int below -(2^31)', 'int', varint(-(2 ** 31) - 1), 'beyond 32 bits'],
    ['a long of 2^53 - 1', 'long', varint(2n ** 53n - 1n), 'exact range'],
    ['a long of 2^63 - 1', 'long', varint(2n ** 63n - 1n), 'exact range'],
    ['a long below -(2^52)', 'long', varint(-(2n ** 52n) - 1n), 'exact range'],
    ['a long of -(2^63)', 'long', varint(-(2n ** 63n)), 'exact range'],
    ['a number of eleven bytes', 'long', [...Array<number>(10).fill(0x80), 0], 'longer than 64 bits'],
    ['a bigint of more than 64 bits', BIGINT, [...Array<number>(9).fill(0xff), 2], 'longer than 64 bits'],
    ['an enum without such a symbol', { type: 'enum', name: 'E', symbols: ['a'] }, varint(1), 'no symbol 1'],
    ['an enum below its first symbol', { type: 'enum', name: 'E', symbols: ['a'] }, varint(-1), 'no symbol -1'],
    ['a union without such a branch', ['null', 'int'], varint(2), 'no branch 2'],
    ['a union below its first branch', ['null', 'int'], varint(-1), 'no branch -1'],
    ['a block with another size than it declares', LIST, [...varint(-1), ...varint(2), 2, 0], 'another size'],
  ])('%s', (_, type, bytes, reason) => {
    const { code, message } = read(type, bytes)
    expect(code).toBe('bad-payload')
    expect(message).toContain(reason)
  })

  test.each<[string, number[]]>([
    ['a lone continuation', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an overlong three', [0xe0, 0x80, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['an overlong four', [0xf0, 0x80, 0x80, 0xaf]],
    ['beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
    ['a character cut short', [0x41, 0xf0, 0x9f, 0x8d]],
    ['0xff', [0xff]],
  ])('a string that is not UTF-8: %s', (_, bytes) => {
    expect(read('string', [...varint(bytes.length), ...bytes])).toMatchObject({ code: 'bad-payload' })
  })
})

describe('valid values are read unchanged', () => {
  test('numbers up to their limits', () => {
    const longs = [0, -1, 63, -64, 64, 2 ** 31, -(2 ** 31), LIMITS.long, LIMITS.negativeLong]
    for (const value of longs) expect(read('long', varint(value)).value).toBe(value)
    for (const value of [2 ** 31 - 1, -(2 ** 31)]) expect(read('int', varint(value)).value).toBe(value)
    for (const value of [2n ** 63n - 1n, -(2n ** 63n), 0n]) expect(read(BIGINT, varint(value)).value).toBe(value)
  })

  test('every string that is UTF-8, and no other', () => {
    const character = fc.integer({ min: 0, max: 0x10ffff }).map((code) => Buffer.from(String.fromCodePoint(code)))
    const piece = fc.oneof(fc.uint8Array({ maxLength: 3 }), character, character)
    const bytes = fc.array(piece, { maxLength: 5 }).map((pieces) => Buffer.concat(pieces))
    const guard = guardOf('string')
    fc.assert(
      fc.property(bytes, (raw) => {
        const { value, code } = read('string', [...varint(raw.length), ...raw], guard)
        expect(code === undefined).toBe(isUtf8(raw))
        if (code === undefined) expect(value).toBe(raw.toString())
      }),
      { numRuns: 3_000 },
    )
  })

  test('blocks with their size', () => {
    expect(read(LIST, [...varint(-2), ...varint(2), 2, 4, ...varint(1), 6, 0]).value).toEqual([1, 2, 3])
  })

  test('a few items that take no bytes', () => {
    expect(read(NULLS, [...varint(1024), 0]).value).toHaveLength(1024)
  })
})

describe('on the log', () => {
  const codecWith = (...fields: Field[]): { codec: ReturnType<typeof openCodec>; before: Buffer } => {
    const codec = openCodec({
      schemas: [event('Stored', fields), record('StoredPersonal', [{ name: 'who', type: 'string' }])],
    })
    const data = Object.fromEntries(fields.map(({ name }) => [name, []]))
    const bytes = Buffer.from(codec.encode({ type: 'Stored', meta: META, data, personal: null }))
    return { codec, before: bytes.subarray(0, bytes.length - fields.length - 1) }
  }
  const codeOf = (decode: () => unknown): string | undefined => {
    try {
      decode()
    } catch (error) {
      return (error as { code?: string }).code
    }
    return undefined
  }
  const meals = openCodec()
  const encoded = (index: number): Buffer => Buffer.from(meals.encode(MEALS[index] as Event))

  test('a bomb in an event is refused', () => {
    const { codec, before } = codecWith({ name: 'list', type: LIST })
    expect(codec.decode(Buffer.concat([before, Buffer.from([0, 0])])).data).toEqual({ list: [] })
    expect(codeOf(() => codec.decode(Buffer.concat([before, Buffer.from(varint(1e9))])))).toBe('hostile-payload')
  })

  test.each<[string, Buffer, string]>([
    ['nothing', Buffer.alloc(0), 'not-wire-format'],
    ['a header cut short', Buffer.from([0, 0, 0, 0]), 'not-wire-format'],
    ['text', Buffer.from('{"type":"MealLogged"}'), 'not-wire-format'],
    ['another magic byte', Buffer.from([1, 0, 0, 0, 1, 0]), 'not-wire-format'],
    ['an id that nobody gave', Buffer.from([0, 0, 0, 0x7f, 0xff, 0]), 'unknown-schema'],
    ['a negative id', Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 0]), 'unknown-schema'],
    ['a header alone', encoded(0).subarray(0, 5), 'bad-payload'],
    ['a personal record in place of an event', personalFrame(encoded(0)), 'bad-payload'],
    ['a record of more than 256 KiB', Buffer.concat([encoded(0), Buffer.alloc(LIMITS.bytes)]), 'hostile-payload'],
  ])('%s is refused', (_, bytes, code) => {
    expect(codeOf(() => meals.decode(bytes))).toBe(code)
  })

  test.each<[string, (frame: Buffer) => Buffer, string]>([
    [
      'of another event',
      () => personalFrame(encoded(MEALS.findIndex(({ type }) => type === 'PatIssued'))),
      'bad-payload',
    ],
    [
      'of an unknown schema',
      (frame) => Buffer.concat([Buffer.from([0, 0, 0, 0x7f, 0xff]), frame.subarray(5)]),
      'unknown-schema',
    ],
    ['without a frame', () => Buffer.from('hello'), 'not-wire-format'],
    ['that is empty', () => Buffer.alloc(0), 'not-wire-format'],
    ['with trailing bytes', (frame) => Buffer.concat([frame, Buffer.from([0])]), 'bad-payload'],
    ['cut short', (frame) => frame.subarray(0, -1), 'bad-payload'],
  ])('a personal field %s is refused', (_, forge, code) => {
    const frame = personalFrame(encoded(0))
    const before = encoded(0).subarray(0, encoded(0).length - frame.length - varint(frame.length).length)
    const forged = forge(frame)
    expect(codeOf(() => meals.decode(Buffer.concat([before, Buffer.from(varint(forged.length)), forged])))).toBe(code)
  })

  test('a personal field of an event that has none is refused', () => {
    const index = MEALS.findIndex(({ type }) => type === 'MealDeleted')
    const frame = personalFrame(encoded(0))
    const forged = Buffer.concat([encoded(index).subarray(0, -1), Buffer.from([2, ...varint(frame.length)]), frame])
    expect(codeOf(() => meals.decode(forged))).toBe('bad-payload')
  })

  test('the library alone would accept what the guard rejects', () => {
    const doubles = avro.Type.forSchema('double')
    expect(doubles.fromBuffer(Buffer.from(double(Number.NaN)))).toBeNaN()
  })
})
