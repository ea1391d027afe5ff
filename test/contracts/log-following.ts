import { expect, test } from 'vitest'
import type { Log, LogRecord } from '../../processors/engine/ports/log.ts'
import { Fault, isFault } from '../../schemas/fault.ts'
import { listener, text } from './listener.ts'
import { numbered, record, type LogSubject } from './log-records.ts'

const MAX_BATCH_BYTES = 4 << 20

/** What one subscriber may rely on. */
export function followRules(subject: LogSubject): void {
  deliveryRules(subject)
  troubleRules(subject)
  stopRules(subject)
}

function deliveryRules({ fresh, setup }: LogSubject): void {
  test('a subscriber gets what was there and what comes, in order per partition and without a gap', async () => {
    const log = await fresh()
    const keys = Array.from({ length: 12 }, (_, index) => `key-${index}`)
    await log.append(keys.flatMap((key) => numbered(key, 5, `${key}/`)))
    const heard = listener()
    const subscription = await log.subscribe(`${log.topic}.g`, heard)
    await heard.saw(60)
    await log.append(keys.map((key) => record(key, `${key}/5`)))
    await heard.saw(72)
    await subscription.stop()
    for (const key of keys) {
      const own = heard.seen.filter((one) => one.key === key).map(text)
      expect(own).toEqual(Array.from({ length: 6 }, (_, index) => `${key}/${index}`))
    }
    expect(gaps(heard.seen)).toEqual([])
    expect(heard.overlap()).toBe(1)
    expect(heard.failures).toEqual([])
  })

  test('the subscriber decides where to begin, whatever the group has taken before', async () => {
    const log = await fresh()
    await log.append(numbered('k', 10))
    const partition = log.partitionOf('k')
    const first = listener()
    const before = await log.subscribe(`${log.topic}.g`, first)
    await first.saw(10)
    await before.stop()
    const back = listener({ start: (marks) => (marks.partition === partition ? 3 : marks.low) })
    const subscription = await log.subscribe(`${log.topic}.g`, back)
    await back.saw(7)
    await subscription.stop()
    expect(back.texts()).toEqual(['3', '4', '5', '6', '7', '8', '9'])
    const end = listener({ start: (marks) => marks.high })
    const following = await log.subscribe(`${log.topic}.g`, end)
    await expect.poll(() => end.owned.size, { timeout: 25_000 }).toBe((await log.identity()).partitions)
    await log.append([record('k', 'new')])
    await end.saw(1)
    await following.stop()
    expect(end.texts()).toEqual(['new'])
  })

  test('assigned is told the watermarks of the partition', async () => {
    const log = await fresh()
    await log.append(numbered('k', 4))
    const heard = listener()
    const subscription = await log.subscribe(`${log.topic}.g`, heard)
    await heard.saw(4)
    await subscription.stop()
    expect(heard.starts).toContainEqual({ partition: log.partitionOf('k'), low: 0, high: 4 })
  })

  test('a beginning that retention took away is refused and reported; a log that never trims can be begun at 0', async () => {
    const { trim } = setup()
    const log = await fresh()
    await log.append(numbered('k', 10))
    await trim?.(log.topic, log.partitionOf('k'), 4)
    if (!trim) return begunAtZero(log)
    const heard = listener({ start: () => 0 })
    const subscription = await log.subscribe(`${log.topic}.g`, heard)
    await expect
      .poll(() => heard.failures.some((error) => isFault(error, 'log-trimmed')), { timeout: 25_000 })
      .toBe(true)
    await subscription.stop()
    expect(heard.seen).toEqual([])
  })

  test('a beginning past the end is refused and reported', async () => {
    const log = await fresh()
    await log.append(numbered('k', 3))
    const heard = listener({ start: (marks) => marks.high + 5 })
    const subscription = await log.subscribe(`${log.topic}.g`, heard)
    await expect
      .poll(() => heard.failures.some((error) => isFault(error, 'log-truncated')), { timeout: 25_000 })
      .toBe(true)
    await subscription.stop()
    expect(heard.seen).toEqual([])
  })
}

