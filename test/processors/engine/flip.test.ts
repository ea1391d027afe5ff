import { expect, test } from 'vitest'
import { createControl } from '../../../processors/engine/control.ts'
import { parkedFrom, parking } from '../../../processors/engine/parking.ts'
import { flip } from '../../../processors/engine/rebuild.ts'
import { ledger } from './ledger.ts'
import { memoryStore, type MemoryStore } from './memory-store.ts'
import { virtualClock } from './virtual-clock.ts'

const opened = async () => {
  const clock = virtualClock()
  const control = createControl({ store: memoryStore(), now: clock.now })
  await control.ensure(ledger, { cluster: 'c', topic: ledger.topic, partitions: 1 })
  const { generation } = await control.begin(ledger, 'me')
  await control.follow(ledger.name, generation, 'me')
  const stores = [memoryStore(), memoryStore()] as const
  const reach = async (end: number) => {
    for (const store of stores) await store.commit([], { partition: 0, offset: end })
  }
  const flipTo = async (to: number, end: number) => {
    await reach(end)
    const serving = 3 - to
    const log = { watermarks: async () => [{ partition: 0, low: 0, high: end }] }
    const [store, served] = [stores[to - 1] as MemoryStore, stores[serving - 1] as MemoryStore]
    await flip({ domain: ledger.name, foldVersion: 1, control, log, clock, to, store, serving, served, timeoutMs: 1_000 })
  }
  return { control, stores, flipTo }
}

const park = (store: MemoryStore, key: string, offset: number) =>
  store.commit([parking(parkedFrom({ projection: 'accounts', key, position: { partition: 0, offset }, error: new Error('broken') }, offset))])

test('a flip says from where the new generation sends, and the generations before keep their turns', async () => {
  const { control, flipTo } = await opened()
  await flipTo(2, 10)
  await flipTo(1, 25)
  const { generation, from, before } = await control.serving(ledger.name)
  expect([{ generation, from }, ...before].map((turn) => [turn.generation, turn.from.get(0) ?? 0])).toEqual([[1, 25], [2, 10], [1, 0]])
})

test('a key that stands still is the next generation\'s to send for, from where it stood and not from before the turn', async () => {
  const { control, stores, flipTo } = await opened()
  await park(stores[0], 'a', 7)
  await flipTo(2, 10)
  expect([...(await control.serving(ledger.name)).parked]).toEqual([['accounts#a', 7]])
  // Parked before its own turn began: what lies between was the first generation's, and was sent.
  await park(stores[1], 'b', 4)
  await park(stores[1], 'c', 12)
  await flipTo(1, 25)
  expect([...(await control.serving(ledger.name)).parked].sort()).toEqual([['accounts#b', 10], ['accounts#c', 12]])
})

test('of two who flip at once, one does', async () => {
  const { control, flipTo } = await opened()
  const seen = (await control.serving(ledger.name)).version
  await flipTo(2, 10)
  const turn = { generation: 1, from: new Map([[0, 3]]), parked: new Map<string, number>() }
  await expect(control.flip(ledger.name, turn, seen)).rejects.toMatchObject({ code: 'control-conflict' })
  await expect(flipTo(2, 30)).rejects.toMatchObject({ code: 'control-conflict' })
  expect((await control.serving(ledger.name)).generation).toBe(2)
})
