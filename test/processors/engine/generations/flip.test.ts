import { expect, test } from 'vitest'
import { createControl } from '../../../../processors/engine/generations/control.ts'
import { parkedFrom, insertEntry } from '../../../../processors/engine/poison/parked-entry.ts'
import { flip } from '../../../../processors/engine/generations/flip.ts'
import { ledger } from '../ledger.ts'
import { memoryStore, type MemoryStore } from '../../../../testing/memory-store.ts'
import { virtualClock } from '../virtual-clock.ts'

const opened = async () => {
  const clock = virtualClock()
  const control = createControl({ store: memoryStore(), now: clock.now })
  await control.ensure(ledger, { cluster: 'c', topic: ledger.topic, partitions: 1 }, async () => {})
  const { generation } = await control.begin(ledger, { holder: 'me', place: 'here' })
  await control.follow(ledger.name, generation, 'me')
  const stores = [memoryStore(), memoryStore()] as const
  const catchUp = async (end: number) => {
    for (const store of stores) await store.setCheckpoint(end)
  }
  const followed = new Set(['ledger.g1', 'ledger.g2'])
  const start = (
    to: number,
    end: number,
    {
      foldVersion = 1,
      acceptParked = false,
      acceptUnfollowed = false,
      progress = (_generation: number, _behind: number): void => undefined,
    } = {},
  ) => {
    const log = { watermarks: async () => [{ partition: 0, low: 0, high: end }] }
    const admin = { isFollowed: async (group: string) => followed.has(group) }
    return flip({
      domain: ledger.name,
      foldVersion,
      control,
      log,
      admin,
      clock,
      to,
      store: async (number) => stores[number - 1] as MemoryStore,
      timeoutMs: 60_000,
      acceptParked,
      acceptUnfollowed,
      progress,
    })
  }
  const flipTo = async (to: number, end: number, acceptParked = false) => {
    await catchUp(end)
    return start(to, end, { acceptParked })
  }
  return { control, clock, stores, followed, catchUp, start, flipTo }
}

const park = (store: MemoryStore, key: string, offset: number) =>
  store.commit([
    insertEntry(
      parkedFrom(
        { projection: 'accounts', key, position: { partition: 0, offset }, error: new Error('broken') },
        offset,
      ),
    ),
  ])

test('a flip records the position from which the new generation sends, and keeps the serving periods of earlier generations', async () => {
  const { control, flipTo } = await opened()
  await flipTo(2, 10)
  await flipTo(1, 25)
  const { generation, from, before } = await control.serving(ledger.name)
  expect([{ generation, from }, ...before].map((turn) => [turn.generation, turn.from.get(0) ?? 0])).toEqual([
    [1, 25],
    [2, 10],
    [1, 0],
  ])
})

test('the next generation sends for a parked key, from its parked event and not from before the period', async () => {
  const { control, stores, flipTo } = await opened()
  await park(stores[0], 'a', 7)
  await flipTo(2, 10)
  expect([...(await control.serving(ledger.name)).parked]).toEqual([['accounts#a', 7]])
  // In generation 2, key b is parked at 4, before its serving period began at 10. Generation 1 has sent the derived events of b up to 10. So the next
  // generation sends for b from 10 on.
  await park(stores[1], 'b', 4)
  await park(stores[1], 'c', 12)
  await flipTo(1, 25, true)
  expect([...(await control.serving(ledger.name)).parked].sort()).toEqual([
    ['accounts#b', 10],
    ['accounts#c', 12],
  ])
})

test('one of two concurrent flips succeeds', async () => {
  const { control, flipTo } = await opened()
  const seen = (await control.serving(ledger.name)).version
  await flipTo(2, 10)
  const turn = { generation: 1, from: new Map([[0, 3]]), parked: new Map<string, number>() }
  await expect(control.flip(ledger.name, turn, seen)).rejects.toMatchObject({ code: 'control-conflict' })
  expect((await control.serving(ledger.name)).generation).toBe(2)
})

test('a flip to the generation that serves changes nothing', async () => {
  const { control, flipTo } = await opened()
  await flipTo(2, 10)
  expect(await flipTo(2, 30)).toEqual({ before: 2, isUnfollowed: false, waitingAsks: 0 })
  expect((await control.serving(ledger.name)).from).toEqual(new Map([[0, 10]]))
})

test('a flip waits until both generations have folded the log up to its end at the time of the request', async () => {
  const { control, clock, stores, start } = await opened()
  await stores[0].setCheckpoint(10)
  const flipping = start(2, 10)
  await clock.pass(1_000)
  expect((await control.serving(ledger.name)).generation).toBe(1)
  await stores[1].setCheckpoint(10)
  await clock.pass(1_000)
  expect(await flipping).toEqual({ before: 1, isUnfollowed: false, waitingAsks: 0 })
})

test('a generation that does not reach the end of the log in time does not serve', async () => {
  const { control, clock, start } = await opened()
  const flipping = expect(start(2, 10)).rejects.toMatchObject({
    code: 'generation-behind',
    message: expect.stringContaining('10 events behind'),
  })
  await clock.pass(61_000)
  await flipping
  expect((await control.serving(ledger.name)).generation).toBe(1)
})

