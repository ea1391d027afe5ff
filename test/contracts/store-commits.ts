import { expect, test } from 'vitest'
import type { Store, Write } from '../../processors/engine/ports/store.ts'
import { at, create, same, stored, update } from './store-items.ts'

export const commits = (fresh: () => Promise<Store>): void => {
  const one = at('USER#1', 'ONE')
  const two = at('USER#1', 'TWO')

  test('creates, replaces and removes an item if it has the expected position', async () => {
    const store = await fresh()
    expect(await store.commit([[[create(stored(one, 1, { a: 1 }))]]])).toEqual([{ applied: 'all' }])
    expect(await store.commit([[[update(stored(one, 2, { b: 1 }), 1)]]])).toEqual([{ applied: 'all' }])
    same(await store.load([one]), [stored(one, 2, { b: 1 })])
    expect(await store.commit([[[{ remove: one, expect: 2 }]]])).toEqual([{ applied: 'all' }])
    expect(await store.load([one])).toEqual([undefined])
  })

  test('position 0 counts as a position, and not as an absent item', async () => {
    const store = await fresh()
    await store.commit([[[create(stored(one, 0))]]])
    expect(await store.commit([[[update(stored(one, 1), 0)]]])).toEqual([{ applied: 'all' }])
    expect((await store.commit([[[create(stored(one, 2))]]]))[0]?.applied).toBe(0)
  })

  test.each<[string, (existing: boolean) => Write, boolean]>([
    ['a create of an existing item', () => create(stored(one, 9)), true],
    ['an update from another position', () => update(stored(one, 9), 3), true],
    ['an update of an absent item', () => update(stored(one, 9), 3), false],
    ['a removal from another position', () => ({ remove: one, expect: 3 }), true],
    ['a removal of an absent item', () => ({ remove: one, expect: 3 }), false],
  ])('%s fails, writes nothing, and returns the stored item', async (_, write, existing) => {
    const store = await fresh()
    const before = stored(one, 5, { original: true })
    if (existing) await store.commit([[[create(before)]]])
    const [outcome] = await store.commit([[[write(existing)]]])
    if (outcome === undefined || outcome.applied === 'all') throw new Error('the write went through')
    expect(outcome.applied).toBe(0)
    same(outcome.current, existing ? [before] : [])
    same(await store.load([one]), [existing ? before : undefined])
  })

  test('a chunk is written completely or not at all, and a failure returns all current items', async () => {
    const store = await fresh()
    await store.commit([[[create(stored(one, 1)), create(stored(two, 2))]]])
    const three = at('USER#1', 'THREE')
    const [outcome] = await store.commit([
      [[create(stored(three, 3)), update(stored(one, 3), 1), update(stored(two, 3), 1)]],
    ])
    if (outcome === undefined || outcome.applied === 'all') throw new Error('the chunk went through')
    expect(outcome.applied).toBe(0)
    same(
      [...outcome.current].sort((a, b) => a._pos - b._pos),
      [stored(one, 1), stored(two, 2)],
    )
    same(await store.load([one, two, three]), [stored(one, 1), stored(two, 2), undefined])
  })

  test('the first chunk that fails ends its span; chunks before it stay', async () => {
    const store = await fresh()
    const [outcome] = await store.commit([
      [
        [create(stored(one, 1)), create(stored(two, 1))],
        [update(stored(one, 2), 1)],
        [update(stored(two, 3), 99)],
        [update(stored(one, 4), 2)],
      ],
    ])
    expect(outcome?.applied).toBe(2)
    same(await store.load([one, two]), [stored(one, 2), stored(two, 1)])
  })

  test('a span that fails does not affect the others, and outcomes are in the order of the spans', async () => {
    const store = await fresh()
    const spans = ['A', 'B', 'C'].map((sk) => [
      [sk === 'B' ? update(stored(at('P', sk), 2), 1) : create(stored(at('P', sk), 2))],
    ])
    const outcomes = await store.commit(spans)
    expect(outcomes.map((outcome) => outcome.applied)).toEqual(['all', 0, 'all'])
    same(await store.load([at('P', 'A'), at('P', 'B'), at('P', 'C')]), [
      stored(at('P', 'A'), 2),
      undefined,
      stored(at('P', 'C'), 2),
    ])
  })

  test('a repeated commit fails and returns the applied items', async () => {
    const store = await fresh()
    const commit = () => store.commit([[[create(stored(one, 7)), create(stored(two, 7))]]])
    expect(await commit()).toEqual([{ applied: 'all' }])
    const [again] = await commit()
    if (again === undefined || again.applied === 'all') throw new Error('applied twice')
    expect(again.current.map((item) => item._pos)).toEqual([7, 7])
  })

  test('exactly one of several writers from one position succeeds', async () => {
    const store = await fresh()
    await store.commit([[[create(stored(one, 1))]]])
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) => store.commit([[[update(stored(one, 10 + index), 1)]]])),
    )
    const winners = outcomes.flatMap(([outcome], index) => (outcome?.applied === 'all' ? [10 + index] : []))
    expect(winners).toHaveLength(1)
    expect((await store.load([one]))[0]?._pos).toBe(winners[0])
  })

  test('a chunk of a hundred writes and a hundred spans of one write are accepted', async () => {
    const store = await fresh()
    const hundred = Array.from({ length: 100 }, (_, index) => stored(at('P', `I#${index}`), 1))
    expect(await store.commit([[hundred.map(create)]])).toEqual([{ applied: 'all' }])
    const outcomes = await store.commit(hundred.map((item) => [[update({ ...item, _pos: 2 }, 1)]]))
    expect(outcomes.every((outcome) => outcome.applied === 'all')).toBe(true)
    expect((await store.load(hundred)).every((item) => item?._pos === 2)).toBe(true)
  })

  test('an item over 400 KB is refused with item-too-large, and nothing of its chunk is written', async () => {
    const store = await fresh()
    const large = stored(two, 1, { text: 'x'.repeat(410 * 1024) })
    await expect(store.commit([[[create(stored(one, 1)), create(large)]]])).rejects.toMatchObject({
      code: 'item-too-large',
      retriable: false,
    })
    expect(await store.load([one, two])).toEqual([undefined, undefined])
  })

  test('an item of 390 KB is stored', async () => {
    const store = await fresh()
    const item = stored(one, 1, { text: 'x'.repeat(390 * 1024) })
    expect(await store.commit([[[create(item)]]])).toEqual([{ applied: 'all' }])
    same(await store.load([one]), [item])
  })

  test('a commit without spans succeeds', async () => {
    const store = await fresh()
    expect(await store.commit([])).toEqual([])
    expect(await store.commit([[]])).toEqual([{ applied: 'all' }])
  })
}

