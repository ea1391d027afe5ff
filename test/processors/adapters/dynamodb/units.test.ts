import { describe, expect, test } from 'vitest'
import { writeUnits, type Touch } from '../../../../processors/adapters/dynamodb/units.ts'
import { sizeOf } from '../../../../processors/engine/rows/size.ts'
import type { Item, Value } from '../../../../projections/item.ts'
import type { TableSpec } from '../../../../projections/table.ts'

const spec: TableSpec = {
  name: 'units',
  ttl: 'ttl',
  indexes: [{ name: 'GSI1', pk: 'GSI1PK', sk: 'GSI1SK', project: ['scopes'] }],
}

/** An item whose keys take 6 bytes. */
const item = (more: Record<string, Value> = {}): Item => ({ PK: 'p', SK: 's', ...more })
/** An item of this size, filled up by the attribute `pad`. */
const ofSize = (bytes: number, more: Record<string, Value> = {}): Item => {
  const bare = item({ ...more, pad: '' })
  return { ...bare, pad: 'x'.repeat(bytes - sizeOf(bare)) }
}

describe('the size of an item', () => {
  test.each<[string, Value, number]>([
    ['text', 'abc', 3],
    ['text beyond ASCII', 'é€😀', 9],
    ['empty text', '', 0],
    ['zero', 0, 2],
    ['one digit', 7, 2],
    ['three digits', 123, 3],
    ['trailing zeros', 1_000_000, 2],
    ['a negative fraction', -0.125, 4],
    ['an exponent', 1.5e-9, 2],
    ['a bigint', 12_345_678_901_234_567_890n, 11],
    ['null', null, 1],
    ['a boolean', false, 1],
    ['an empty list', [], 3],
    ['a list', ['a', 1], 3 + 2 + 3],
    ['an empty map', {}, 3],
    ['a map', { ab: 'c' }, 3 + 2 + 1 + 1],
  ])('%s', (_, value, size) => expect(sizeOf(item({ v: value }))).toBe(6 + 1 + size))

  test('an undefined attribute has no size', () => expect(sizeOf({ PK: 'p', SK: 's', gone: undefined })).toBe(6))
})

describe('the price of a write', () => {
  const listed = { GSI1PK: 'g', GSI1SK: 'h' }
  const domain = (touches: readonly Touch[], mode: 'single' | 'transaction' = 'single', failed = false) =>
    writeUnits({ spec, touches, mode, failed }).domain

  test.each<[string, Touch, number]>([
    ['a small new item', { after: item() }, 1],
    ['exactly 1 KB', { after: ofSize(1024) }, 1],
    ['1 KB and one byte', { after: ofSize(1025) }, 2],
    ['a smaller item in place of a larger one', { before: ofSize(3000), after: item() }, 3],
    ['a removal of a large item', { before: ofSize(2500) }, 3],
    ['a removal of an absent item', {}, 1],
    ['a new item in an index', { after: item(listed) }, 2],
    ['an item leaving an index', { before: item(listed), after: item() }, 2],
    ['a removal from table and index', { before: item(listed) }, 2],
    [
      'a projected attribute that changes',
      { before: item({ ...listed, scopes: ['a'] }), after: item({ ...listed, scopes: ['b'] }) },
      2,
    ],
    [
      'a projected attribute that stays',
      { before: item({ ...listed, scopes: ['a'] }), after: item({ ...listed, scopes: ['a'], x: 1 }) },
      1,
    ],
    ['an attribute that is not projected', { before: item({ ...listed, x: 1 }), after: item({ ...listed, x: 2 }) }, 1],
    ['a new index key: a removal and a write', { before: item(listed), after: item({ ...listed, GSI1SK: 'i' }) }, 3],
    ['the expiry, which every index contains', { before: item(listed), after: item({ ...listed, ttl: 1 }) }, 2],
    ['a large item with a small projection', { after: ofSize(5000, listed) }, 6],
    ['an incomplete index key', { after: item({ GSI1PK: 'g' }) }, 1],
  ])('%s', (_, touch, units) => expect(domain([touch])).toBe(units))

  test('a transaction costs twice as much, with each item rounded up first', () =>
    expect(domain([{ after: ofSize(1025) }, { after: item() }], 'transaction')).toBe(2 * 2 + 2))

  test('the write of an index is not doubled in a transaction', () =>
    expect(domain([{ after: item(listed) }], 'transaction')).toBe(3))

  test('a failed condition costs the write, but no index', () => {
    expect(domain([{ before: ofSize(3000), after: item(listed) }], 'single', true)).toBe(3)
    expect(domain([{ before: ofSize(3000), after: item(listed) }], 'transaction', true)).toBe(6)
  })

  test.each(['IDEM#u#k', 'OUTCOME#0#7', 'OUTBOX#0', 'DERIVED#0#7', 'PARKED#0', 'TIMER#0', 'CHECKPOINT#'])(
    '%s counts as bookkeeping',
    (PK) =>
      expect(writeUnits({ spec, touches: [{ after: { PK, SK: 's' } }, { after: item() }], mode: 'single' })).toEqual({
        domain: 1,
        bookkeeping: 1,
      }),
  )

  test('a removed row of bookkeeping counts as bookkeeping', () =>
    expect(writeUnits({ spec, touches: [{ before: { PK: 'OUTBOX#0', SK: 's' } }], mode: 'transaction' })).toEqual({
      domain: 0,
      bookkeeping: 2,
    }))
})
