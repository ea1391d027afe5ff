import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { canonical, type Item, type Key, type Stored } from '../../projections/item.ts'
import type { Page, Query, Reader, TableSpec } from '../../projections/table.ts'
import type { Store, Stores, Write } from '../../processors/engine/store.ts'

/** The projection store's contract: every adapter runs it. `open` is called once a suite; each test has a table of its own. */
export const storeContract = (name: string, open: () => Promise<{ stores: Stores; cleanup: () => Promise<void> }>): void => {
  describe(`the store contract, ${name}`, () => {
    let stores: Stores
    let cleanup: () => Promise<void>
    let tables = 0
    beforeAll(async () => {
      ({ stores, cleanup } = await open())
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
      ],
    })
    const fresh = (): Promise<Store> => stores.open(spec(), 1)

    describe('loads', () => loads(fresh))
    describe('commits', () => commits(fresh))
    describe('checkpoints', () => checkpoints(fresh))
    describe('reads', () => reads(fresh))
    describe('queries', () => queries(fresh))
    describe('indexes', () => indexes(fresh))
    describe('whole tables', () => wholeTables(fresh))
    describe('generations', () => generations(() => stores, spec))
  })
}

const NOW = 1_800_000_000_000
const stored = (key: Key, pos: number, rest: Omit<Item, 'PK' | 'SK'> = {}): Stored => ({ ...rest, ...key, _pos: pos })
const at = (pk: string, sk: string): Key => ({ PK: pk, SK: sk })
const create = (item: Stored): Write => ({ put: item, expect: null })
const update = (item: Stored, expected: number): Write => ({ put: item, expect: expected })
const same = (actual: readonly (Item | undefined)[], expected: readonly (Item | undefined)[]): void =>
  expect(actual.map(item => item && canonical(item))).toEqual(expected.map(item => item && canonical(item)))
const sks = (page: Page): string[] => page.items.map(item => item.SK)

const allPages = async (reader: Reader, query: Query): Promise<Page[]> => {
  const pages: Page[] = []
  for (let cursor: string | undefined; ;) {
    const page = await reader.query(cursor === undefined ? query : { ...query, cursor })
    pages.push(page)
    if (page.cursor === undefined) return pages
    cursor = page.cursor
    expect(pages.length).toBeLessThan(1000)
  }
}

const loads = (fresh: () => Promise<Store>): void => {
  test('answers in the order asked for, absent items as undefined, expired ones too', async () => {
    const store = await fresh()
    const a = stored(at('USER#1', 'A'), 1)
    const b = stored(at('USER#1', 'B'), 2, { ttl: 1 })
    await store.commit([[[create(a), create(b)]]])
    same(await store.load([b, at('USER#1', 'C'), a, b]), [b, undefined, a, b])
    expect(await store.load([])).toEqual([])
  })

  test('more keys than fit one request come back whole', async () => {
    const store = await fresh()
    const items = Array.from({ length: 250 }, (_, index) => stored(at(`USER#${index % 7}`, `ITEM#${index}`), index))
    await store.bulk(items)
    same(await store.load(items), items)
  })

  test('every value comes back as it went in', async () => {
    const store = await fresh()
    const item = stored(at('USER#ü', 'MEAL#\u{1F963}'), 2 ** 40, {
      nothing: null, yes: true, no: false, empty: '', text: 'Käse \u{1F9C0} \ufffd 漢', zero: 0, negative: -12.5,
      fraction: 0.1, tiny: 1e-9, large: 2 ** 40 + 1, safe: Number.MAX_SAFE_INTEGER, big: 2n ** 80n, bigNegative: -(2n ** 64n),
      list: [1, 'two', null, [3, { four: 4n ** 40n }], []], map: { a: { b: { c: [] } } }, emptyMap: {}, emptyList: [],
    })
    await store.commit([[[create(item)]]])
    same(await store.load([item]), [item])
    const [back] = await store.load([item])
    expect(typeof back?.['big']).toBe('bigint')
    expect(back?._pos).toBe(2 ** 40)
  })

  test('an absent attribute stays absent, whatever an item of the same shape had', async () => {
    const store = await fresh()
    const a = stored(at('P', 'A'), 1, { note: 'x', gone: undefined })
    const b = stored(at('P', 'B'), 1, { gone: 1 })
    await store.commit([[[create(a), create(b)]]])
    const [back] = await store.load([a])
    expect(Object.keys(back ?? {}).sort()).toEqual(['PK', 'SK', '_pos', 'note'])
  })

  test('peek, where offered, sees what was just committed', async () => {
    const store = await fresh()
    const item = stored(at('P', 'S'), 4)
    await store.commit([[[create(item)]]])
    if (store.peek === undefined) return
    same([store.peek(item), store.peek(at('P', 'T'))], [item, undefined])
    await store.commit([[[{ remove: item, expect: 4 }]]])
    expect(store.peek(item)).toBeUndefined()
  })
}

