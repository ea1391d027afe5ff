import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPacker } from '../../../../processors/adapters/lmdb/pack.ts'
import { lmdbStores } from '../../../../processors/adapters/lmdb/store.ts'
import { canonical, type Stored, type Value } from '../../../../projections/item.ts'
import { later, scratch } from './scratch.ts'

const SHAPES = [['PK', 'SK', 'a', 'b', '_pos'], ['x'], [], ...Array.from({ length: 40 }, (_, index) => [`n${index}`]), ['PK', 'SK', '_pos']]
const packer = createPacker()
packer.learn(SHAPES)

const value = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'binary' }), fc.string({ maxLength: 300 }), fc.double({ noNaN: true }), fc.integer(), fc.boolean(), fc.constant(null), fc.constant(-0),
    fc.constantFrom(31, 32, 63, 64, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, -1, -32, -33),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.record({ x: tie('value') }), fc.constant<Value>({}), fc.record({ n39: tie('value') }), fc.record({ unknown: tie('value') }),
  ),
})).value

const item = fc.record({ PK: fc.string(), SK: fc.string(), a: value, b: value, _pos: fc.nat() }, { noNullPrototype: true })

test('what is packed comes back as it was', () => {
  const bytes = Buffer.alloc(1 << 20)
  let packed = 0
  fc.assert(fc.property(item, fc.nat(1000), (each, at) => {
    const end = packer.pack(each, bytes, at)
    if (end < 0) return
    packed += 1
    expect(end).toBeGreaterThan(at)
    expect(canonical(packer.unpack(bytes, at))).toBe(canonical(each))
  }), { numRuns: 2_000 })
  expect(packed).toBeGreaterThan(200)
})

test('what is out of the ordinary is left to the library', () => {
  const bytes = Buffer.alloc(1 << 20)
  const base = { PK: 'p', SK: 's', _pos: 1 }
  expect(packer.pack(base, bytes, 0)).toBeGreaterThan(0)
  for (const odd of [{ ...base, unknown: 1 }, { PK: 'p', SK: 's', a: 1n, b: 1, _pos: 1 }, { PK: 'p', SK: 's', a: undefined, b: 1, _pos: 1 }, { PK: 'p', SK: '\ud800', _pos: 1 }]) {
    expect(packer.pack(odd, bytes, 0)).toBe(-1)
  }
})

test('a table gives packed items back as it gives others, and keeps those that lie in an index apart', async () => {
  const spec = { name: 'packed', ttl: 'ttl', indexes: [{ name: 'by', pk: 'GPK', sk: 'GSK', project: 'all' as const }] }
  const stores = lmdbStores({ folder: await scratch() })
  later(() => stores.close())
  const store = await stores.create(spec, 1)
  const plain = (SK: string, _pos: number): Stored => ({ PK: 'p', SK, text: 'Grüße 🥣', list: [0, 63, 64, 255, 256, 65_536, 2 ** 32, -1, -33, 'two', 'x'.repeat(200), true, null], inner: { amount: 1.5 }, _pos })
  const indexed: Stored = { PK: 'p', SK: 'i', GPK: 'g', GSK: 'h', _pos: 1 }
  const bytes = Buffer.allocUnsafeSlow(1 << 16)
  expect(store.packing?.pack(plain('a', 1), bytes, 0)).toBe(-1)
  await store.write([plain('a', 1), indexed], [], new Map())
  const end = store.packing?.pack(plain('b', 2), bytes, 100) ?? -1
  expect(end).toBeGreaterThan(100)
  expect(store.packing?.pack(indexed, bytes, end)).toBe(-1)
  await store.write([{ PK: 'p', SK: 'b', bytes, start: 100, end }], [], new Map())
  expect(await store.load([{ PK: 'p', SK: 'b' }])).toEqual([plain('b', 2)])
})