export const checkpoints = (fresh: () => Promise<Store>): void => {
  test('are empty at first, and stored per partition', async () => {
    const store = await fresh()
    expect(await store.checkpoints()).toEqual(new Map())
    await store.commit([[[create(stored(at('P', 'S'), 1))]]], { partition: 0, from: 0, offset: 2 })
    await store.commit([], { partition: 3, from: 0, offset: 2 ** 33 })
    expect(await store.checkpoints()).toEqual(
      new Map([
        [0, 2],
        [3, 2 ** 33],
      ]),
    )
  })

  test.each([
    ['behind: the table was restored from an older backup', 8, 9],
    ['absent: the table was created anew', 0, 9],
    ['ahead: another member moved it', 20, 9],
  ])('a commit over a checkpoint that is %s throws checkpoint-moved and writes nothing', async (_, stored_, from) => {
    const store = await fresh()
    if (stored_ > 0) await store.commit([], { partition: 0, from: 0, offset: stored_ })
    const item = stored(at('P', 'S'), 9)
    for (const offset of [from, from + 1]) {
      await expect(store.commit([[[create(item)]]], { partition: 0, from, offset })).rejects.toMatchObject({
        code: 'checkpoint-moved',
        retriable: false,
      })
      await expect(store.commit([], { partition: 0, from, offset: from + 1 })).rejects.toMatchObject({
        code: 'checkpoint-moved',
      })
    }
    expect(await store.load([item])).toEqual([undefined])
    expect((await store.checkpoints()).get(0) ?? 0).toBe(stored_)
  })

  test('a repeated commit whose answer was lost succeeds, although its checkpoint is stored already', async () => {
    const store = await fresh()
    const commit = () => store.commit([], { partition: 0, from: 0, offset: 4 })
    await commit()
    await commit()
    expect(await store.checkpoints()).toEqual(new Map([[0, 4]]))
  })

  test('a commit that does not move the checkpoint requires it nevertheless', async () => {
    const store = await fresh()
    await store.commit([], { partition: 0, from: 0, offset: 4 })
    expect(await store.commit([[[create(stored(at('P', 'A'), 4))]]], { partition: 0, from: 4, offset: 4 })).toEqual([
      { applied: 'all' },
    ])
    await expect(
      store.commit([[[create(stored(at('P', 'B'), 4))]]], { partition: 0, from: 3, offset: 3 }),
    ).rejects.toMatchObject({ code: 'checkpoint-moved' })
    expect(await store.checkpoints()).toEqual(new Map([[0, 4]]))
  })

  test('do not move if any span failed', async () => {
    const store = await fresh()
    await store.commit([], { partition: 0, from: 0, offset: 5 })
    await store.commit([[[create(stored(at('P', 'A'), 6))], [update(stored(at('P', 'B'), 6), 1)]]], {
      partition: 0,
      from: 5,
      offset: 7,
    })
    expect(await store.checkpoints()).toEqual(new Map([[0, 5]]))
  })
}
