import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canonical, type Key, type Stored } from '../../projections/item.ts'
import type { TableSpec } from '../../projections/table.ts'
import type { Store, Stores } from '../../processors/engine/ports/store.ts'
import { changes } from './store-changes.ts'
import { checkpoints, commits } from './store-commits.ts'
import { NOW, at, create, same, stored } from './store-items.ts'
import { limits } from './store-limits.ts'
import { indexes, queries } from './store-queries.ts'
import { sending } from './store-sending.ts'

/** The contract of the port of stores. Every adapter runs it. The suite calls `open` once, and each test uses a table of its own. */
export const storeContract = (
  name: string,
  open: () => Promise<{ stores: Stores; cleanup: () => Promise<void> }>,
): void => {
  describe(`the store contract, ${name}`, () => {
    let stores: Stores
    let cleanup: () => Promise<void>
    let tables = 0
    beforeAll(async () => {
      ;({ stores, cleanup } = await open())
    })
    afterAll(async () => {
      await stores.close()
      await cleanup()
    })
    const spec = (): TableSpec => ({
      name: `contract-${++tables}`,
      ttl: 'ttl',
      indexes: [
        { name: 'GSI1', pk: 'GSI1PK', sk: 'GSI1SK', project: ['scopes', 'lastUsedAt'] },
        { name: 'GSI2', pk: 'GSI2PK', sk: 'GSI2SK', project: 'all' },
        { name: 'GSI3', pk: 'GSI3PK', sk: 'level', number: true, project: 'all' },
      ],
    })
    const fresh = (): Promise<Store> => stores.create(spec(), 1)

    describe('loads', () => loads(fresh))
    describe('commits', () => commits(fresh))
    describe('checkpoints', () => checkpoints(fresh))
    describe('limits', () => limits(fresh))
    describe('reads', () => reads(fresh))
    describe('queries', () => queries(fresh))
    describe('indexes', () => indexes(fresh))
    describe('whole tables', () => wholeTables(fresh))
    describe('sending', () => sending(fresh))
    describe('changes', () => changes(() => stores, spec))
    describe('generations', () => generations(() => stores, spec))
  })
}

const loads = (fresh: () => Promise<Store>): void => {
  test('return items in the order of the keys, absent items as undefined, and expired ones too', async () => {
    const store = await fresh()
    const a = stored(at('USER#1', 'A'), 1)
    const b = stored(at('USER#1', 'B'), 2, { ttl: 1 })
    await store.commit([[[create(a), create(b)]]])
    same(await store.load([b, at('USER#1', 'C'), a, b]), [b, undefined, a, b])
    expect(await store.load([])).toEqual([])
  })

  test('return all items for more keys than fit one request', async () => {
    const store = await fresh()
    const items = Array.from({ length: 250 }, (_, index) => stored(at(`USER#${index % 7}`, `ITEM#${index}`), index))
    await store.bulk(items)
    same(await store.load(items), items)
  })

  test('every value is read as it was written', async () => {
    const store = await fresh()
    const item = stored(at('USER#ü', 'MEAL#\u{1F963}'), 2 ** 40, {
      nothing: null,
      yes: true,
      no: false,
      empty: '',
      text: 'Käse \u{1F9C0} \ufffd 漢',
      zero: 0,
      negative: -12.5,
      fraction: 0.1,
      tiny: 1e-9,
      large: 2 ** 40 + 1,
      safe: Number.MAX_SAFE_INTEGER,
      big: 2n ** 80n,
      bigNegative: -(2n ** 64n),
      list: [1, 'two', null, [3, { four: 4n ** 40n }], []],
      map: { a: { b: { c: [] } } },
      emptyMap: {},
      emptyList: [],
    })
    await store.commit([[[create(item)]]])
    same(await store.load([item]), [item])
    const [back] = await store.load([item])
    expect(typeof back?.['big']).toBe('bigint')
    expect(back?._pos).toBe(2 ** 40)
  })

  test('an absent attribute stays absent, also if another item of the same shape has it', async () => {
    const store = await fresh()
    const a = stored(at('P', 'A'), 1, { note: 'x', gone: undefined })
    const b = stored(at('P', 'B'), 1, { gone: 1 })
    await store.commit([[[create(a), create(b)]]])
    const [back] = await store.load([a])
    expect(Object.keys(back ?? {}).sort()).toEqual(['PK', 'SK', '_pos', 'note'])
  })

  test('peek, if the store has it, returns an item at once after its commit', async () => {
    const store = await fresh()
    const item = stored(at('P', 'S'), 4)
    await store.commit([[[create(item)]]])
    if (store.peek === undefined) return
    same([store.peek(item), store.peek(at('P', 'T'))], [item, undefined])
    await store.commit([[[{ remove: item, expect: 4 }]]])
    expect(store.peek(item)).toBeUndefined()
  })
}

