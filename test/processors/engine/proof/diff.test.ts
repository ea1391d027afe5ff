import { expect, test } from 'vitest'
import { diff, type DiffParts } from '../../../../processors/engine/proof/diff.ts'
import type { Item, Stored } from '../../../../projections/item.ts'
import { keyOf } from '../../../../projections/item.ts'
import { memoryStore, type MemoryStore } from '../../../../testing/memory-store.ts'
import { virtualClock } from '../virtual-clock.ts'

const table = { name: 't', ttl: 'ttl', indexes: [], kinds: [{ name: 'account', sk: 'TOTAL' }] }
const NOW = 1_000_000

const item = (SK: string, pos: number, rest: Omit<Item, 'PK' | 'SK'> = {}): Stored =>
  ({ PK: 'A#1', SK, ...rest, _pos: pos }) as Stored
const marker = (offset: number, rest: Omit<Item, 'PK' | 'SK'>): Stored =>
  ({ PK: `OUTCOME#0#${offset}`, SK: 'OUTCOME', ttl: 9_999_999, ...rest, _pos: offset }) as Stored

const storeOf = async (items: readonly Stored[], caughtUp = 100): Promise<MemoryStore> => {
  const store = memoryStore()
  for (const each of items) store.items.set(keyOf(each), each)
  await store.setCheckpoint(caughtUp)
  return store
}

const compared = async (before: MemoryStore, after: MemoryStore, rest: Partial<DiffParts> = {}) => {
  const clock = virtualClock(NOW)
  const done = diff({ table, before, advance: async () => after, removesExpired: false, clock, sample: 10, ...rest })
  await clock.pass(60_000)
  return done
}

test('two generations with the same items have no differences', async () => {
  const items = [
    item('TOTAL', 5, { total: 3 }),
    item('PAID#1', 4, { amount: 3 }),
    marker(7, { kind: 'refused', code: 'overdrawn', detail: 'd' }),
  ]
  expect(await compared(await storeOf(items), await storeOf(items))).toMatchObject({
    kinds: [
      { kind: 'A#PAID#', same: 1 },
      { kind: 'account', same: 1, changed: 0 },
    ],
    sample: [],
    decisions: [],
    unknownDecisions: 0,
    moving: 0,
    own: 1,
  })
})

test('added, removed and changed items are reported field by field and counted by kind', async () => {
  const before = await storeOf([item('TOTAL', 5, { total: 3, by: { a: 1, b: 2 } }), item('PAID#1', 4, { amount: 3 })])
  const after = await storeOf([item('TOTAL', 6, { total: 4, by: { a: 1, b: 3 } }), item('PAID#2', 6, { amount: 4 })])
  const { kinds, sample } = await compared(before, after)
  expect(kinds).toMatchObject([
    { kind: 'A#PAID#', added: 1, removed: 1 },
    { kind: 'account', changed: 1, fields: { total: 1, 'by.b': 1 } },
  ])
  expect(sample).toEqual(
    expect.arrayContaining([
      {
        PK: 'A#1',
        SK: 'TOTAL',
        kind: 'account',
        change: 'changed',
        fields: [
          { field: 'by.b', before: 2, after: 3 },
          { field: 'total', before: 3, after: 4 },
        ],
      },
      { PK: 'A#1', SK: 'PAID#2', kind: 'A#PAID#', change: 'added', fields: [{ field: 'amount', after: 4 }] },
      { PK: 'A#1', SK: 'PAID#1', kind: 'A#PAID#', change: 'removed', fields: [{ field: 'amount', before: 3 }] },
    ]),
  )
})

test('a sample contains items of every kind, and at most the requested number', async () => {
  const before = await storeOf(Array.from({ length: 50 }, (_, index) => item(`PAID#${index}`, 1, { amount: 1 })))
  const after = await storeOf([
    ...Array.from({ length: 50 }, (_, index) => item(`PAID#${index}`, 1, { amount: 2 })),
    item('TOTAL', 1, { total: 100 }),
  ])
  const { kinds, sample } = await compared(before, after, { sample: 4 })
  expect(kinds).toMatchObject([{ changed: 50 }, { added: 1 }])
  expect(sample.map(({ kind }) => kind).sort()).toEqual(['A#PAID#', 'A#PAID#', 'A#PAID#', 'account'])
})

