import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lmdbStores, type LmdbStore } from '../../../../processors/adapters/lmdb/store.ts'
import { canonical, type Stored } from '../../../../projections/item.ts'

const spec = { name: 'shapes', ttl: 'ttl', indexes: [] }
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tributary-shapes-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Items that each have their own attribute names, one of them nested. */
const itemsOf = (name: string, count: number): readonly Stored[] =>
  Array.from({ length: count }, (_, index) => ({
    PK: `${name}-${String(index).padStart(4, '0')}`,
    SK: 'S',
    [`${name}${index}`]: index,
    nested: { [`in${name}${index}`]: true },
    _pos: index,
  }))

const withStore = async (work: (store: LmdbStore) => Promise<void>, share?: string) => {
  const stores = lmdbStores({ folder, ...(share === undefined ? {} : { share }) })
  await work(await stores.create(spec, 1))
  await stores.close()
}

const dump = async (store: LmdbStore) => {
  const found: string[] = []
  for await (const page of store.scan()) found.push(...page.map((item) => canonical(item)))
  return found.sort()
}

const expected = (...lists: readonly (readonly Stored[])[]) =>
  lists
    .flat()
    .map((item) => canonical(item))
    .sort()

test('items of hundreds of shapes are the same after the table is opened again', async () => {
  const items = itemsOf('a', 400)
  await withStore((store) => store.write(items, [], new Map()))
  await withStore(async (store) => expect(await dump(store)).toEqual(expected(items)))
})

test('an item of one of several writers that contains a new shape twice is read unchanged', async () => {
  const items = [{ PK: 'P', SK: 'S', list: [{ a: 1 }, { b: 2 }, { a: 3 }], nested: { a: { a: 4 } }, _pos: 1 }]
  await withStore(async (store) => {
    await store.write(items, [], new Map())
    expect(await dump(store)).toEqual(expected(items))
  }, '0/2')
  await withStore(async (store) => expect(await dump(store)).toEqual(expected(items)))
})

test('items that one of several writers wrote with new shapes, and later items, are read unchanged after a restart', async () => {
  const [first, shared, later] = [itemsOf('a', 20), itemsOf('b', 60), itemsOf('c', 60)]
  await withStore((store) => store.write(first, [], new Map()))
  await withStore((store) => store.write(shared, [], new Map()), '0/2')
  await withStore((store) => store.write(later, [], new Map()))
  await withStore(async (store) => {
    for (const item of [...later, ...first, ...shared, ...first])
      expect(canonical(store.peek(item) as Stored)).toBe(canonical(item))
    expect(await dump(store)).toEqual(expected(first, shared, later))
  })
})
