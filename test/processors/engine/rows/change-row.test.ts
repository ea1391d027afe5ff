import { expect, test } from 'vitest'
import { changeRow } from '../../../../processors/engine/rows/change-row.ts'
import { keyOf, type Stored } from '../../../../projections/item.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'

const key = { PK: 'ROW', SK: 'ROW' }
type Row = Stored & { readonly count: number }
const increment = (was: Row | undefined) => ({ ...key, count: (was?.count ?? 0) + 1 })

test('all concurrent changes of a row are stored', async () => {
  const store = memoryStore()
  await Promise.all(Array.from({ length: 10 }, () => changeRow(store, key, increment)))
  expect(await store.load([key])).toMatchObject([{ count: 10 }])
})

test('a change is decided again from the row that another process wrote', async () => {
  const store = memoryStore()
  store.interrupt(() => void store.items.set(keyOf(key), { ...key, count: 5, _pos: 1 }))
  const seen: (number | undefined)[] = []
  const row = await changeRow<Row>(store, key, (was) => {
    seen.push(was?.count)
    return increment(was)
  })
  expect(seen).toEqual([undefined, 5])
  expect(row).toMatchObject({ count: 6, _pos: 2 })
})

test('null removes the row, and undefined leaves it', async () => {
  const store = memoryStore()
  expect(await changeRow(store, key, () => null)).toBeUndefined()
  await changeRow(store, key, increment)
  expect(await changeRow(store, key, () => undefined)).toMatchObject({ count: 1 })
  expect(await changeRow(store, key, () => null)).toBeUndefined()
  expect(await store.load([key])).toEqual([undefined])
})

test('an assumed row saves the read, and is corrected if it is outdated', async () => {
  const store = memoryStore()
  const first = await changeRow<Row>(store, key, increment, { assumed: undefined })
  expect(store.loads).toEqual([])
  await changeRow(store, key, increment, { assumed: first })
  expect(await changeRow(store, key, increment, { assumed: first })).toMatchObject({ count: 3 })
  expect(store.loads).toEqual([])
})
