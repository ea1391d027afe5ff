import { randomUUID } from 'node:crypto'
import { Kafka, logLevel, type Admin } from 'kafkajs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kafkaLogs } from '../../../processors/adapters/kafka/logs.ts'
import type { Logs } from '../../../processors/engine/log.ts'
import { isFault } from '../../../schemas/fault.ts'
import { listener, type Listener } from '../../contracts/listener.ts'
import { all, numbered, record } from '../../contracts/log.ts'
import { describeWith } from '../available.ts'
import { kafkaAvailable, sharedKafka } from '../kafka.ts'
import { committedOffsets } from './offsets.ts'

describeWith('a Kafka topic that changes under our feet', kafkaAvailable(), () => {
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
  const codeOf = (work: Promise<unknown>): Promise<string> => work.then(() => 'no fault', (error: unknown) => (isFault(error) ? error.code : String(error)))
  const heardOf = ({ failures }: Listener, code: string) => expect.poll(() => failures.some((error) => isFault(error, code)), { timeout: 25_000 }).toBe(true)
  const exists = async (topic: string) => (await admin.listTopics()).includes(topic)

  /** The same name and count of partitions, other records. */
  const recreate = async (topic: string, records: number): Promise<void> => {
    await admin.deleteTopics({ topics: [topic] })
    await expect.poll(() => exists(topic), { timeout: 25_000 }).toBe(false)
    await expect.poll(() => admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 6 }] }).catch(() => false), { timeout: 25_000 }).toBe(true)
    const producer = kafka.producer()
    await producer.connect()
    const messages = Array.from({ length: records }, (_, index) => ({ key: 'k', value: `new ${index}` }))
    await expect.poll(() => producer.send({ topic, messages }).then(() => true, () => false), { timeout: 25_000 }).toBe(true)
    await producer.disconnect()
  }

  test('a live subscriber of a re-created topic is refused, and gets none of its records', async () => {
    const topic = named()
    const log = await logs.open(topic)
    await log.append(numbered('k', 5, 'old '))
    const heard = listener()
    const subscription = await log.subscribe(`${log.topic}.g`, heard)
    await heard.saw(5)
    await recreate(topic, 10)
    await heardOf(heard, 'topic-recreated')
    await subscription.stop()
    expect(heard.texts()).toEqual(['old 0', 'old 1', 'old 2', 'old 3', 'old 4'])
    expect(await committedOffsets(brokers, `${log.topic}.g`, log.topic)).toEqual(new Map())
  })

  test('a batch that comes from the new incarnation is refused before the timer notices', async () => {
    const topic = named()
    const slow = kafkaLogs({ brokers, timing: { check: 600_000 } })
    const log = await slow.open(topic)
    await log.append(numbered('k', 5, 'old '))
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => { release = resolve })
    let entered = 0
    const heard = listener({ during: async () => { entered++; await gate } })
    const subscription = await log.subscribe(`${log.topic}.g`, heard)
    await expect.poll(() => entered, { timeout: 25_000 }).toBe(1)
    await recreate(topic, 10)
    release()
    await heardOf(heard, 'topic-recreated')
    await subscription.stop()
    await slow.close()
    expect(heard.texts().filter((value) => value.startsWith('new'))).toEqual([])
  })

  test('a re-created topic is refused at start, for reading, writing and following', async () => {
    const topic = named()
    const log = await logs.open(topic)
    const kept = await log.identity()
    await log.append(numbered('k', 5, 'old '))
    await recreate(topic, 10)
    expect(await codeOf(logs.open(topic, kept))).toBe('topic-recreated')
    expect(await codeOf(all(log.read(log.partitionOf('k'), 0)))).toBe('topic-recreated')
    await expect.poll(() => codeOf(log.append([record('k', 'astray')])), { timeout: 25_000 }).toBe('topic-recreated')
    const heard = listener({ start: () => 5 })
    const subscription = await log.subscribe(`${log.topic}.h`, heard)
    await heardOf(heard, 'topic-recreated')
    await subscription.stop()
    expect(heard.seen).toEqual([])
    const { topic: id } = await (await logs.open(topic)).identity()
    expect(id).not.toBe(kept.topic)
  })

  test('a topic that is gone is not created anew over kept positions', async () => {
    const topic = named()
    const kept = await (await logs.open(topic)).identity()
    await admin.deleteTopics({ topics: [topic] })
    await expect.poll(() => exists(topic), { timeout: 25_000 }).toBe(false)
    expect(await codeOf(logs.open(topic, kept))).toBe('topic-missing')
    expect(await exists(topic)).toBe(false)
  })

  test('records cut off before a live subscriber read them are refused, not skipped', async () => {
    const topic = named()
    const log = await logs.open(topic)
    const partition = log.partitionOf('k')
    await log.append(numbered('k', 4))
    let failing = true
    const heard = listener({
      start: (marks) => (marks.partition === partition ? 2 : marks.low),
      during: () => { if (failing) throw new Error('not now') },
    })
    const subscription = await log.subscribe(`${log.topic}.g`, heard)
    await expect.poll(() => heard.failures.length, { timeout: 25_000 }).toBeGreaterThan(0)
    await log.append(numbered('k', 6, 'later '))
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: '6' }] })
    failing = false
    await heardOf(heard, 'log-trimmed')
    await subscription.stop()
    expect(heard.seen.filter(({ offset }) => offset > 3)).toEqual([])
  })

  test('partitions added later move no key, and are reported once', async () => {
    const topic = named()
    const log = await logs.open(topic)
    const kept = await log.identity()
    const keys = Array.from({ length: 30 }, (_, index) => `key-${index}`)
    const before = await log.append(keys.map((key) => record(key, 'before')))
    const heard = listener()
    const subscription = await log.subscribe(`${log.topic}.g`, heard)
    await heard.saw(30)
    await admin.createPartitions({ topicPartitions: [{ topic, count: 9 }] })
    await heardOf(heard, 'partitions-added')
    const after = await log.append(keys.map((key) => record(key, 'after')))
    expect(after.map(({ partition }) => partition)).toEqual(before.map(({ partition }) => partition))
    await heard.saw(60)
    const again = await logs.open(topic, kept)
    expect(keys.map(again.partitionOf)).toEqual(keys.map(log.partitionOf))
    expect(await again.identity()).toEqual(kept)
    expect(await again.watermarks()).toHaveLength(6)
    await subscription.stop()
    expect(heard.failures.filter((error) => isFault(error, 'partitions-added'))).toHaveLength(1)
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
    const heard = listener()
    const subscription = await log.subscribe(`${log.topic}.g`, heard)
    await heard.saw(3)
    expect((await all(log.read(partition, 0))).map(({ offset }) => offset)).toEqual([0, 1, 4])
    await log.append([record('k', 'after')])
    await heard.saw(4)
    await subscription.stop()
    expect(heard.texts()).toEqual(['0', '1', 'committed', 'after'])
    expect(heard.failures).toEqual([])
  })
})