const commits = (fresh: () => Promise<Store>): void => {
  const one = at('USER#1', 'ONE')
  const two = at('USER#1', 'TWO')

  test('creates, replaces whole and removes, each from the position it was folded from', async () => {
    const store = await fresh()
    expect(await store.commit([[[create(stored(one, 1, { a: 1 }))]]])).toEqual([{ applied: 'all' }])
    expect(await store.commit([[[update(stored(one, 2, { b: 1 }), 1)]]])).toEqual([{ applied: 'all' }])
    same(await store.load([one]), [stored(one, 2, { b: 1 })])
    expect(await store.commit([[[{ remove: one, expect: 2 }]]])).toEqual([{ applied: 'all' }])
    expect(await store.load([one])).toEqual([undefined])
  })

  test('position 0 is a position, not an absence', async () => {
    const store = await fresh()
    await store.commit([[[create(stored(one, 0))]]])
    expect(await store.commit([[[update(stored(one, 1), 0)]]])).toEqual([{ applied: 'all' }])
    expect((await store.commit([[[create(stored(one, 2))]]]))[0]?.applied).toBe(0)
  })

  test.each<[string, (existing: boolean) => Write, boolean]>([
    ['a create of what is there', () => create(stored(one, 9)), true],
    ['an update from another position', () => update(stored(one, 9), 3), true],
    ['an update of what is absent', () => update(stored(one, 9), 3), false],
    ['a removal from another position', () => ({ remove: one, expect: 3 }), true],
    ['a removal of what is absent', () => ({ remove: one, expect: 3 }), false],
  ])('%s fails, writes nothing, and tells what is there', async (_, write, existing) => {
    const store = await fresh()
    const before = stored(one, 5, { kept: true })
    if (existing) await store.commit([[[create(before)]]])
    const [outcome] = await store.commit([[[write(existing)]]])
    if (outcome === undefined || outcome.applied === 'all') throw new Error('the write went through')
    expect(outcome.applied).toBe(0)
    same(outcome.current, existing ? [before] : [])
    same(await store.load([one]), [existing ? before : undefined])
  })

  test('a chunk is written all or nothing, and its failure tells every item it met', async () => {
    const store = await fresh()
    await store.commit([[[create(stored(one, 1)), create(stored(two, 2))]]])
    const three = at('USER#1', 'THREE')
    const [outcome] = await store.commit([[[create(stored(three, 3)), update(stored(one, 3), 1), update(stored(two, 3), 1)]]])
    if (outcome === undefined || outcome.applied === 'all') throw new Error('the chunk went through')
    expect(outcome.applied).toBe(0)
    same([...outcome.current].sort((a, b) => a._pos - b._pos), [stored(one, 1), stored(two, 2)])
    same(await store.load([one, two, three]), [stored(one, 1), stored(two, 2), undefined])
  })

  test('the first chunk that fails ends its span; chunks before it stay', async () => {
    const store = await fresh()
    const [outcome] = await store.commit([[
      [create(stored(one, 1)), create(stored(two, 1))],
      [update(stored(one, 2), 1)],
      [update(stored(two, 3), 99)],
      [update(stored(one, 4), 2)],
    ]])
    expect(outcome?.applied).toBe(2)
    same(await store.load([one, two]), [stored(one, 2), stored(two, 1)])
  })

  test('a span that fails does not hold up the others, and outcomes come in the order of the spans', async () => {
    const store = await fresh()
    const spans = ['A', 'B', 'C'].map(sk => [[sk === 'B' ? update(stored(at('P', sk), 2), 1) : create(stored(at('P', sk), 2))]])
    const outcomes = await store.commit(spans)
    expect(outcomes.map(outcome => outcome.applied)).toEqual(['all', 0, 'all'])
    same(await store.load([at('P', 'A'), at('P', 'B'), at('P', 'C')]), [stored(at('P', 'A'), 2), undefined, stored(at('P', 'C'), 2)])
  })

  test('the same commit twice fails the second time and shows that all is applied', async () => {
    const store = await fresh()
    const commit = () => store.commit([[[create(stored(one, 7)), create(stored(two, 7))]]])
    expect(await commit()).toEqual([{ applied: 'all' }])
    const [again] = await commit()
    if (again === undefined || again.applied === 'all') throw new Error('applied twice')
    expect(again.current.map(item => item._pos)).toEqual([7, 7])
  })

  test('of writers that race from one position, exactly one wins', async () => {
    const store = await fresh()
    await store.commit([[[create(stored(one, 1))]]])
    const outcomes = await Promise.all(Array.from({ length: 8 }, (_, index) => store.commit([[[update(stored(one, 10 + index), 1)]]])))
    const winners = outcomes.flatMap(([outcome], index) => (outcome?.applied === 'all' ? [10 + index] : []))
    expect(winners).toHaveLength(1)
    expect((await store.load([one]))[0]?._pos).toBe(winners[0])
  })

  test('a chunk of a hundred writes and a hundred spans of one write go through', async () => {
    const store = await fresh()
    const hundred = Array.from({ length: 100 }, (_, index) => stored(at('P', `I#${index}`), 1))
    expect(await store.commit([[hundred.map(create)]])).toEqual([{ applied: 'all' }])
    const outcomes = await store.commit(hundred.map(item => [[update({ ...item, _pos: 2 }, 1)]]))
    expect(outcomes.every(outcome => outcome.applied === 'all')).toBe(true)
    expect((await store.load(hundred)).every(item => item?._pos === 2)).toBe(true)
  })

  test('an item over 400 KB is refused with item-too-large, and nothing of its chunk is written', async () => {
    const store = await fresh()
    const large = stored(two, 1, { text: 'x'.repeat(410 * 1024) })
    await expect(store.commit([[[create(stored(one, 1)), create(large)]]])).rejects.toMatchObject({ code: 'item-too-large', retriable: false })
    expect(await store.load([one, two])).toEqual([undefined, undefined])
  })

  test('an item of 390 KB is kept', async () => {
    const store = await fresh()
    const item = stored(one, 1, { text: 'x'.repeat(390 * 1024) })
    expect(await store.commit([[[create(item)]]])).toEqual([{ applied: 'all' }])
    same(await store.load([one]), [item])
  })

  test('nothing to commit is nothing', async () => {
    const store = await fresh()
    expect(await store.commit([])).toEqual([])
    expect(await store.commit([[]])).toEqual([{ applied: 'all' }])
  })
}

