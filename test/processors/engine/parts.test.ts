import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keyOf } from '../../../projections/item.ts'
import type { LogRecord, Log, Subscriber } from '../../../processors/engine/log.ts'
import { startProcessor } from '../../../processors/engine/processor.ts'
import { slicesOf } from '../../../processors/engine/slices.ts'
import type { Store } from '../../../processors/engine/store.ts'
import type { Passed } from '../../../processors/engine/tally.ts'
import type { Event } from '../../../schemas/event.ts'
import { eventOf, jsonCodec, ledger, paid } from './ledger.ts'
import { memoryStore, type MemoryStore } from './memory-store.ts'
import { virtualClock } from './virtual-clock.ts'

const recordOf = (key: string | null, offset: number, value: Uint8Array = new Uint8Array()): LogRecord => ({ partition: 0, offset, key, value, timestamp: 0 })

test('slices hold every record once, a key whole in one of them and in order', () => {
  const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'd', null), { maxLength: 60 })
  fc.assert(fc.property(keys, fc.integer({ min: 1, max: 20 }), (all, size) => {
    const records = all.map((key, offset) => recordOf(key, offset))
    const slices = slicesOf(records, size)
    expect(slices.flat().sort((one, other) => one.offset - other.offset)).toEqual(records)
    for (const key of new Set(all)) {
      const within = slices.map((slice) => slice.filter((record) => record.key === key)).filter(({ length }) => length > 0)
      expect(within.length).toBe(1)
      expect(within.flat()).toEqual(records.filter((record) => record.key === key))
    }
  }))
})

/** A thousand payments to forty accounts, one of which breaks on the way. */
const events: readonly Event[] = Array.from({ length: 1_000 }, (_, index) => {
  const key = `k${index % 40}`
  return index === 207 ? eventOf('Broke', {}, { id: 'broken', key }) : paid(1 + (index % 7), `p${index}`, { key })
})
const records = events.map((event, offset) => recordOf(event.meta.key, offset, jsonCodec.encode(event)))

/** Feeds the records as one batch to a processor over the store. */
const feed = async (store: Store): Promise<readonly Passed[]> => {
  const passed: Passed[] = []
  let subscriber: Subscriber | undefined
  const log: Log = {
    topic: ledger.topic,
    append: async () => [],
    subscribe: async (_, mine) => {
      subscriber = mine
      return { stop: async () => undefined }
    },
    read: async function* () {},
    readKey: async function* () {},
    watermarks: async () => [],
    identity: async () => ({ cluster: 'c', topic: 't', partitions: 1 }),
    partitionOf: () => 0,
    committed: async () => new Map(),
    followed: async () => true,
    setCommitted: async () => undefined,
    removeGroup: async () => undefined,
  }
  await startProcessor({ domain: ledger, generation: 1, log, store, codec: jsonCodec, clock: virtualClock(), heard: (one) => passed.push(one) })
  await subscriber?.assigned({ partition: 0, low: 0, high: records.length })
  await subscriber?.batch(records, { partition: 0, held: () => true })
  return passed
}

/** What the parked key's own row says depends on who wrote it when. */
const dumpOf = (store: MemoryStore) => store.dump().filter((item) => !item.includes('PARKED#'))

const reading = (store: MemoryStore): Store => ({ ...store, peek: (key) => store.items.get(keyOf(key)) })

test('a batch in slices comes to the same items, outcomes and checkpoint as a batch in one', async () => {
  const [whole, sliced] = [memoryStore(), memoryStore()]
  const [one] = await feed(whole)
  const [other] = await feed(reading(sliced))
  expect(dumpOf(sliced)).toEqual(dumpOf(whole))
  expect(other).toEqual(one)
  expect(one).toMatchObject({ next: 1_000, events: 1_000, parked: 20 })
  expect(await sliced.checkpoints()).toEqual(new Map([[0, 1_000]]))
})

test('a crash between two slices leaves no checkpoint, and the batch delivered again ends as if nothing had happened', async () => {
  const [whole, crashed] = [memoryStore(), memoryStore()]
  await feed(reading(whole))
  let commits = 0
  const dying: Store = { ...reading(crashed), commit: async (spans, checkpoint) => {
    commits += 1
    if (commits === 3) throw new Error('the process died')
    return crashed.commit(spans, checkpoint)
  } }
  await expect(feed(dying)).rejects.toThrow('the process died')
  expect(await crashed.checkpoints()).toEqual(new Map())
  expect(crashed.items.size).toBeGreaterThan(0)
  await feed(reading(crashed))
  expect(dumpOf(crashed)).toEqual(dumpOf(whole))
})
