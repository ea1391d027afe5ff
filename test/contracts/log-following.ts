import { expect, test } from 'vitest'
import type { Log, LogRecord } from '../../processors/engine/ports/log.ts'
import { Fault, isFault } from '../../schemas/fault.ts'
import { listener, text } from './listener.ts'
import { numbered, record, type LogSubject } from './log-records.ts'

const MAX_BATCH_BYTES = 4 << 20

/** The rules of the log port for one subscriber. */
export function followRules(subject: LogSubject): void {
  deliveryRules(subject)
  troubleRules(subject)
  stopRules(subject)
}

function deliveryRules({ fresh, setup }: LogSubject): void {
  test('a subscriber gets existing and new records, in order per partition and without a gap', async () => {
    const log = await fresh()
    const keys = Array.from({ length: 12 }, (_, index) => `key-${index}`)
    await log.append(keys.flatMap((key) => numbered(key, 5, `${key}/`)))
    const subscriber = listener()
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await subscriber.saw(60)
    await log.append(keys.map((key) => record(key, `${key}/5`)))
    await subscriber.saw(72)
    await subscription.stop()
    for (const key of keys) {
      const own = subscriber.seen.filter((one) => one.key === key).map(text)
      expect(own).toEqual(Array.from({ length: 6 }, (_, index) => `${key}/${index}`))
    }
    expect(gaps(subscriber.seen)).toEqual([])
    expect(subscriber.overlap()).toBe(1)
    expect(subscriber.failures).toEqual([])
  })

  test('the subscriber decides where to begin, independent of earlier reads of the group', async () => {
    const log = await fresh()
    await log.append(numbered('k', 10))
    const partition = log.partitionOf('k')
    const first = listener()
    const before = await log.subscribe(`${log.topic}.g`, first)
    await first.saw(10)
    await before.stop()
    const back = listener({ start: (watermarks) => (watermarks.partition === partition ? 3 : watermarks.low) })
    const subscription = await log.subscribe(`${log.topic}.g`, back)
    await back.saw(7)
    await subscription.stop()
    expect(back.texts()).toEqual(['3', '4', '5', '6', '7', '8', '9'])
    const end = listener({ start: (watermarks) => watermarks.high })
    const following = await log.subscribe(`${log.topic}.g`, end)
    await expect.poll(() => end.owned.size, { timeout: 25_000 }).toBe((await log.identity()).partitions)
    await log.append([record('k', 'new')])
    await end.saw(1)
    await following.stop()
    expect(end.texts()).toEqual(['new'])
  })

  test('assigned receives the watermarks of the partition', async () => {
    const log = await fresh()
    await log.append(numbered('k', 4))
    const subscriber = listener()
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await subscriber.saw(4)
    await subscription.stop()
    expect(subscriber.starts).toContainEqual({ partition: log.partitionOf('k'), low: 0, high: 4 })
  })

  test('a start before the first retained record is refused and reported; a log without retention can be read from 0', async () => {
    const { trim } = setup()
    const log = await fresh()
    await log.append(numbered('k', 10))
    await trim?.(log.topic, log.partitionOf('k'), 4)
    if (!trim) return begunAtZero(log)
    const subscriber = listener({ start: () => 0 })
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await expect
      .poll(() => subscriber.failures.some((error) => isFault(error, 'log-trimmed')), { timeout: 25_000 })
      .toBe(true)
    await subscription.stop()
    expect(subscriber.seen).toEqual([])
  })

  test('a start after the end is refused and reported', async () => {
    const log = await fresh()
    await log.append(numbered('k', 3))
    const subscriber = listener({ start: (watermarks) => watermarks.high + 5 })
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await expect
      .poll(() => subscriber.failures.some((error) => isFault(error, 'log-truncated')), { timeout: 25_000 })
      .toBe(true)
    await subscription.stop()
    expect(subscriber.seen).toEqual([])
  })
}