const checkpoints = (fresh: () => Promise<Store>): void => {
  test('are empty at first, kept by partition, and never go backwards', async () => {
    const store = await fresh()
    expect(await store.checkpoints()).toEqual(new Map())
    await store.commit([[[create(stored(at('P', 'S'), 1))]]], { partition: 0, offset: 2 })
    await store.commit([], { partition: 3, offset: 2 ** 33 })
    await store.commit([], { partition: 0, offset: 1 })
    expect(await store.checkpoints()).toEqual(new Map([[0, 2], [3, 2 ** 33]]))
  })

  test('stay where they were when any span failed', async () => {
    const store = await fresh()
    await store.commit([], { partition: 0, offset: 5 })
    await store.commit([[[create(stored(at('P', 'A'), 6))], [update(stored(at('P', 'B'), 6), 1)]]], { partition: 0, offset: 7 })
    expect(await store.checkpoints()).toEqual(new Map([[0, 5]]))
  })
}

const reads = (fresh: () => Promise<Store>): void => {
  test('hide what has expired by the reader\'s clock, at the second it expires', async () => {
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

  test('get many answers in order, absent items as undefined, a key twice twice', async () => {
    const store = await fresh()
    const items = Array.from({ length: 120 }, (_, index) => stored(at('P', `S#${index}`), index))
    await store.bulk(items)
    const reader = store.reader(() => NOW)
    const asked = [items[119], at('P', 'none'), items[0], ...items.slice(0, 118), items[0]] as Key[]
    const answer = await reader.getMany(asked)
    expect(answer.map(item => item?.SK)).toEqual(asked.map(key => (key.SK === 'none' ? undefined : key.SK)))
  })
}

const SORTED = ['A', 'A#1', 'A#2', 'A~', 'B', 'a', 'é', '\u{fffd}', '\u{1F9C0}']

const queries = (fresh: () => Promise<Store>): void => {
  const filled = async (sortKeys: readonly string[] = SORTED): Promise<Reader> => {
    const store = await fresh()
    await store.bulk([
      ...sortKeys.map((sk, index) => stored(at('P', sk), index)),
      stored(at('O', 'A#1'), 1), stored(at('P!', 'A#1'), 1), stored(at('P\u{1F9C0}', 'A'), 1),
    ])
    return store.reader(() => NOW)
  }

  test('answer one partition only, in the order of UTF-8 bytes, forwards and backwards', async () => {
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
  ])('%j answers its part, both ways', async (part, expected) => {
    const reader = await filled()
    expect(sks(await reader.query({ pk: 'P', limit: 100, ...part }))).toEqual(expected)
    expect(sks(await reader.query({ pk: 'P', limit: 100, reverse: true, ...part }))).toEqual([...expected].reverse())
  })

  test.each<[Partial<Query>, number]>([[{}, 1], [{}, 2], [{}, 4], [{}, 9], [{ prefix: 'A' }, 3], [{ from: 'A#1', to: 'é' }, 2]])(
    'pages of %j by %d, joined, are the whole, both ways', async (part, limit) => {
      const reader = await filled()
      for (const reverse of [false, true]) {
        const whole = await reader.query({ pk: 'P', limit: 100, reverse, ...part })
        const pages = await allPages(reader, { pk: 'P', limit, reverse, ...part })
        expect(pages.flatMap(sks)).toEqual(sks(whole))
        expect(pages.slice(0, -1).every(page => page.items.length === limit)).toBe(true)
      }
    })

  test('a page holds whole items, equal to those loaded by key', async () => {
    const store = await fresh()
    const item = stored(at('P', 'S'), 3, { list: [1, { a: null }], big: 2n ** 70n })
    await store.commit([[[create(item)]]])
    same((await store.reader(() => NOW).query({ pk: 'P', limit: 1 })).items, [item])
  })

  test('hide expired items and still fill the page', async () => {
    const store = await fresh()
    await store.bulk(Array.from({ length: 60 }, (_, index) =>
      stored(at('P', `S#${String(index).padStart(3, '0')}`), index, index % 3 === 0 ? { live: true } : { ttl: NOW / 1000 })))
    const reader = store.reader(() => NOW)
    const pages = await allPages(reader, { pk: 'P', limit: 7 })
    expect(pages.flatMap(sks)).toEqual(Array.from({ length: 20 }, (_, index) => `S#${String(index * 3).padStart(3, '0')}`))
    expect(pages.slice(0, 2).map(page => page.items.length)).toEqual([7, 7])
  })

  test('see what was committed before them, and a cursor outlives the item it stands on', async () => {
    const store = await fresh()
    await store.commit([[['A', 'B', 'C'].map(sk => create(stored(at('P', sk), 1)))]])
    const reader = store.reader(() => NOW)
    const page = await reader.query({ pk: 'P', limit: 2 })
    expect(sks(page)).toEqual(['A', 'B'])
    await store.commit([[[{ remove: at('P', 'B'), expect: 1 }, create(stored(at('P', 'BB'), 2))]]])
    if (page.cursor === undefined) throw new Error('no cursor')
    expect(sks(await reader.query({ pk: 'P', limit: 2, cursor: page.cursor }))).toEqual(['BB', 'C'])
  })

  test('a cursor of another query, a damaged one and a made-up one are refused with bad-cursor', async () => {
    const reader = await filled()
    const query: Query = { pk: 'P', prefix: 'A', limit: 2 }
    const { cursor = '' } = await reader.query(query)
    expect(sks(await reader.query({ ...query, limit: 3, cursor }))).toEqual(['A#2', 'A~'])
    const others: Query[] = [
      { ...query, pk: 'O', cursor }, { ...query, prefix: 'A#', cursor }, { ...query, reverse: true, cursor }, { pk: 'P', limit: 2, cursor },
      { ...query, index: 'GSI2', cursor }, { ...query, cursor: cursor.slice(0, -3) }, { ...query, cursor: '' }, { ...query, cursor: 'bm90IGpzb24' },
      { ...query, cursor: Buffer.from('{}').toString('base64url') }, { ...query, cursor: Buffer.from('[null]').toString('base64url') },
    ]
    for (const other of others) await expect(reader.query(other), JSON.stringify(other)).rejects.toMatchObject({ code: 'bad-cursor' })
  })
}

const indexes = (fresh: () => Promise<Store>): void => {
  const indexed = (sk: string, pos: number, rest: Omit<Item, 'PK' | 'SK'>): Stored => stored(at(`USER#${sk}`, sk), pos, rest)
  const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 10_000, interval: 20 })
  const members = async (reader: Reader, pk: string): Promise<string[]> => sks(await reader.query({ index: 'GSI2', pk, limit: 100 }))

  test('hold only items with both key attributes', async () => {
    const store = await fresh()
    await store.commit([[[
      create(indexed('both', 1, { GSI2PK: 'G', GSI2SK: 'S' })), create(indexed('none', 1, {})),
      create(indexed('half', 1, { GSI2PK: 'G' })),
    ]]])
    await eventually(async () => expect(await members(store.reader(() => NOW), 'G')).toEqual(['both']))
  })

  test('answer keys and included attributes only, where they include some', async () => {
    const store = await fresh()
    const item = indexed('X', 1, { GSI1PK: 'H', GSI1SK: 'METADATA', scopes: ['a'], secret: 1, GSI2PK: 'G', GSI2SK: 'S' })
    await store.commit([[[create(item)]]])
    const reader = store.reader(() => NOW)
    await eventually(async () => {
      const [some] = (await reader.query({ index: 'GSI1', pk: 'H', limit: 10 })).items
      const names = Object.keys(some ?? {}).filter(attribute => attribute !== 'ttl' && attribute !== '_pos')
      expect(names.sort()).toEqual(['GSI1PK', 'GSI1SK', 'PK', 'SK', 'scopes'])
      same((await reader.query({ index: 'GSI2', pk: 'G', limit: 10 })).items, [item])
    })
  })

  test('follow changes: an item moves, leaves, changes in place and is removed', async () => {
    const store = await fresh()
    const reader = store.reader(() => NOW)
    await store.commit([[[create(indexed('A', 1, { GSI2PK: 'G', GSI2SK: '1' })), create(indexed('B', 1, { GSI2PK: 'G', GSI2SK: '2' }))]]])
    await eventually(async () => expect(await members(reader, 'G')).toEqual(['A', 'B']))
    await store.commit([[[update(indexed('A', 2, { GSI2PK: 'G', GSI2SK: '3' }), 1)]]])
    await eventually(async () => expect(await members(reader, 'G')).toEqual(['B', 'A']))
    await store.commit([[[update(indexed('A', 3, { GSI2PK: 'H', GSI2SK: '3', note: 'n' }), 2)]]])
    await eventually(async () => expect([await members(reader, 'G'), await members(reader, 'H')]).toEqual([['B'], ['A']]))
    await store.commit([[[update(indexed('A', 4, { GSI2PK: 'H', GSI2SK: '3', note: 'm' }), 3)]]])
    await eventually(async () => expect((await reader.query({ index: 'GSI2', pk: 'H', limit: 9 })).items.map(item => item['note'])).toEqual(['m']))
    await store.commit([[[update(indexed('A', 5, {}), 4), { remove: at('USER#B', 'B'), expect: 1 }]]])
    await eventually(async () => expect([await members(reader, 'G'), await members(reader, 'H')]).toEqual([[], []]))
  })

  test('hold several items under one index key, and page through them, both ways', async () => {
    const store = await fresh()
    const items = Array.from({ length: 9 }, (_, index) => indexed(`I#${index}`, index, { GSI2PK: 'G', GSI2SK: `S#${index >> 2}` }))
    await store.bulk(items)
    const reader = store.reader(() => NOW)
    await eventually(async () => expect(await members(reader, 'G')).toHaveLength(9))
    for (const reverse of [false, true]) {
      const seen = (await allPages(reader, { index: 'GSI2', pk: 'G', limit: 2, reverse })).flatMap(page => page.items)
      expect(seen.map(item => item.SK).sort()).toEqual(items.map(item => item.SK))
      const order = seen.map(item => String(item['GSI2SK']))
      expect(order).toEqual([...order].sort((a, b) => (a < b === reverse ? 1 : a === b ? 0 : -1)))
    }
    const part = await reader.query({ index: 'GSI2', pk: 'G', prefix: 'S#1', limit: 9 })
    expect(part.items.map(item => item['GSI2SK'])).toEqual(['S#1', 'S#1', 'S#1', 'S#1'])
    const range = await reader.query({ index: 'GSI2', pk: 'G', from: 'S#1', to: 'S#2', limit: 9, reverse: true })
    expect(range.items.map(item => item['GSI2SK'])).toEqual(['S#2', 'S#1', 'S#1', 'S#1', 'S#1'])
  })

  test('an index that does not exist is refused with unknown-index', async () => {
    const store = await fresh()
    await expect(store.reader(() => NOW).query({ index: 'GSI9', pk: 'G', limit: 1 })).rejects.toMatchObject({ code: 'unknown-index' })
  })
}