function troubleRules({ fresh }: LogSubject): void {
  test('a batch that throws comes again, whole and in order', async () => {
    const log = await fresh()
    await log.append(numbered('k', 10))
    const tries: string[][] = []
    const heard = listener({
      during: (records) => {
        tries.push(records.map(text))
        if (tries.length <= 2) throw new Error('not now')
      },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, heard)
    await heard.saw(10)
    await subscription.stop()
    expect(heard.texts()).toEqual(Array.from({ length: 10 }, (_, index) => `${index}`))
    expect(tries[1]?.[0]).toBe('0')
    expect(tries[2]?.[0]).toBe('0')
    expect(heard.failures.length).toBeGreaterThanOrEqual(2)
  })

  test('after a batch that throws checkpoint-moved, the partition is assigned anew and begins where that says', async () => {
    const log = await fresh()
    await log.append(numbered('k', 10))
    const partition = log.partitionOf('k')
    let [assignments, moved] = [0, false]
    const heard = listener({
      start: (marks) => (marks.partition === partition && assignments++ > 0 ? 3 : marks.low),
      during: () => {
        if (moved || assignments === 0) return
        moved = true
        throw new Fault('checkpoint-moved', 'The table was replaced.')
      },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, heard)
    await heard.saw(7)
    await subscription.stop()
    expect(heard.texts()).toEqual(['3', '4', '5', '6', '7', '8', '9'])
    expect(heard.failures).toMatchObject([{ code: 'checkpoint-moved' }])
  })

  test('a partition that assigned refuses is reported and tried again', async () => {
    const log = await fresh()
    await log.append(numbered('k', 3))
    let refusals = 0
    const heard = listener({
      start: (marks) => {
        if (marks.partition !== log.partitionOf('k') || refusals++ > 0) return marks.low
        throw new Error('the store is away')
      },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, heard)
    await heard.saw(3)
    await subscription.stop()
    expect(heard.texts()).toEqual(['0', '1', '2'])
    expect(heard.failures.map(String).join()).toContain('the store is away')
  })

  test('a slow subscriber is handed one bounded batch at a time', async () => {
    const log = await fresh()
    const big = 'x'.repeat(64 << 10)
    for (let chunk = 0; chunk < 8; chunk++) await log.append(numbered('k', 20, big))
    let calls = 0
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const sizes: number[] = []
    const heard = listener({
      during: async (records) => {
        calls++
        sizes.push(records.reduce((sum, { value }) => sum + value.length, 0))
        if (calls === 1) await gate
      },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, heard)
    await expect.poll(() => calls, { timeout: 25_000 }).toBe(1)
    await log.append(numbered('k', 1))
    expect(calls).toBe(1)
    release()
    await heard.saw(161)
    await subscription.stop()
    expect(heard.overlap()).toBe(1)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_BATCH_BYTES)
    expect(gaps(heard.seen)).toEqual([])
  })
}

function stopRules({ fresh }: LogSubject): void {
  test('stop waits for the batch under way, and is shared by its callers', async () => {
    const log = await fresh()
    await log.append(numbered('k', 5))
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const entered: number[] = []
    const heard = listener({
      during: async (records) => {
        entered.push(records.length)
        await gate
      },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, heard)
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
    expect(heard.seen).toEqual([])
    release()
    await first
    expect(heard.seen).toHaveLength(entered[0] ?? -1)
    expect(heard.owned.size).toBe(0)
    await log.append(numbered('k', 5))
    expect(entered).toHaveLength(1)
  })
}

/** Where a partition's offsets do not follow each other. */
function gaps(records: readonly LogRecord[]): string[] {
  const next = new Map<number, number>()
  return records.flatMap(({ partition, offset }) => {
    const expected = next.get(partition) ?? 0
    next.set(partition, offset + 1)
    return offset === expected ? [] : [`${partition}: ${offset} came where ${expected} was due`]
  })
}

const begunAtZero = async (log: Log): Promise<void> => {
  const heard = listener({ start: () => 0 })
  const subscription = await log.subscribe(`${log.topic}.g`, heard)
  await heard.saw(10)
  await subscription.stop()
}
