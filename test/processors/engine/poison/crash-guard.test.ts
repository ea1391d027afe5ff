import { describe, expect, test } from 'vitest'
import { createCrashGuard } from '../../../../processors/engine/poison/crash-guard.ts'
import type { LogRecord } from '../../../../processors/engine/ports/log.ts'
import { createVerdicts, withVerdicts } from '../../../../processors/engine/poison/verdicts.ts'
import { parkedInPartition, type StoredParked } from '../../../../processors/engine/poison/parked-entry.ts'
import { requestRetry } from '../../../../processors/engine/poison/discard.ts'
import { startProcessor } from '../../../../processors/engine/run/processor.ts'
import { createDeliveryAttempts } from '../../../../processors/engine/poison/delivery-attempts.ts'
import { eventOf, jsonCodec, ledger, paid } from '../ledger.ts'
import { memoryLog } from '../memory-log.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'
import { virtualClock } from '../virtual-clock.ts'

const recordOf = (offset: number): LogRecord => ({
  partition: 0,
  offset,
  key: `k${offset}`,
  value: new Uint8Array(),
  timestamp: 0,
})
const recordsOf = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => recordOf(from + index))
const lease = { partition: 0, isCurrent: () => true }

/**
 * Simulates processes that fold one log, one after the other, and crash at the events for which `crashesAt` returns true. A simulated crash is a
 * promise that never settles, and a clock that stops.
 */
const lives = (crashesAt: (offset: number) => boolean, end = 8) => {
  const control = memoryStore()
  const killers: number[] = []
  const batches: (readonly number[])[] = []
  let checkpoint = 0
  let life = 0
  const live = async (batch = end): Promise<'lived' | 'died'> => {
    const clock = virtualClock()
    const attempts = createDeliveryAttempts(control, { domain: 'ledger', generation: 1, processName: `life ${++life}` })
    const guard = createCrashGuard({
      attempts,
      clock,
      partition: 0,
      failed: () => undefined,
      recordCrashing: async ({ offset }) => void killers.push(offset),
    })
    let isDead = false
    const process = async (records: readonly LogRecord[]) => {
      batches.push(records.map(({ offset }) => offset))
      for (const { offset, crashes } of records) {
        if (crashes === true || !crashesAt(offset)) continue
        isDead = true
        await new Promise(() => undefined)
      }
      checkpoint = (records.at(-1)?.offset ?? 0) + 1
    }
    const run = async () => {
      while (checkpoint < end)
        await guard.fold(recordsOf(checkpoint, Math.min(end, checkpoint + batch)), lease, process)
      return 'lived' as const
    }
    let outcome: 'lived' | 'died' = 'died'
    void run().then((how) => (outcome = how))
    // Advances the clock by 30 s in steps, because the guard waits 30 s before it counts other processes as crashed.
    for (let waited = 0; waited < 4 && !isDead; waited += 1) await clock.pass(waited === 0 ? 0 : 10_000)
    return outcome
  }
  const count = async (most = 20): Promise<number> => {
    for (let deaths = 0; deaths < most; deaths += 1) if ((await live()) === 'lived') return deaths
    return most
  }
  return { live, count, killers, batches, control, at: () => checkpoint }
}

describe('an event that crashes every process that folds it', () => {
  test('is found after a few crashes and skipped, and all others are folded', async () => {
    const world = lives((offset) => offset === 5)
    expect(await world.count()).toBe(5)
    expect(world.killers).toEqual([5])
    expect(world.at()).toBe(8)
  })

  test('is found if there are two such events', async () => {
    const world = lives((offset) => offset === 2 || offset === 6)
    expect(await world.count()).toBeLessThanOrEqual(8)
    expect(world.killers).toEqual([2, 6])
    expect(world.at()).toBe(8)
  })

  test('costs one stored attempt in a process without crashes', async () => {
    const world = lives(() => false)
    await world.live(2)
    expect(world.control.commits).toHaveLength(1)
    expect(world.batches).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
      [6, 7],
    ])
  })
})