const everything = async (store: Store): Promise<Stored[]> => {
  const items: Stored[] = []
  for await (const page of store.scan()) items.push(...page)
  return items.sort((a, b) => (canonical(a) < canonical(b) ? -1 : 1))
}

const wholeTables = (fresh: () => Promise<Store>): void => {
  test('bulk writes what it is given, from arrays and streams, over what was there', async () => {
    const store = await fresh()
    const items = Array.from({ length: 1000 }, (_, index) => stored(at(`U#${String(index % 10)}`, `I#${String(index).padStart(4, '0')}`), index))
    await store.bulk(items)
    await store.bulk((async function* () {
      yield stored(at('U#0', 'I#0000'), 5000, { again: true })
      yield stored(at('U#1', 'new'), 5001)
    })())
    const now = await everything(store)
    expect(now).toHaveLength(1001)
    same(await store.load([at('U#0', 'I#0000'), at('U#9', 'I#0999')]), [stored(at('U#0', 'I#0000'), 5000, { again: true }), items[999]])
  })

  test('scan gives every item once, expired ones too, and no checkpoints', async () => {
    const store = await fresh()
    const items = Array.from({ length: 300 }, (_, index) => stored(at(`U#${index % 5}`, `I#${index}`), index, index % 2 ? { ttl: 1 } : {}))
    await store.commit(items.map(item => [[create(item)]]), { partition: 0, offset: 300 })
    same(await everything(store), [...items].sort((a, b) => (canonical(a) < canonical(b) ? -1 : 1)))
  })

  test('scan of an empty table ends', async () => {
    expect(await everything(await fresh())).toEqual([])
  })
}

const generations = (stores: () => Stores, spec: () => TableSpec): void => {
  test('lie apart, are found again when opened again, and are dropped one by one', async () => {
    const table = spec()
    const first = await stores().open(table, 1)
    const second = await stores().open(table, 2)
    await first.commit([[[create(stored(at('P', 'S'), 1))]]], { partition: 0, offset: 2 })
    expect(await second.load([at('P', 'S')])).toEqual([undefined])
    await second.commit([[[create(stored(at('P', 'S'), 9))]]])
    await first.close()
    const again = await stores().open(table, 1)
    expect((await again.load([at('P', 'S')]))[0]?._pos).toBe(1)
    expect(await again.checkpoints()).toEqual(new Map([[0, 2]]))
    await again.close()
    await stores().drop(table, 1)
    expect(await everything(await stores().open(table, 1))).toEqual([])
    expect((await second.load([at('P', 'S')]))[0]?._pos).toBe(9)
  })

  test('dropping one that does not exist is harmless', async () => {
    await stores().drop(spec(), 7)
  })
}
