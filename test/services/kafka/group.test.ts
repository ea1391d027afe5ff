import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kafkaLogs } from '../../../processors/adapters/kafka/logs.ts'
import type { Assignment, Log } from '../../../processors/engine/ports/log.ts'
import { listener } from '../../contracts/listener.ts'
import { numbered, record } from '../../contracts/log-records.ts'
import { describeWith } from '../available.ts'
import { kafkaAvailable, sharedKafka } from '../kafka.ts'
import { committedOffsets } from './offsets.ts'
import type { Logs } from '../../../processors/engine/ports/log-admin.ts'

describeWith('membership of a Kafka group', kafkaAvailable(), () => {
  let logs: Logs
  beforeAll(async () => {
    const { brokers } = await sharedKafka()
    logs = kafkaLogs({
      brokers,
      partitions: 2,
      timing: { session: 6_000, heartbeat: 500, rebalance: 2_000, check: 500 },
    })
  })
  afterAll(async () => {
    await logs?.close()
  })
  const committed = async ({ topic }: Log, group = `${topic}.g`) =>
    committedOffsets((await sharedKafka()).brokers, group, topic)

  test('a group commits its offsets for tools that read its lag, and removing the group removes them', async () => {
    const log = await logs.open(`offsets-${randomUUID()}`)
    const partition = log.partitionOf('k')
    await log.append(numbered('k', 6))
    const subscriber = listener()
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await subscriber.saw(6)
    await expect.poll(async () => (await committed(log)).get(partition), { timeout: 25_000 }).toBe(6)
    await subscription.stop()
    await log.removeGroup(`${log.topic}.g`)
    expect(await committed(log)).toEqual(new Map())
  })

  test('a member whose batch outlasts the rebalance loses its lease, commits nothing and gets no more records; the other member gets them', async () => {
    const log = await logs.open(`revoked-${randomUUID()}`)
    const group = `${log.topic}.g`
    const partition = log.partitionOf('k')
    await log.append(numbered('k', 3))
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    let firstLease: Assignment | undefined
    const zombie = listener({
      during: async (_, lease) => {
        if (firstLease) return
        firstLease = lease
        await gate
      },
    })
    const first = await log.subscribe(group, zombie)
    await expect.poll(() => firstLease?.isCurrent(), { timeout: 25_000 }).toBe(true)

    const heir = listener()
    const second = await log.subscribe(group, heir)
    await heir.saw(3)
    await expect.poll(() => firstLease?.isCurrent(), { timeout: 25_000 }).toBe(false)
    expect(zombie.owned.has(partition)).toBe(false)
    await log.append(numbered('k', 4, 'later '))
    await heir.saw(7)
    await expect.poll(async () => (await committed(log, group)).get(partition), { timeout: 25_000 }).toBe(7)
    expect(zombie.seen).toEqual([])

    const startsBefore = zombie.starts.length
    release()
    await expect.poll(() => zombie.starts.length, { timeout: 25_000 }).toBeGreaterThan(startsBefore)
    expect((await committed(log, group)).get(partition)).toBe(7)
    expect(zombie.overlap()).toBe(1)
    await Promise.all([first.stop(), second.stop()])
    expect((await committed(log, group)).get(partition)).toBe(7)
  })

  test('closing the logs stops their subscriptions', async () => {
    const { brokers } = await sharedKafka()
    const closing = kafkaLogs({ brokers })
    const log = await closing.open(`closing-${randomUUID()}`)
    await log.append([record('k', 'seen')])
    const subscriber = listener()
    await log.subscribe(`${log.topic}.g`, subscriber)
    await subscriber.saw(1)
    await closing.close()
    expect(subscriber.owned.size).toBe(0)
    const again = await logs.open(log.topic, await log.identity().catch(() => undefined))
    expect((await committed(again)).get(again.partitionOf('k'))).toBe(1)
  })

  test('a batch that takes longer than the session keeps its lease by heartbeats', async () => {
    const log = await logs.open(`long-${randomUUID()}`)
    await log.append([record('k', 'slow')])
    const began = Date.now()
    let hasLease = false
    const subscriber = listener({
      during: async (_, lease) => {
        await expect.poll(() => Date.now() - began, { timeout: 15_000 }).toBeGreaterThan(7_500)
        hasLease = lease.isCurrent()
      },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await subscriber.saw(1)
    await subscription.stop()
    expect(hasLease).toBe(true)
    expect(subscriber.starts.filter(({ partition }) => partition === log.partitionOf('k'))).toHaveLength(1)
    expect((await committed(log)).get(log.partitionOf('k'))).toBe(1)
  })

  test('after a process was stopped for longer than its session, its lease ends before any answer arrives', async () => {
    const log = await logs.open(`still-${randomUUID()}`)
    const partition = log.partitionOf('k')
    await log.append([record('k', 'once')])
    const answers: boolean[] = []
    const subscriber = listener({
      during: (_, lease) => {
        if (answers.length === 0) blockThread(6_500)
        answers.push(lease.isCurrent())
      },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await expect.poll(async () => (await committed(log)).get(partition), { timeout: 25_000 }).toBe(1)
    await subscription.stop()
    expect(answers[0]).toBe(false)
    expect(answers.at(-1)).toBe(true)
    expect(subscriber.texts()).toEqual(answers.map(() => 'once'))
  })
})

/** Blocks this thread, like a stopped process: no timer runs and no answer is read. */
function blockThread(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
