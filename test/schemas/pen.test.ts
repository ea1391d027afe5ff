import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NamedSchema, RecordSchema, Schema } from '../../schemas/avro.ts'
import { compileType } from '../../schemas/compile.ts'
import { createPen, type Page } from '../../schemas/pen.ts'

const record = (fields: { readonly [name: string]: Schema }): RecordSchema =>
  ({ type: 'record', name: 'Toy', fields: Object.entries(fields).map(([name, type]) => ({ name, type })) })

const written = (schema: NamedSchema, value: unknown): Buffer | undefined => {
  const page: Page = { buf: Buffer.alloc(100_000), pos: 0 }
  return createPen(schema)?.(page, value) === true ? page.buf.subarray(0, page.pos) : undefined
}

const SCHEMA = record({
  text: 'string',
  flag: 'boolean',
  small: 'int',
  large: 'long',
  real: 'double',
  raw: 'bytes',
  perhaps: ['null', 'string'],
  mood: { type: 'enum', name: 'Mood', symbols: ['GOOD', 'BAD'] },
  parts: { type: 'array', items: { type: 'record', name: 'Part', fields: [{ name: 'n', type: 'long' }] } },
  more: { type: 'array', items: 'Part' },
})

const part = fc.record({ n: fc.maxSafeInteger() }, { noNullPrototype: true })
const text = fc.string({ unit: 'binary', maxLength: 200 })
const filled = fc.record({
  text,
  flag: fc.boolean(),
  small: fc.integer(),
  large: fc.integer({ min: -(2 ** 52) + 1, max: 2 ** 52 - 1 }),
  real: fc.double({ noNaN: true, noDefaultInfinity: true }),
  raw: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  perhaps: fc.option(text),
  mood: fc.constantFrom('GOOD', 'BAD'),
  parts: fc.array(part.map(({ n }) => ({ n: Math.trunc(n / 4) }))),
  more: fc.array(part.map(({ n }) => ({ n: n % 1_000 }))),
}, { noNullPrototype: true })

test('what it writes is what the library writes', () => {
  const type = compileType(SCHEMA)
  fc.assert(fc.property(filled, (value) => void expect(written(SCHEMA, value)?.toString('hex')).toBe(type.toBuffer(value).toString('hex'))), { numRuns: 2_000 })
})

const WRONG: readonly (readonly [string, object])[] = [
  ['a field too many', { other: 1 }],
  ['a field that is missing', { text: undefined }],
  ['a number for a string', { text: 1 }],
  ['half a character', { text: 'a\uD800' }],
  ['half a character in a long text', { text: `${'a'.repeat(100)}\uDC00` }],
  ['a string for a number', { large: '1' }],
  ['a fraction', { large: 1.5 }],
  ['a long near the end of the exact range', { large: 2 ** 52 }],
  ['an int beyond 32 bits', { small: 2 ** 31 }],
  ['NaN', { real: Number.NaN }],
  ['an array that is none', { parts: 'ab' }],
  ['null in an array', { parts: [null] }],
  ['another symbol', { mood: 'ODD' }],
  ['one for true', { flag: 1 }],
  ['bytes that are text', { raw: 'ab' }],
  ['undefined for perhaps', { perhaps: undefined }],
]

test.each(WRONG)('%s is declined', (_, wrong) => {
  const [value] = fc.sample(filled, 1)
  expect(written(SCHEMA, value)).toBeDefined()
  expect(written(SCHEMA, { ...value, ...wrong })).toBeUndefined()
})

test('schemas with maps, floats, fixed, BigInt, wider unions and types within themselves are left to the library', () => {
  const kinds: readonly Schema[] = [
    { type: 'map', values: 'int' },
    'float',
    { type: 'fixed', name: 'Four', size: 4 },
    { type: 'long', logicalType: 'bigint' },
    ['null', 'int', 'string'],
    ['null', 'Toy'],
  ]
  for (const kind of kinds) expect(createPen(record({ kind }))).toBeUndefined()
})
