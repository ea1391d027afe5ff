import { expect, test } from 'vitest'
import { keyOf } from '../../../../projections/item.ts'
import type { LogRecord, Log, Subscriber } from '../../../../processors/engine/ports/log.ts'
import { startProcessor } from '../../../../processors/engine/run/processor.ts'
import type { Store } from '../../../../processors/engine/ports/store.ts'
import type { BatchResult } from '../../../../processors/engine/run/tally.ts'
import type { Event } from '../../../../schemas/event.ts'
import { eventOf, jsonCodec, ledger, paid } from '../ledger.ts'
import { memoryStore, type MemoryStore } from '../../../../testing/memory-store.ts'
import { virtualClock } from '../virtual-clock.ts'

const recordOf = (key: string | null, offset: number, value: Uint8Array = new Uint8Array()): LogRecord => ({
  partition: 0,
  offset,
  key,
  value,
  timestamp: 0,
})

/** A thousand payments to forty accounts. Event 207 is not a payment: its fold throws, so the key of this account is parked. */
const events: readonly Event[] = Array.from({ length: 1_000 }, (_, index) => {
  const key = `k${index % 40}`
  return index === 207 ? eventOf('Broke', {}, { id: 'broken', key }) : paid(1 + (index % 7), `p${index}`, { key })
})
const records = events.map((event, offset) => recordOf(event.meta.key, offset, jsonCodec.encode(event)))

/** Delivers the records as one batch to a processor. Returns the results that the processor reports, one per part of the batch. */
const feed = async (store: Store, yieldToOthers = async () => {}): Promise<readonly BatchResult[]> => {
  const passed: BatchResult[] = []
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
    partitionOf: () => 0,
  }
  await startProcessor({
    domain: ledger,
    generation: 1,
    log,
    store,
    codec: jsonCodec,
    clock: { ...virtualClock(), yield: yieldToOthers },
    batchFolded: (one) => passed.push(one),
  })
  const from = (await subscriber?.assigned({ partition: 0, low: 0, high: records.length })) ?? 0
  await subscriber?.batch(records.slice(from), { partition: 0, isCurrent: () => true })
  return passed
}

/** Returns the items without the row of the parked key, because the content of this row depends on the parts. */
const dumpOf = (store: MemoryStore) => store.dump().filter((item) => !item.includes('PARKED#'))

const reading = (store: MemoryStore): Store => ({ ...store, peek: (key) => store.items.get(keyOf(key)) })

/** Returns the kinds of the outcomes. Their reasons can differ: an event after the poison event is in the same part or in a later part. */
const kindsOf = ({ exceptions }: BatchResult) =>
  [...exceptions].map(([offset, outcome]) => `${offset} ${outcome?.kind}`)

test('a batch folded in parts gives the same items, outcomes and checkpoint as a batch folded at once', async () => {
  const [whole, cut] = [memoryStore(), memoryStore()]
  const [once] = await feed(whole)
  const parts = await feed(reading(cut))
  expect(dumpOf(cut)).toEqual(dumpOf(whole))
  expect(parts.flatMap(kindsOf)).toEqual(once === undefined ? [] : kindsOf(once))
  expect(once).toMatchObject({ next: 1_000, events: 1_000, parked: 20 })
  expect(parts.reduce((sum, { parked }) => sum + parked, 0)).toBe(20)
  expect(parts.at(-1)).toMatchObject({ next: 1_000 })
  expect(await cut.checkpoints()).toEqual(new Map([[0, 1_000]]))
})

test('other work runs after every 16 records, and the folded events are reported before it', async () => {
  const store = memoryStore()
  const checkpoints: number[] = []
  const passed = await feed(reading(store), async () => void checkpoints.push((await store.checkpoints()).get(0) ?? 0))
  expect(checkpoints).toEqual(Array.from({ length: 62 }, (_, nth) => 16 * (nth + 1)))
  expect(passed.map(({ next }) => next)).toEqual([...checkpoints, 1_000])
})

test('a store outside the process gets the whole batch at once', async () => {
  expect(await feed(memoryStore())).toHaveLength(1)
})

test('after a crash between two parts the checkpoint is that of the first, and the redelivered rest has the usual result', async () => {
  const [whole, crashed] = [memoryStore(), memoryStore()]
  await feed(reading(whole))
  let commits = 0
  const dying: Store = {
    ...reading(crashed),
    commit: async (spans, checkpoint) => {
      commits += 1
      if (commits === 3) throw new Error('the process died')
      return crashed.commit(spans, checkpoint)
    },
  }
  await expect(feed(dying)).rejects.toThrow('the process died')
  expect(await crashed.checkpoints()).toEqual(new Map([[0, 32]]))
  await feed(reading(crashed))
  expect(dumpOf(crashed)).toEqual(dumpOf(whole))
})
