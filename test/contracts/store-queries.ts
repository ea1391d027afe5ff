import { expect, test, vi } from 'vitest'
import type { Item, Stored } from '../../projections/item.ts'
import type { Query, Reader } from '../../projections/table.ts'
import type { Store } from '../../processors/engine/ports/store.ts'
import { NOW, allPages, at, create, same, sks, stored, update } from './store-items.ts'

const SORTED = ['A', 'A#1', 'A#2', 'A~', 'B', 'a', 'é', '\u{fffd}', '\u{1F9C0}']

export const queries = (fresh: () => Promise<Store>): void => {
  const filled = async (sortKeys: readonly string[] = SORTED): Promise<Reader> => {
    const store = await fresh()
    await store.bulk([
      ...sortKeys.map((sk, index) => stored(at('P', sk), index)),
      stored(at('O', 'A#1'), 1),
      stored(at('P!', 'A#1'), 1),
      stored(at('P\u{1F9C0}', 'A'), 1),
    ])
    return store.reader(() => NOW)
  }

  test('return one partition only, in the order of UTF-8 bytes, forwards and backwards', async () => {
    const reader = await filled()
    expect(sks(await reader.query({ pk: 'P', limit: 100 }))).toEqual(SORTED)
    expect(sks(await reader.query({ pk: 'P', limit: 100, reverse: true }))).toEqual([...SORTED].reverse())
    expect(await reader.query({ pk: 'none', limit: 100 })).toEqual({ items: [] })
  })

  test.each<[Partial<Query>, string[]]>([
    [{ prefix: 'A' }, ['A', 'A#1', 'A#2', 'A~']],
    [{ prefix: 'A#' }, ['A#1', 'A#2']],
    [{ prefix: '\u{1F9C0}' }, ['\u{1F9C0}']],
    [{ prefix: 'é' }, ['é']],
    [{ prefix: 'Z' }, []],
    [{ from: 'A#1', to: 'B' }, ['A#1', 'A#2', 'A~', 'B']],
    [{ from: 'A#11', to: 'AZ' }, ['A#2']],
    [{ from: 'a' }, ['a', 'é', '\u{fffd}', '\u{1F9C0}']],
    [{ to: 'A#1' }, ['A', 'A#1']],
    [{ from: 'B', to: 'A' }, []],
  ])('%j returns its range in both directions', async (part, expected) => {
    const reader = await filled()
    expect(sks(await reader.query({ pk: 'P', limit: 100, ...part }))).toEqual(expected)
    expect(sks(await reader.query({ pk: 'P', limit: 100, reverse: true, ...part }))).toEqual([...expected].reverse())
  })

  test.each<[Partial<Query>, number]>([
    [{}, 1],
    [{}, 2],
    [{}, 4],
    [{}, 9],
    [{ prefix: 'A' }, 3],
    [{ from: 'A#1', to: 'é' }, 2],
  ])('the pages of %j with %d items contain all items in both directions', async (part, limit) => {
    const reader = await filled()
    for (const reverse of [false, true]) {
      const whole = await reader.query({ pk: 'P', limit: 100, reverse, ...part })
      const pages = await allPages(reader, { pk: 'P', limit, reverse, ...part })
      expect(pages.flatMap(sks)).toEqual(sks(whole))
      expect(pages.slice(0, -1).every((page) => page.items.length === limit)).toBe(true)
    }
  })

  test('a page contains complete items, equal to those loaded by key', async () => {
    const store = await fresh()
    const item = stored(at('P', 'S'), 3, { list: [1, { a: null }], big: 2n ** 70n })
    await store.commit([[[create(item)]]])
    same((await store.reader(() => NOW).query({ pk: 'P', limit: 1 })).items, [item])
  })

  test('hide expired items and fill the page nevertheless', async () => {
    const store = await fresh()
    await store.bulk(
      Array.from({ length: 60 }, (_, index) =>
        stored(
          at('P', `S#${String(index).padStart(3, '0')}`),
          index,
          index % 3 === 0 ? { live: true } : { ttl: NOW / 1000 },
        ),
      ),
    )
    const reader = store.reader(() => NOW)
    const pages = await allPages(reader, { pk: 'P', limit: 7 })
    expect(pages.flatMap(sks)).toEqual(
      Array.from({ length: 20 }, (_, index) => `S#${String(index * 3).padStart(3, '0')}`),
    )
    expect(pages.slice(0, 2).map((page) => page.items.length)).toEqual([7, 7])
  })

  test('of tombstones return only the tombstones of the partition, in pages', async () => {
    const store = await fresh()
    const removed = Array.from({ length: 7 }, (_, index) =>
      stored(at('USER#1', `GONE ${index}`), index + 1, { _removed: true, ttl: 2_000_000_000 }),
    )
    const items = Array.from({ length: 20 }, (_, index) => stored(at('USER#1', `HERE ${index}`), index + 1))
    const elsewhere = stored(at('USER#2', 'GONE'), 1, { _removed: true })
    await store.commit([...removed, ...items, elsewhere].map((item) => [[create(item)]]))
    const reader = store.reader(() => 0)
    expect((await reader.query({ pk: 'USER#1', limit: 100 })).items).toHaveLength(20)
    const first = await reader.query({ pk: 'USER#1', tombstones: true, limit: 4 })
    const cursor = first.cursor ?? ''
    const rest = await reader.query({ pk: 'USER#1', tombstones: true, limit: 4, cursor })
    same([...first.items, ...rest.items] as Stored[], removed)
    expect(rest.cursor).toBeUndefined()
  })

  test('return everything that was committed before, and a cursor stays valid after its item is removed', async () => {
    const store = await fresh()
    await store.commit([[['A', 'B', 'C'].map((sk) => create(stored(at('P', sk), 1)))]])
    const reader = store.reader(() => NOW)
    const page = await reader.query({ pk: 'P', limit: 2 })
    expect(sks(page)).toEqual(['A', 'B'])
    await store.commit([[[{ remove: at('P', 'B'), expect: 1 }, create(stored(at('P', 'BB'), 2))]]])
    if (page.cursor === undefined) throw new Error('no cursor')
    expect(sks(await reader.query({ pk: 'P', limit: 2, cursor: page.cursor }))).toEqual(['BB', 'C'])
  })

  test('a cursor of another query, a damaged one and an invented one are refused with bad-cursor', async () => {
    const reader = await filled()
    const query: Query = { pk: 'P', prefix: 'A', limit: 2 }
    const { cursor = '' } = await reader.query(query)
    expect(sks(await reader.query({ ...query, limit: 3, cursor }))).toEqual(['A#2', 'A~'])
    const others: Query[] = [
      { ...query, pk: 'O', cursor },
      { ...query, prefix: 'A#', cursor },
      { ...query, reverse: true, cursor },
      { pk: 'P', limit: 2, cursor },
      { ...query, index: 'GSI2', cursor },
      { ...query, cursor: cursor.slice(0, -3) },
      { ...query, cursor: '' },
      { ...query, cursor: 'bm90IGpzb24' },
      { ...query, cursor: Buffer.from('{}').toString('base64url') },
      { ...query, cursor: Buffer.from('[null]').toString('base64url') },
    ]
    for (const other of others)
      await expect(reader.query(other), JSON.stringify(other)).rejects.toMatchObject({ code: 'bad-cursor' })
  })
}

