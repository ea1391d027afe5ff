import { describe, expect, test } from 'vitest'
import type { Clock } from '../../../../processors/engine/ports/clock.ts'
import { parkedIn } from '../../../../processors/engine/poison/parked-entry.ts'
import { startProcessor } from '../../../../processors/engine/run/processor.ts'
import type { Store } from '../../../../processors/engine/ports/store.ts'
import { Fault } from '../../../../schemas/fault.ts'
import { eventOf, jsonCodec, ledger, paid } from '../ledger.ts'
import { memoryLog } from '../memory-log.ts'
import { memoryStore, type MemoryStore } from '../../../../testing/memory-store.ts'

const clock: Clock = { now: () => 1_000, sleep: async () => {} }
const events = [paid(5, 'p'), paid(1, 'q', { key: 'b' }), paid(2, 'r')]
const later = [paid(3, 's'), eventOf('Broke', {}, { id: 'broke', key: 'c' }), paid(4, 't', { key: 'b' })]

const start = async (store: Store, log = memoryLog(events)) => {
  const running = await startProcessor({ domain: ledger, generation: 1, log, store, codec: jsonCodec, clock })
  return { running, log }
}

const folded = async (...all: Parameters<typeof memoryLog>) => {
  const store = memoryStore()
  const { log } = await start(store, memoryLog(...all))
  await log.deliver()
  return store.dump()
}

/** Replaces the items and the checkpoint of the table, like a restore from a backup. An empty `backup` is like a table that was created again. */
const replace = async (store: MemoryStore, backup: MemoryStore, offset: number) => {
  store.items.clear()
  for (const [id, item] of backup.items) store.items.set(id, item)
  await store.setCheckpoint(offset)
}

describe('a table that is replaced under a running processor', () => {
  test.each([
    ['by an empty one', 0],
    ['by an older backup', 2],
  ])(
    '%s: nothing is written past the missing events, nothing is parked, and the events are folded again',
    async (_, expected) => {
      const [store, backup] = [memoryStore(), memoryStore()]
      const { log } = await start(store)
      await log.deliver()
      const { log: older } = await start(backup, memoryLog(events.slice(0, expected)))
      await older.deliver()
      const batchFrom = log.deliverFrom()
      await replace(store, backup, expected)
      const before = store.dump()
      log.add(...later)
      // The next batch is delivered without a new assignment, so the processor has not read the new checkpoint.
      await expect(batchFrom(3)).rejects.toMatchObject({ code: 'checkpoint-moved' })
      expect(store.dump()).toEqual(before)
      expect(await parkedIn(store, [0])).toEqual([])
      expect((await store.checkpoints()).get(0) ?? 0).toBe(expected)
      await log.deliver()
      expect(store.dump()).toEqual(await folded([...events, ...later]))
      expect(await store.checkpoints()).toEqual(new Map([[0, 6]]))
    },
  )

  test('is noticed without an event', async () => {
    const store = memoryStore()
    const { running, log } = await start(store)
    await log.deliver()
    expect(await running.rewound()).toBeUndefined()
    await replace(store, memoryStore(), 0)
    expect(await running.rewound()).toMatchObject({ code: 'checkpoint-moved' })
  })
})

test('a processor is stalled from a failure until the next success', async () => {
  const store = memoryStore()
  let down = true
  const stalled: unknown[] = []
  const failing: Store = {
    ...store,
    commit: (...args) =>
      down
        ? Promise.reject(new Fault('store-unavailable', 'The disk is full.', { retriable: true }))
        : store.commit(...args),
  }
  const log = memoryLog(events)
  const running = await startProcessor({
    domain: ledger,
    generation: 1,
    log,
    store: failing,
    codec: jsonCodec,
    clock,
    failed: () => {
      stalled.push(running.stalled())
      down = stalled.length < 3
    },
  })
  expect(running.stalled()).toBeUndefined()
  await log.deliver()
  expect(stalled).toMatchObject([
    { code: 'store-unavailable' },
    { code: 'store-unavailable' },
    { code: 'store-unavailable' },
  ])
  expect(running.stalled()).toBeUndefined()
})