test('a generation that does not exist, and a half-built one, do not serve', async () => {
  const { control, flipTo } = await opened()
  await expect(flipTo(9, 10)).rejects.toMatchObject({ code: 'generation-unknown' })
  const { generation } = await control.begin(ledger, { holder: 'me', place: 'here' })
  await expect(flipTo(generation, 10)).rejects.toMatchObject({
    code: 'generation-unfinished',
    message: expect.stringContaining('--resume'),
  })
})

test('a generation that no processor follows does not serve unless that is accepted, also if the log gets no events', async () => {
  const { control, clock, followed, catchUp, start } = await opened()
  await catchUp(10)
  followed.clear()
  const flipping = expect(start(2, 10)).rejects.toMatchObject({
    code: 'generation-unfollowed',
    message: expect.stringMatching(/generation 2 .*version 1/),
  })
  await clock.pass(31_000)
  await flipping
  expect((await control.serving(ledger.name)).generation).toBe(1)
  expect(await start(2, 10, { acceptUnfollowed: true })).toEqual({ before: 1, isUnfollowed: true, waitingAsks: 0 })
})

test('a flip waits for a processor that starts to follow', async () => {
  const { clock, followed, catchUp, start } = await opened()
  await catchUp(10)
  followed.delete('ledger.g2')
  const flipping = start(2, 10)
  await clock.pass(5_000)
  followed.add('ledger.g2')
  await clock.pass(1_000)
  expect(await flipping).toEqual({ before: 1, isUnfollowed: false, waitingAsks: 0 })
})

test('a command of another fold version flips to a generation that processors of its release follow, and to no other', async () => {
  const { clock, followed, catchUp, start } = await opened()
  await catchUp(10)
  followed.delete('ledger.g2')
  const flipping = expect(start(2, 10, { foldVersion: 7 })).rejects.toMatchObject({ code: 'generation-unfollowed' })
  await clock.pass(31_000)
  await flipping
  followed.add('ledger.g2')
  expect(await start(2, 10, { foldVersion: 7 })).toEqual({ before: 1, isUnfollowed: false, waitingAsks: 0 })
})

test('a generation that no processor follows and that is behind the end does not serve, and the fault contains how far it is behind', async () => {
  const { control, clock, followed, stores, start } = await opened()
  followed.delete('ledger.g2')
  await stores[1].setCheckpoint(6)
  const flipping = expect(start(2, 10, { foldVersion: 7, acceptUnfollowed: true })).rejects.toMatchObject({
    code: 'generation-stands-still',
    message: expect.stringMatching(/4 events behind.*version 1.*version 7/),
  })
  await clock.pass(10_000)
  await flipping
  expect((await control.serving(ledger.name)).generation).toBe(1)
})

test('a flip waits for a generation as long as it makes progress, and reports how far it is behind', async () => {
  const { control, clock, stores, start } = await opened()
  await stores[0].commit([], { partition: 0, from: 0, offset: 10 })
  const behind: number[] = []
  const flipping = start(2, 10, { progress: (_, events) => void (behind.at(-1) !== events && behind.push(events)) })
  for (let offset = 1; offset <= 10; offset += 1) {
    await clock.pass(50_000)
    expect((await control.serving(ledger.name)).generation).toBe(1)
    await stores[1].commit([], { partition: 0, from: offset - 1, offset })
  }
  await clock.pass(1_000)
  expect(await flipping).toEqual({ before: 1, isUnfollowed: false, waitingAsks: 0 })
  expect(behind).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
})

test('a flip that waits for the serving generation names that generation', async () => {
  const { clock, stores, start } = await opened()
  await stores[1].setCheckpoint(10)
  const flipping = expect(start(2, 10, { foldVersion: 7 })).rejects.toMatchObject({
    code: 'generation-behind',
    message: expect.stringContaining('Generation 1 of'),
  })
  await clock.pass(61_000)
  await flipping
})

test('if no processor follows the serving generation any more, the next one sends from its checkpoints', async () => {
  const { control, followed, stores, start } = await opened()
  followed.delete('ledger.g1')
  await stores[0].setCheckpoint(4)
  await stores[1].setCheckpoint(10)
  await start(2, 10)
  expect((await control.serving(ledger.name)).from).toEqual(new Map([[0, 4]]))
})

test('a flip to a generation that parks further keys fails unless that is accepted', async () => {
  const { control, stores, flipTo } = await opened()
  await park(stores[0], 'a', 7)
  await park(stores[0], 'b', 3)
  await park(stores[1], 'a', 7)
  await park(stores[1], 'b', 5)
  await park(stores[1], 'c', 8)
  await park(stores[1], 'd', 2)
  await park(stores[0], 'd', 4)
  await expect(flipTo(2, 10)).rejects.toMatchObject({
    code: 'flip-would-park',
    message: expect.stringMatching(/parks 2 keys .*accounts:c at 0:8 .*accounts:d at 0:2 /),
  })
  expect((await control.serving(ledger.name)).generation).toBe(1)
  await flipTo(2, 10, true)
  expect((await control.serving(ledger.name)).generation).toBe(2)
})