describe('a healthy event is not taken for a crashing one', () => {
  test('after crashes of another cause: an unfinished batch is folded event by event, each makes progress, and the attempt is removed', async () => {
    let deaths = 0
    const world = lives((offset) => offset === 5 && deaths++ < 3)
    expect(await world.count()).toBe(3)
    expect(world.killers).toEqual([])
    expect(world.at()).toBe(8)
    expect([...world.control.items.keys()]).toEqual([])
  })

  test('after members of the group that were only slow: they remove their names', async () => {
    const [control, clock] = [memoryStore(), virtualClock()]
    const killers: number[] = []
    const member = (processName: string) =>
      createCrashGuard({
        attempts: createDeliveryAttempts(control, { domain: 'ledger', generation: 1, processName }),
        clock,
        partition: 0,
        failed: () => undefined,
        recordCrashing: async ({ offset }) => void killers.push(offset),
      })
    const waiting: (() => void)[] = []
    const slow = () => new Promise<void>((resolve) => waiting.push(resolve))
    const begun: Promise<void>[] = []
    for (let index = 0; index < 12; index += 1) {
      begun.push(member(`member ${index}`).fold(recordsOf(0, 3), lease, slow))
      await clock.pass(index % 4 === 3 ? 20_000 : 100)
    }
    await clock.pass(60_000)
    let folded = 0
    const last = member('last').fold(recordsOf(0, 3), lease, async (records) => void (folded += records.length))
    await clock.pass(60_000)
    await last
    expect(killers).toEqual([])
    expect(folded).toBe(3)
    for (const resolve of waiting) resolve()
  })

  test('after a store that did not answer: a fault removes the name of the process', async () => {
    const [control, clock] = [memoryStore(), virtualClock()]
    const killers: number[] = []
    for (let index = 0; index < 10; index += 1) {
      const attempts = createDeliveryAttempts(control, {
        domain: 'ledger',
        generation: 1,
        processName: `life ${index}`,
      })
      const guard = createCrashGuard({
        attempts,
        clock,
        partition: 0,
        failed: () => undefined,
        recordCrashing: async ({ offset }) => void killers.push(offset),
      })
      await expect(guard.fold(recordsOf(0, 3), lease, () => Promise.reject(new Error('no store')))).rejects.toThrow(
        'no store',
      )
    }
    expect(killers).toEqual([])
  })
})

test('a crashing event parks its key for every projection, and a retry that crashes again leaves it parked', async () => {
  const [control, store, clock] = [memoryStore(), memoryStore(), virtualClock()]
  const verdicts = createVerdicts(control)
  const attemptsOf = (processName: string) =>
    createDeliveryAttempts(control, { domain: 'ledger', generation: 1, processName })
  const log = memoryLog([paid(5, 'p'), eventOf('Spread', { count: 1 }, { id: 'crashing' }), paid(1, 'q')])
  const marked = withVerdicts(log, () => verdicts.list('ledger'))
  const kill = (offset: number) =>
    verdicts.put('ledger', {
      what: 'killed',
      partition: 0,
      offset,
      key: 'a',
      projection: '*',
      reason: 'died',
      by: 'me',
      at: 0,
    })
  const start = (processName: string) =>
    startProcessor({
      domain: ledger,
      generation: 1,
      log: marked,
      store,
      codec: jsonCodec,
      clock,
      attempts: attemptsOf(processName),
      recordCrashing: ({ offset }) => kill(offset),
    })
  await kill(1)
  const running = await start('first')
  await log.deliver()
  const parked = async () =>
    (await parkedInPartition(
      store.reader(() => 0),
      0,
    )) as readonly StoredParked[]
  const [entry] = await parked()
  expect(entry).toMatchObject({ projection: '*', key: 'a', offset: 1, code: 'killed-the-process', waiting: 1 })
  // Stores that three processes began the retry and did not end it, as if each of them crashed.
  await verdicts.clear('ledger', { partition: 0, offset: 1 })
  expect(await verdicts.list('ledger')).toEqual([])
  await requestRetry(store, entry as StoredParked)
  await attemptsOf('dead').change('0#heal', () => ({
    at: 1,
    through: 2,
    alone: true,
    by: ['dead', 'dead too', 'and dead'],
  }))
  const healing = running.heal()
  await clock.pass(20_000)
  expect(await healing).toBe(0)
  expect(await parked()).toMatchObject([{ offset: 1, code: 'killed-the-process', waiting: 1 }])
  expect((await parked())[0]).not.toHaveProperty('retry', true)
  expect(await verdicts.list('ledger')).toMatchObject([{ what: 'killed', offset: 1 }])
  // With corrected folds, another retry heals the key.
  await verdicts.clear('ledger', { partition: 0, offset: 1 })
  await requestRetry(store, (await parked())[0] as StoredParked)
  expect(await running.heal()).toBe(1)
  expect(await parked()).toEqual([])
})