const reads = (fresh: () => Promise<Store>): void => {
  test("hide items that have expired by the reader's clock, from the second of their expiry", async () => {
    const store = await fresh()
    const item = stored(at('P', 'S'), 1, { ttl: NOW / 1000 })
    await store.commit([[[create(item)]]])
    let now = NOW - 1
    const reader = store.reader(() => now)
    same([await reader.get(item), ...(await reader.getMany([item]))], [item, item])
    now = NOW
    expect([await reader.get(item), ...(await reader.getMany([item]))]).toEqual([undefined, undefined])
    same(await store.load([item]), [item])
  })

  test('a ttl that is not a number never expires', async () => {
    const store = await fresh()
    const item = stored(at('P', 'S'), 1, { ttl: '1' })
    await store.commit([[[create(item)]]])
    same([await store.reader(() => NOW).get(item)], [item])
  })

  test('a repeated query returns later changes by a commit, a removal or a bulk write', async () => {
    const store = await fresh()
    const reader = store.reader(() => NOW)
    const [first, second, third] = [
      stored(at('P', 'S'), 1),
      stored(at('P', 'S'), 2, { again: true }),
      stored(at('P', 'S'), 4),
    ]
    const shown = async () => [await reader.get(first), ...(await reader.getMany([first]))]
    await store.bulk([first])
    same(await shown(), [first, first])
    await store.commit([[[{ put: second, expect: 1 }]]])
    same(await shown(), [second, second])
    await store.commit([[[{ remove: second, expect: 2 }]]])
    expect(await shown()).toEqual([undefined, undefined])
    await store.bulk([third])
    same(await shown(), [third, third])
    await store.bulk([first])
    same(await shown(), [first, first])
  })

  test('get several items in the order of the keys, absent ones as undefined, and a repeated key repeatedly', async () => {
    const store = await fresh()
    const items = Array.from({ length: 120 }, (_, index) => stored(at('P', `S#${index}`), index))
    await store.bulk(items)
    const reader = store.reader(() => NOW)
    const requested = [items[119], at('P', 'none'), items[0], ...items.slice(0, 118), items[0]] as Key[]
    const answer = await reader.getMany(requested)
    expect(answer.map((item) => item?.SK)).toEqual(requested.map((key) => (key.SK === 'none' ? undefined : key.SK)))
  })
}

const everything = async (store: Store): Promise<Stored[]> => {
  const items: Stored[] = []
  for await (const page of store.scan()) items.push(...page)
  return items.sort((a, b) => (canonical(a) < canonical(b) ? -1 : 1))
}

const wholeTables = (fresh: () => Promise<Store>): void => {
  test('bulk writes items from arrays and streams, and replaces existing ones', async () => {
    const store = await fresh()
    const items = Array.from({ length: 1000 }, (_, index) =>
      stored(at(`U#${String(index % 10)}`, `I#${String(index).padStart(4, '0')}`), index),
    )
    await store.bulk(items)
    await store.bulk(
      (async function* () {
        yield stored(at('U#0', 'I#0000'), 5000, { again: true })
        yield stored(at('U#1', 'new'), 5001)
      })(),
    )
    const now = await everything(store)
    expect(now).toHaveLength(1001)
    same(await store.load([at('U#0', 'I#0000'), at('U#9', 'I#0999')]), [
      stored(at('U#0', 'I#0000'), 5000, { again: true }),
      items[999],
    ])
  })

  test('scan returns every item once, expired ones too, and no checkpoints', async () => {
    const store = await fresh()
    const items = Array.from({ length: 300 }, (_, index) =>
      stored(at(`U#${index % 5}`, `I#${index}`), index, index % 2 ? { ttl: 1 } : {}),
    )
    await store.commit(
      items.map((item) => [[create(item)]]),
      { partition: 0, from: 0, offset: 300 },
    )
    same(
      await everything(store),
      [...items].sort((a, b) => (canonical(a) < canonical(b) ? -1 : 1)),
    )
  })

  test('scan of an empty table ends', async () => {
    expect(await everything(await fresh())).toEqual([])
  })
}

const generations = (stores: () => Stores, spec: () => TableSpec): void => {
  test('are separate, are found when they are opened again, and are dropped one by one', async () => {
    const table = spec()
    const first = await stores().create(table, 1)
    const second = await stores().create(table, 2)
    await first.commit([[[create(stored(at('P', 'S'), 1))]]], { partition: 0, from: 0, offset: 2 })
    expect(await second.load([at('P', 'S')])).toEqual([undefined])
    await second.commit([[[create(stored(at('P', 'S'), 9))]]])
    await first.close()
    const again = await stores().create(table, 1)
    expect((await again.load([at('P', 'S')]))[0]?._pos).toBe(1)
    expect(await again.checkpoints()).toEqual(new Map([[0, 2]]))
    await again.close()
    await stores().drop(table, 1)
    expect(await everything(await stores().create(table, 1))).toEqual([])
    expect((await second.load([at('P', 'S')]))[0]?._pos).toBe(9)
  })

  test('opening a missing table does not create it', async () => {
    const table = spec()
    await expect(stores().open(table, 1)).rejects.toMatchObject({ code: 'table-missing', retriable: true })
    expect(await stores().measure(table, 1)).toBeUndefined()
    const store = await stores().create(table, 1)
    await store.commit([], { partition: 0, from: 0, offset: 3 })
    await store.close()
    expect(await (await stores().open(table, 1)).checkpoints()).toEqual(new Map([[0, 3]]))
    await stores().drop(table, 1)
    await expect(stores().open(table, 1)).rejects.toMatchObject({ code: 'table-missing' })
  })

  test('dropping a missing generation has no effect', async () => {
    await stores().drop(spec(), 7)
  })
}
