import { randomUUID } from 'node:crypto'
import { Kafka, logLevel, type Admin } from 'kafkajs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kafkaLogs } from '../../../processors/adapters/kafka/logs.ts'
import { isFault } from '../../../schemas/fault.ts'
import { listener, type Listener } from '../../contracts/listener.ts'
import { all, numbered, record } from '../../contracts/log-records.ts'
import { describeWith } from '../available.ts'
import { kafkaAvailable, sharedKafka } from '../kafka.ts'
import { committedOffsets } from './offsets.ts'
import type { Logs } from '../../../processors/engine/ports/log-admin.ts'

describeWith('a Kafka topic that others change', kafkaAvailable(), () => {
  let brokers: string[]
  let kafka: Kafka
  let admin: Admin
  let logs: Logs
  beforeAll(async () => {
    brokers = (await sharedKafka()).brokers
    kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING })
    admin = kafka.admin()
    await admin.connect()
    logs = kafkaLogs({ brokers, timing: { check: 300, append: 3_000 } })
  })
  afterAll(async () => {
    await logs?.close()
    await admin?.disconnect()
  })

  const named = () => `changing-${randomUUID()}`
  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'no fault',
      (error: unknown) => (isFault(error) ? error.code : String(error)),
    )
  const awaitFailure = ({ failures }: Listener, code: string) =>
    expect.poll(() => failures.some((error) => isFault(error, code)), { timeout: 25_000 }).toBe(true)
  const exists = async (topic: string) => (await admin.listTopics()).includes(topic)

  /** Deletes the topic, and creates it again with the same name and number of partitions, and with this number of other records. */
  const recreate = async (topic: string, records: number): Promise<void> => {
    await admin.deleteTopics({ topics: [topic] })
    await expect.poll(() => exists(topic), { timeout: 25_000 }).toBe(false)
    await expect
      .poll(
        () => admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 6 }] }).catch(() => false),
        { timeout: 25_000 },
      )
      .toBe(true)
    const producer = kafka.producer()
    await producer.connect()
    const messages = Array.from({ length: records }, (_, index) => ({ key: 'k', value: `new ${index}` }))
    await expect
      .poll(
        () =>
          producer.send({ topic, messages }).then(
            () => true,
            () => false,
          ),
        { timeout: 25_000 },
      )
      .toBe(true)
    await producer.disconnect()
  }

  test('a live subscriber of a topic that was created again gets a fault and none of its records', async () => {
    const topic = named()
    const log = await logs.open(topic)
    await log.append(numbered('k', 5, 'old '))
    const subscriber = listener()
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await subscriber.saw(5)
    await recreate(topic, 10)
    await awaitFailure(subscriber, 'topic-recreated')
    await subscription.stop()
    expect(subscriber.texts()).toEqual(['old 0', 'old 1', 'old 2', 'old 3', 'old 4'])
    expect(await committedOffsets(brokers, `${log.topic}.g`, log.topic)).toEqual(new Map())
  })

  test('a batch of a topic that was created again is rejected before the periodic check', async () => {
    const topic = named()
    const slow = kafkaLogs({ brokers, timing: { check: 600_000 } })
    const log = await slow.open(topic)
    await log.append(numbered('k', 5, 'old '))
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    let entered = 0
    const subscriber = listener({
      during: async () => {
        entered++
        await gate
      },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await expect.poll(() => entered, { timeout: 25_000 }).toBe(1)
    await recreate(topic, 10)
    release()
    await awaitFailure(subscriber, 'topic-recreated')
    await subscription.stop()
    await slow.close()
    expect(subscriber.texts().filter((value) => value.startsWith('new'))).toEqual([])
  })

  test('a topic that was created again is rejected when it is opened, read, written and subscribed to', async () => {
    const topic = named()
    const log = await logs.open(topic)
    const identity = await log.identity()
    await log.append(numbered('k', 5, 'old '))
    await recreate(topic, 10)
    expect(await codeOf(logs.open(topic, identity))).toBe('topic-recreated')
    expect(await codeOf(all(log.read(log.partitionOf('k'), 0)))).toBe('topic-recreated')
    await expect.poll(() => codeOf(log.append([record('k', 'astray')])), { timeout: 25_000 }).toBe('topic-recreated')
    const subscriber = listener({ start: () => 5 })
    const subscription = await log.subscribe(`${log.topic}.h`, subscriber)
    await awaitFailure(subscriber, 'topic-recreated')
    await subscription.stop()
    expect(subscriber.seen).toEqual([])
    const { topic: id } = await (await logs.open(topic)).identity()
    expect(id).not.toBe(identity.topic)
  })

  test('a deleted topic is not created again if its identity is expected', async () => {
    const topic = named()
    const identity = await (await logs.open(topic)).identity()
    await admin.deleteTopics({ topics: [topic] })
    await expect.poll(() => exists(topic), { timeout: 25_000 }).toBe(false)
    expect(await codeOf(logs.open(topic, identity))).toBe('topic-missing')
    expect(await exists(topic)).toBe(false)
  })

  test('records that were removed before a live subscriber read them cause log-trimmed and are not skipped', async () => {
    const topic = named()
    const log = await logs.open(topic)
    const partition = log.partitionOf('k')
    await log.append(numbered('k', 4))
    let failing = true
    const subscriber = listener({
      start: (marks) => (marks.partition === partition ? 2 : marks.low),
      during: () => {
        if (failing) throw new Error('not now')
      },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await expect.poll(() => subscriber.failures.length, { timeout: 25_000 }).toBeGreaterThan(0)
    await log.append(numbered('k', 6, 'later '))
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: '6' }] })
    failing = false
    await awaitFailure(subscriber, 'log-trimmed')
    await subscription.stop()
    expect(subscriber.seen.filter(({ offset }) => offset > 3)).toEqual([])
  })

  test('partitions that are added later move no key and are reported once', async () => {
    const topic = named()
    const log = await logs.open(topic)
    const identity = await log.identity()
    const keys = Array.from({ length: 30 }, (_, index) => `key-${index}`)
    const before = await log.append(keys.map((key) => record(key, 'before')))
    const subscriber = listener()
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await subscriber.saw(30)
    await admin.createPartitions({ topicPartitions: [{ topic, count: 9 }] })
    await awaitFailure(subscriber, 'partitions-added')
    const after = await log.append(keys.map((key) => record(key, 'after')))
    expect(after.map(({ partition }) => partition)).toEqual(before.map(({ partition }) => partition))
    await subscriber.saw(60)
    const again = await logs.open(topic, identity)
    expect(keys.map(again.partitionOf)).toEqual(keys.map(log.partitionOf))
    expect(await again.identity()).toEqual(identity)
    expect(await again.watermarks()).toHaveLength(6)
    await subscription.stop()
    expect(subscriber.failures.filter((error) => isFault(error, 'partitions-added'))).toHaveLength(1)
  })

  test('markers of another producer’s transactions leave no gap and end no read early', async () => {
    const log = await logs.open(named())
    const partition = log.partitionOf('k')
    await log.append(numbered('k', 2))
    const producer = kafka.producer({ transactionalId: randomUUID(), idempotent: true, maxInFlightRequests: 1 })
    await producer.connect()
    const aborted = await producer.transaction()
    await aborted.send({ topic: log.topic, messages: [{ key: 'k', value: 'aborted', partition }] })
    await aborted.abort()
    const committed = await producer.transaction()
    await committed.send({ topic: log.topic, messages: [{ key: 'k', value: 'committed', partition }] })
    await committed.commit()
    await producer.disconnect()
    const subscriber = listener()
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await subscriber.saw(3)
    expect((await all(log.read(partition, 0))).map(({ offset }) => offset)).toEqual([0, 1, 4])
    await log.append([record('k', 'after')])
    await subscriber.saw(4)
    await subscription.stop()
    expect(subscriber.texts()).toEqual(['0', '1', 'committed', 'after'])
    expect(subscriber.failures).toEqual([])
  })
})
