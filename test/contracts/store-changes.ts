import { expect, test } from 'vitest'
import type { ChangePage, ItemChange } from '../../projections/changes.ts'
import type { TableSpec } from '../../projections/table.ts'
import type { Store, Stores } from '../../processors/engine/ports/store.ts'
import { at, create, stored, update } from './store-items.ts'

/** Follows the changes of the store, from the cursor `after` on if it is given. `until(count)` resolves when at least `count` changes were read. */
const watch = (store: Store, after?: string) => {
  const stopping = new AbortController()
  const pages = (store.changes ?? expect.fail('it has no feed'))
    .follow({ signal: stopping.signal, ...(after === undefined ? {} : { after }) })
    [Symbol.asyncIterator]()
  const changes: ItemChange[] = []
  let cursor = ''
  const page = async (): Promise<ChangePage> => {
    const { value } = (await pages.next()) as { value: ChangePage }
    changes.push(...value.changes)
    cursor = value.cursor
    return value
  }
  return {
    begun: page,
    until: async (count: number) => {
      while (changes.length < count) await page()
      return changes
    },
    cursor: () => cursor,
    stop: async () => {
      stopping.abort()
      await pages.return?.()
    },
  }
}

export const changes = (stores: () => Stores, spec: () => TableSpec): void => {
  const watched = async (): Promise<Store> => {
    const table = { ...spec(), watched: true as const }
    const store = await stores().create(table, 1)
    await stores().enableChanges?.(table, 1)
    return store
  }
  const shown = (found: readonly ItemChange[]) => found.map(({ SK, version, item }) => [SK, version, item?.['n']])

  test('report each change of an item once and in order, with its version, from the time of the request', async () => {
    const store = await watched()
    await store.commit([[[create(stored(at('P', 'before'), 1, { n: 0 }))]]])
    const feed = watch(store)
    await feed.begun()
    await store.commit(
      [[[create(stored(at('P', 'A'), 2, { n: 1 }))], [update(stored(at('P', 'A'), 3, { n: 2 }), 2)]]],
      { partition: 0, from: 0, offset: 4 },
    )
    await store.commit([[[update(stored(at('P', 'A'), 5, { n: 3 }), 3)]]])
    expect(shown(await feed.until(3))).toEqual([
      ['A', 2, 1],
      ['A', 3, 2],
      ['A', 5, 3],
    ])
    await feed.stop()
  })

  test('report a removal, and not the end of its tombstone', async () => {
    const store = await watched()
    await store.commit([[[create(stored(at('P', 'A'), 1, { n: 1 }))]]])
    const feed = watch(store)
    await feed.begun()
    await store.commit([[[update(stored(at('P', 'A'), 2, { _removed: true, ttl: 1 }), 1)]]])
    await store.commit([[[create(stored(at('P', 'B'), 3, { n: 2 }))]]])
    expect(shown(await feed.until(2))).toEqual([
      ['A', 2, undefined],
      ['B', 3, 2],
    ])
    await feed.stop()
  })

  test('continue after a cursor, without a gap', async () => {
    const store = await watched()
    const feed = watch(store)
    await feed.begun()
    await store.commit([[[create(stored(at('P', 'A'), 1, { n: 1 }))]]])
    await feed.until(1)
    await feed.stop()
    await store.commit([[[create(stored(at('P', 'B'), 2, { n: 2 }))]]])
    const again = watch(store, feed.cursor())
    expect(shown(await again.until(1))).toEqual([['B', 2, 2]])
    await again.stop()
  })

  test('report the same to two followers', async () => {
    const store = await watched()
    const [one, other] = [watch(store), watch(store)]
    await Promise.all([one.begun(), other.begun()])
    await store.commit(
      [['A', 'B', 'C'].map((sk) => [create(stored(at('P', sk), 1, { n: 1 }))]).flat()].map((chunk) => [chunk]),
    )
    expect(shown(await one.until(3)).sort()).toEqual(shown(await other.until(3)).sort())
    await Promise.all([one.stop(), other.stop()])
  })

  test.each(['', 'nonsense', Buffer.from('["arn:other",[]]').toString('base64url'), '00000000.0'])(
    'refuse the cursor %j with changes-trimmed',
    async (cursor) => {
      const feed = watch(await watched(), cursor)
      await expect(feed.begun()).rejects.toMatchObject({ code: 'changes-trimmed' })
    },
  )
}