test('an item that differs only in the position of its last event is not a difference', async () => {
  const { kinds, bookkeeping } = await compared(
    await storeOf([item('TOTAL', 5, { total: 3 })]),
    await storeOf([item('TOTAL', 6, { total: 3 })]),
  )
  expect(kinds).toMatchObject([{ same: 1, changed: 0 }])
  expect(bookkeeping).toBe(1)
})

test('different decisions are listed separately, by position, and are not items', async () => {
  const before = await storeOf([
    marker(3, { kind: 'refused', code: 'overdrawn' }),
    marker(5, { kind: 'refused', code: 'overdrawn', detail: 'old words' }),
    marker(8, { kind: 'duplicate', of: 'e' }),
  ])
  const after = await storeOf([
    marker(5, { kind: 'refused', code: 'overdrawn', detail: 'new words' }),
    marker(8, { kind: 'refused', code: 'closed' }),
    marker(9, { kind: 'refused', code: 'closed' }),
    { PK: 'PARKED#0', SK: 'accounts#a', partition: 0, offset: 12, code: 'fold-threw', _pos: 12 } as Stored,
  ])
  expect(await compared(before, after)).toMatchObject({
    kinds: [],
    decisions: [
      { offset: 3, before: 'refused overdrawn', after: 'applied' },
      { offset: 8, before: 'duplicate', after: 'refused closed' },
      { offset: 9, before: 'applied', after: 'refused closed' },
      { offset: 12, before: 'applied', after: 'parked fold-threw' },
    ],
  })
})

test('a refusal of an event whose old outcome row may have expired is not reported as a change', async () => {
  const after = await storeOf([
    marker(3, { kind: 'refused', code: 'overdrawn', ttl: 1 }),
    marker(4, { kind: 'refused', code: 'overdrawn' }),
  ])
  expect(await compared(await storeOf([]), after, { removesExpired: true })).toMatchObject({
    decisions: [{ offset: 4 }],
    unknownDecisions: 1,
  })
  expect(await compared(await storeOf([]), after)).toMatchObject({
    decisions: [{ offset: 3 }, { offset: 4 }],
    unknownDecisions: 0,
  })
})

test('an expired item is no difference, whether it was removed or not', async () => {
  const { kinds } = await compared(await storeOf([]), await storeOf([item('TOTAL', 5, { ttl: 10 })]))
  expect(kinds).toEqual([])
})

test('an item that the serving generation changes meanwhile is compared as of one position', async () => {
  const before = await storeOf([item('TOTAL', 120, { total: 9 })], 121)
  const after = await storeOf([item('TOTAL', 5, { total: 3 })], 100)
  let folded = 0
  const advance = async () => {
    folded += 1
    if (folded === 2) {
      after.items.set(keyOf(item('TOTAL', 120)), item('TOTAL', 120, { total: 9 }))
      await after.setCheckpoint(121)
    }
    return after
  }
  expect(await compared(before, after, { advance })).toMatchObject({ kinds: [{ same: 1, changed: 0 }], moving: 0 })
  expect(folded).toBe(2)
})

test('an item that changes at every comparison is counted as moving', async () => {
  const before = await storeOf([item('TOTAL', 120, { total: 9 })], 50)
  const after = await storeOf([item('TOTAL', 5, { total: 3 })], 50)
  let offset = 120
  const advance = async () => {
    offset += 1
    before.items.set(keyOf(item('TOTAL', offset)), item('TOTAL', offset, { total: offset }))
    return after
  }
  expect(await compared(before, after, { advance })).toMatchObject({ kinds: [], moving: 1 })
})
