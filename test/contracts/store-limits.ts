import { expect, test } from 'vitest'
import type { Stored, Value } from '../../projections/item.ts'
import type { TableSpec } from '../../projections/table.ts'
import { at, create, same, stored } from './store-items.ts'
import { RejectedSpans, type Store } from '../../processors/engine/ports/store.ts'

/** A table with the same indexes as the tables of the store contract. */
export const STORABLE_SPEC: TableSpec = {
  name: 'limits',
  ttl: 'ttl',
  indexes: [
    { name: 'GSI1', pk: 'GSI1PK', sk: 'GSI1SK', project: ['scopes', 'lastUsedAt'] },
    { name: 'GSI2', pk: 'GSI2PK', sk: 'GSI2SK', project: 'all' },
    { name: 'GSI3', pk: 'GSI3PK', sk: 'level', number: true, project: 'all' },
  ],
}

const bad = at('BAD', 'ITEM')
const nested = (depth: number): Value => (depth === 0 ? 'x' : { a: nested(depth - 1) })

/** Items that every store rejects, with the code of the fault. */
export const unstorable: readonly (readonly [string, Stored, string])[] = [
  ['an item over 400 KB', stored(bad, 1, { text: 'x'.repeat(410 * 1024) }), 'item-too-large'],
  [
    'a list of 150,000 small numbers',
    stored(bad, 1, { list: Array.from({ length: 150_000 }, () => 7) }),
    'item-too-large',
  ],
  ['a partition key of 2,049 bytes', stored(at('P'.repeat(2_049), 'S'), 1), 'key-too-large'],
  ['a sort key of 1,025 bytes', stored(at('P', 'S'.repeat(1_025)), 1), 'key-too-large'],
  ['a sort key of 513 letters of two bytes', stored(at('P', 'é'.repeat(513)), 1), 'key-too-large'],
  ['a key of 1,979 bytes', stored(at('P'.repeat(1_000), 'S'.repeat(978)), 1), 'key-too-large'],
  ['an index key of 1,025 bytes', stored(bad, 1, { GSI1PK: 'g', GSI1SK: 'h'.repeat(1_025) }), 'key-too-large'],
  [
    'an index key that is too long together with the key',
    stored(bad, 1, { GSI1PK: 'g'.repeat(1_000), GSI1SK: 'h'.repeat(970) }),
    'key-too-large',
  ],
  ['an empty partition key', stored(at('', 'S'), 1), 'value-not-storable'],
  ['an empty sort key', stored(at('P', ''), 1), 'value-not-storable'],
  ['an empty index key', stored(bad, 1, { GSI1PK: '', GSI1SK: 'h' }), 'value-not-storable'],
  ['a U+0000 in a key', stored(at('P\u0000Q', 'S'), 1), 'value-not-storable'],
  ['an index key of the wrong type', stored(bad, 1, { GSI1PK: 7, GSI1SK: 'h' }), 'value-not-storable'],
  ['a text in an index of numbers', stored(bad, 1, { GSI3PK: 'g', level: 'high' }), 'value-not-storable'],
  ['NaN', stored(bad, 1, { value: Number.NaN }), 'value-not-storable'],
  ['NaN deep inside', stored(bad, 1, { list: [{ value: Number.NaN }] }), 'value-not-storable'],
  ['Infinity', stored(bad, 1, { value: Number.NEGATIVE_INFINITY }), 'value-not-storable'],
  ['a magnitude of 1e126', stored(bad, 1, { value: 1e126 }), 'value-not-storable'],
  ['a magnitude below 1e-130', stored(bad, 1, { value: -1e-131 }), 'value-not-storable'],
  ['an integer of 39 digits', stored(bad, 1, { value: 10n ** 38n + 1n }), 'value-not-storable'],
  ['32 levels of nesting', stored(bad, 1, { value: nested(32) }), 'value-not-storable'],
  ['an attribute without a name', stored(bad, 1, { map: { '': 1 } }), 'value-not-storable'],
  [
    'an attribute named __proto__',
    stored(bad, 1, { map: JSON.parse('{"__proto__": 1}') as Value }),
    'value-not-storable',
  ],
  ['an attribute name of 65,536 bytes', stored(bad, 1, { ['n'.repeat(65_536)]: 1 }), 'value-not-storable'],
]

/** Items at the limits, which every store accepts. */
export const fits: readonly (readonly [string, Stored])[] = [
  [
    'a list of 40,000 small numbers',
    stored(at('FITS', 'NUMBERS'), 1, { list: Array.from({ length: 40_000 }, (_, index) => index % 100) }),
  ],
  ['390 KB of text', stored(at('FITS', 'TEXT'), 1, { text: 'x'.repeat(390 * 1024) })],
  ['a key of 1,978 bytes', stored(at('P'.repeat(1_000), 'S'.repeat(977)), 1)],
  ['a sort key of 1,024 bytes', stored(at('FITS', 'S'.repeat(1_024)), 1)],
  ['31 levels of nesting', stored(at('FITS', 'DEEP'), 1, { value: nested(31) })],
  ['38 digits', stored(at('FITS', 'DIGITS'), 1, { value: 10n ** 38n - 1n, tiny: 1e-130 })],
  ['an incomplete index key', stored(at('FITS', 'INDEX'), 1, { GSI1PK: 'g' })],
  ['a negative number in an index', stored(at('FITS', 'LEVEL'), 1, { GSI3PK: 'g', level: -0.5 })],
]

/** Tests the limits that all stores share: an item that one store rejects permanently is rejected by every store. */
export const limits = (fresh: () => Promise<Store>): void => {
  test.each(unstorable)('%s is rejected permanently, and only the span that contains it', async (_, item, code) => {
    const store = await fresh()
    const [first, other] = [stored(at('GOOD', 'FIRST'), 1), stored(at('GOOD', 'OTHER'), 1)]
    const error: unknown = await store
      .commit([[[create(other)]], [[create(first)], [create(stored(at('GOOD', 'WITH'), 1)), create(item)]]], {
        partition: 0,
        from: 0,
        offset: 2,
      })
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(RejectedSpans)
    expect(error).toMatchObject({ code, retriable: false })
    expect([...(error as RejectedSpans).spans.keys()]).toEqual([1])
    same(await store.load([other, first, at('GOOD', 'WITH'), item]), [other, first, undefined, undefined])
    expect(await store.checkpoints()).toEqual(new Map())
  })

  test.each(fits)('%s is stored', async (_, item) => {
    const store = await fresh()
    expect(await store.commit([[[create(item)]]])).toEqual([{ applied: 'all' }])
    same(await store.load([item]), [item])
    const bulk = await fresh()
    await bulk.bulk([item])
    same(await bulk.load([item]), [item])
  })

  test('an item with a key that no store can store is absent', async () => {
    const store = await fresh()
    const item = stored(at('P', 'S'), 1)
    await store.commit([[[create(item)]]])
    const keys = [at('P'.repeat(3_000), 'S'), at('', 'S'), at('P', ''), item]
    same(await store.load(keys), [undefined, undefined, undefined, item])
    same(await store.reader(() => 0).getMany(keys), [undefined, undefined, undefined, item])
    expect(keys.map((key) => store.peek?.(key)?._pos)).toEqual([undefined, undefined, undefined, store.peek && 1])
  })
}
