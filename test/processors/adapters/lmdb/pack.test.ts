import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Packing } from '../../../../processors/engine/rebuild/build-target.ts'
import { lmdbStores, type LmdbStore } from '../../../../processors/adapters/lmdb/store.ts'
import { canonical, type Stored, type Value } from '../../../../projections/item.ts'
import { later, scratch } from './scratch.ts'

const SPEC = { name: 'packed', ttl: 'ttl', indexes: [{ name: 'by', pk: 'GPK', sk: 'GSK', project: 'all' as const }] }

const table = async (share?: string): Promise<{ readonly store: LmdbStore; readonly packing: Packing }> => {
  const stores = lmdbStores({ folder: await scratch(), ...(share !== undefined && { share }) })
  later(() => stores.close())
  const store = await stores.create(SPEC, 1)
  return { store, packing: store.packing as Packing }
}

const item = (SK: string, value: Value): Stored => ({ PK: 'p', SK, value, _pos: 1 })

const NAMES = Array.from({ length: 40 }, (_, index) => `n${index}`)

const value = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'binary' }),
    fc.string({ maxLength: 300 }),
    fc.double({ noNaN: true }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constant(-0),
    fc.bigInt(),
    fc.constantFrom(31, 32, 63, 64, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, -1, -32, -33),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.record({ n0: tie('value') }, { noNullPrototype: true }),
    fc.constant<Value>({}),
    fc.record({ n39: tie('value') }, { noNullPrototype: true }),
  ),
})).value

test.each([
  ['one writer', undefined],
  ['one of several writers', '0/2'],
])('an item that %s packs is unpacked unchanged', async (_, share) => {
  const { store, packing } = await table(share)
  await store.write([item('first', [{}, ...NAMES.map((name) => ({ [name]: 1 }))])], [], new Map())
  const bytes = Buffer.alloc(1 << 20)
  fc.assert(
    fc.property(value, fc.nat(1000), (content, start) => {
      const end = packing.pack(item('s', content), bytes, start)
      expect(end).toBeGreaterThan(start)
      expect(canonical(packing.unpack({ PK: 'p', SK: 's', bytes, start, end }))).toBe(canonical(item('s', content)))
    }),
    { numRuns: 2_000 },
  )
})

test('an item is not packed until a write has saved its shape, if the room is too small, or if it is in an index', async () => {
  const { store, packing } = await table()
  const bytes = Buffer.alloc(1 << 16)
  expect(packing.pack(item('a', 1), bytes, 0)).toBe(-1)
  await store.write([item('a', 1)], [], new Map())
  expect(packing.pack(item('b', 1), bytes, 0)).toBeGreaterThan(0)
  expect(packing.pack(item('b', 1), bytes, bytes.length - 3)).toBe(-1)
  expect(packing.pack({ ...item('c', 1), GPK: 'g', GSK: 'h' }, bytes, 0)).toBe(-1)
  expect(packing.pack(item('d', { unknown: 1 }), bytes, 0)).toBe(-1)
  expect(packing.pack(item('e', 1), bytes, 0)).toBe(-1)
  await store.write([item('d', { unknown: 1 })], [], new Map())
  expect(packing.pack(item('d', { unknown: 2 }), bytes, 0)).toBeGreaterThan(0)
})

test('a table returns packed items like other items', async () => {
  const { store, packing } = await table()
  const plain = (SK: string): Stored =>
    item(SK, {
      text: 'Grüße 🥣',
      list: [0, 63, 64, 255, 256, 65_536, 2 ** 32, -1, -33, 'two', 'x'.repeat(200), true, null],
      inner: { amount: 1.5 },
    })
  const bytes = Buffer.allocUnsafeSlow(1 << 16)
  await store.write([plain('a')], [], new Map())
  const end = packing.pack(plain('b'), bytes, 100)
  await store.write([{ PK: 'p', SK: 'b', bytes, start: 100, end }], [], new Map())
  expect(
    await store.load([
      { PK: 'p', SK: 'a' },
      { PK: 'p', SK: 'b' },
    ]),
  ).toEqual([plain('a'), plain('b')])
})