export const indexes = (fresh: () => Promise<Store>): void => {
  test('numbers sort by value, with bounds and pages, in both directions, and items without a number are not in the index', async () => {
    const store = await fresh()
    const levels = [-20.5, -1, 0, 0.25, 9, 18, 100]
    await store.bulk([
      ...levels.map((level, n) => stored(at('D', `S${n}`), n, { GSI3PK: 'bar', level })),
      stored(at('D', 'none'), 9, { GSI3PK: 'bar' }),
      stored(at('D', 'text'), 9, { GSI3PK: 'bar2', level: 1 }),
    ])
    const reader = store.reader(() => NOW)
    const levelsOf = async (part: Partial<Query>) =>
      (await allPages(reader, { index: 'GSI3', pk: 'bar', limit: 2, ...part })).flatMap(({ items }) =>
        items.map((item) => item['level']),
      )
    await vi.waitFor(async () => expect(await levelsOf({})).toEqual(levels))
    expect(await levelsOf({ reverse: true })).toEqual([...levels].reverse())
    expect(await levelsOf({ to: 18 })).toEqual([-20.5, -1, 0, 0.25, 9, 18])
    expect(await levelsOf({ from: 0, to: 9 })).toEqual([0, 0.25, 9])
    expect(await levelsOf({ from: -1 })).toEqual([-1, 0, 0.25, 9, 18, 100])
    expect(await levelsOf({ from: 10, to: 9 })).toEqual([])
  })

  const indexed = (sk: string, pos: number, rest: Omit<Item, 'PK' | 'SK'>): Stored =>
    stored(at(`USER#${sk}`, sk), pos, rest)
  const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 10_000, interval: 20 })
  const members = async (reader: Reader, pk: string): Promise<string[]> =>
    sks(await reader.query({ index: 'GSI2', pk, limit: 100 }))

  test('contain only items with both key attributes', async () => {
    const store = await fresh()
    await store.commit([
      [
        [
          create(indexed('both', 1, { GSI2PK: 'G', GSI2SK: 'S' })),
          create(indexed('none', 1, {})),
          create(indexed('half', 1, { GSI2PK: 'G' })),
        ],
      ],
    ])
    await eventually(async () =>
      expect(
        await members(
          store.reader(() => NOW),
          'G',
        ),
      ).toEqual(['both']),
    )
  })

  test('return only keys and included attributes, if they include some', async () => {
    const store = await fresh()
    const item = indexed('X', 1, {
      GSI1PK: 'H',
      GSI1SK: 'METADATA',
      scopes: ['a'],
      secret: 1,
      GSI2PK: 'G',
      GSI2SK: 'S',
    })
    await store.commit([[[create(item)]]])
    const reader = store.reader(() => NOW)
    await eventually(async () => {
      const [some] = (await reader.query({ index: 'GSI1', pk: 'H', limit: 10 })).items
      const names = Object.keys(some ?? {}).filter((attribute) => attribute !== 'ttl' && attribute !== '_pos')
      expect(names.sort()).toEqual(['GSI1PK', 'GSI1SK', 'PK', 'SK', 'scopes'])
      same((await reader.query({ index: 'GSI2', pk: 'G', limit: 10 })).items, [item])
    })
  })

  test('follow changes: an item moves, leaves the index, changes without a move and is removed', async () => {
    const store = await fresh()
    const reader = store.reader(() => NOW)
    await store.commit([
      [[create(indexed('A', 1, { GSI2PK: 'G', GSI2SK: '1' })), create(indexed('B', 1, { GSI2PK: 'G', GSI2SK: '2' }))]],
    ])
    await eventually(async () => expect(await members(reader, 'G')).toEqual(['A', 'B']))
    await store.commit([[[update(indexed('A', 2, { GSI2PK: 'G', GSI2SK: '3' }), 1)]]])
    await eventually(async () => expect(await members(reader, 'G')).toEqual(['B', 'A']))
    await store.commit([[[update(indexed('A', 3, { GSI2PK: 'H', GSI2SK: '3', note: 'n' }), 2)]]])
    await eventually(async () =>
      expect([await members(reader, 'G'), await members(reader, 'H')]).toEqual([['B'], ['A']]),
    )
    await store.commit([[[update(indexed('A', 4, { GSI2PK: 'H', GSI2SK: '3', note: 'm' }), 3)]]])
    await eventually(async () =>
      expect((await reader.query({ index: 'GSI2', pk: 'H', limit: 9 })).items.map((item) => item['note'])).toEqual([
        'm',
      ]),
    )
    await store.commit([[[update(indexed('A', 5, {}), 4), { remove: at('USER#B', 'B'), expect: 1 }]]])
    await eventually(async () => expect([await members(reader, 'G'), await members(reader, 'H')]).toEqual([[], []]))
  })

  test('follow changes that are on the disk: an index contains an item at most once', async () => {
    const store = await fresh()
    const reader = store.reader(() => NOW)
    /** Scans the table, and checks the number of items. The embedded store writes all accepted commits to the disk before a scan. */
    const written = async (items: number) => {
      let found = 0
      for await (const page of store.scan()) found += page.length
      expect(found).toBe(items)
    }
    await store.commit([
      [[create(indexed('A', 1, { GSI2PK: 'G', GSI2SK: '1' })), create(indexed('B', 1, { GSI2PK: 'G', GSI2SK: '2' }))]],
    ])
    await written(2)
    await store.commit([
      [
        [
          update(indexed('A', 2, { GSI2PK: 'H', GSI2SK: '1' }), 1),
          update(indexed('B', 2, { GSI2PK: 'G', GSI2SK: '3' }), 1),
        ],
      ],
    ])
    await written(2)
    await eventually(async () =>
      expect([await members(reader, 'G'), await members(reader, 'H')]).toEqual([['B'], ['A']]),
    )
    await store.commit([[[update(indexed('A', 3, {}), 2), { remove: at('USER#B', 'B'), expect: 2 }]]])
    await written(1)
    await eventually(async () => expect([await members(reader, 'G'), await members(reader, 'H')]).toEqual([[], []]))
  })

  test('contain several items with one index key, and return them in pages in both directions', async () => {
    const store = await fresh()
    const items = Array.from({ length: 9 }, (_, index) =>
      indexed(`I#${index}`, index, { GSI2PK: 'G', GSI2SK: `S#${index >> 2}` }),
    )
    await store.bulk(items)
    const reader = store.reader(() => NOW)
    await eventually(async () => expect(await members(reader, 'G')).toHaveLength(9))
    for (const reverse of [false, true]) {
      const seen = (await allPages(reader, { index: 'GSI2', pk: 'G', limit: 2, reverse })).flatMap((page) => page.items)
      expect(seen.map((item) => item.SK).sort()).toEqual(items.map((item) => item.SK))
      const order = seen.map((item) => String(item['GSI2SK']))
      expect(order).toEqual([...order].sort((a, b) => (a < b === reverse ? 1 : a === b ? 0 : -1)))
    }
    const part = await reader.query({ index: 'GSI2', pk: 'G', prefix: 'S#1', limit: 9 })
    expect(part.items.map((item) => item['GSI2SK'])).toEqual(['S#1', 'S#1', 'S#1', 'S#1'])
    const range = await reader.query({ index: 'GSI2', pk: 'G', from: 'S#1', to: 'S#2', limit: 9, reverse: true })
    expect(range.items.map((item) => item['GSI2SK'])).toEqual(['S#2', 'S#1', 'S#1', 'S#1', 'S#1'])
  })

  test('an index that does not exist is refused with unknown-index', async () => {
    const store = await fresh()
    await expect(store.reader(() => NOW).query({ index: 'GSI9', pk: 'G', limit: 1 })).rejects.toMatchObject({
      code: 'unknown-index',
    })
  })
}