function troubleRules({ fresh }: LogSubject): void {
  test('a batch that throws is delivered again, completely and in order', async () => {
    const log = await fresh()
    await log.append(numbered('k', 10))
    const attempts: string[][] = []
    const subscriber = listener({
      during: (records) => {
        attempts.push(records.map(text))
        if (attempts.length <= 2) throw new Error('not now')
      },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await subscriber.saw(10)
    await subscription.stop()
    expect(subscriber.texts()).toEqual(Array.from({ length: 10 }, (_, index) => `${index}`))
    expect(attempts[1]?.[0]).toBe('0')
    expect(attempts[2]?.[0]).toBe('0')
    expect(subscriber.failures.length).toBeGreaterThanOrEqual(2)
  })

  test('after a batch that throws checkpoint-moved, the partition is assigned again and begins at the returned offset', async () => {
    const log = await fresh()
    await log.append(numbered('k', 10))
    const partition = log.partitionOf('k')
    let [assignments, moved] = [0, false]
    const subscriber = listener({
      start: (watermarks) => (watermarks.partition === partition && assignments++ > 0 ? 3 : watermarks.low),
      during: () => {
        if (moved || assignments === 0) return
        moved = true
        throw new Fault('checkpoint-moved', 'The table was replaced.')
      },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await subscriber.saw(7)
    await subscription.stop()
    expect(subscriber.texts()).toEqual(['3', '4', '5', '6', '7', '8', '9'])
    expect(subscriber.failures).toMatchObject([{ code: 'checkpoint-moved' }])
  })

  test('an error of assigned is reported, and the assignment is tried again', async () => {
    const log = await fresh()
    await log.append(numbered('k', 3))
    let refusals = 0
    const subscriber = listener({
      start: (watermarks) => {
        if (watermarks.partition !== log.partitionOf('k') || refusals++ > 0) return watermarks.low
        throw new Error('the store is away')
      },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await subscriber.saw(3)
    await subscription.stop()
    expect(subscriber.texts()).toEqual(['0', '1', '2'])
    expect(subscriber.failures.map(String).join()).toContain('the store is away')
  })

  test('a slow subscriber gets one bounded batch at a time', async () => {
    const log = await fresh()
    const big = 'x'.repeat(64 << 10)
    for (let chunk = 0; chunk < 8; chunk++) await log.append(numbered('k', 20, big))
    let calls = 0
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const sizes: number[] = []
    const subscriber = listener({
      during: async (records) => {
        calls++
        sizes.push(records.reduce((sum, { value }) => sum + value.length, 0))
        if (calls === 1) await gate
      },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await expect.poll(() => calls, { timeout: 25_000 }).toBe(1)
    await log.append(numbered('k', 1))
    expect(calls).toBe(1)
    release()
    await subscriber.saw(161)
    await subscription.stop()
    expect(subscriber.overlap()).toBe(1)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_BATCH_BYTES)
    expect(gaps(subscriber.seen)).toEqual([])
  })
}

function stopRules({ fresh }: LogSubject): void {
  test('stop waits for the running batch, and concurrent calls share one promise', async () => {
    const log = await fresh()
    await log.append(numbered('k', 5))
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const entered: number[] = []
    const subscriber = listener({
      during: async (records) => {
        entered.push(records.length)
        await gate
      },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await expect.poll(() => entered.length, { timeout: 25_000 }).toBe(1)
    let stopped = false
    const first = subscription.stop()
    const second = subscription.stop()
    expect(second).toBe(first)
    void first.then(() => {
      stopped = true
    })
    await log.watermarks()
    expect(stopped).toBe(false)
    expect(subscriber.seen).toEqual([])
    release()
    await first
    expect(subscriber.seen).toHaveLength(entered[0] ?? -1)
    expect(subscriber.owned.size).toBe(0)
    await log.append(numbered('k', 5))
    expect(entered).toHaveLength(1)
  })
}

/** Returns one line per record whose offset is not the next offset of its partition. Each partition must begin at offset 0. */
function gaps(records: readonly LogRecord[]): string[] {
  const next = new Map<number, number>()
  return records.flatMap(({ partition, offset }) => {
    const expected = next.get(partition) ?? 0
    next.set(partition, offset + 1)
    return offset === expected ? [] : [`${partition}: ${offset} instead of ${expected}`]
  })
}

const begunAtZero = async (log: Log): Promise<void> => {
  const subscriber = listener({ start: () => 0 })
  const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
  await subscriber.saw(10)
  await subscription.stop()
}
