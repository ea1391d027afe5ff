import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAdmin } from '../../../processors/adapters/kafka/admin.ts'
import { follow } from '../../../processors/adapters/kafka/follow.ts'
import { kafkaLogs } from '../../../processors/adapters/kafka/logs.ts'
import { createMetadata } from '../../../processors/adapters/kafka/metadata.ts'
import { settingsOf } from '../../../processors/adapters/kafka/options.ts'
import { createConsumer } from '../../../processors/adapters/kafka/session.ts'
import { openTopic } from '../../../processors/adapters/kafka/topic.ts'
import { isFault } from '../../../schemas/fault.ts'
import { listener } from '../../contracts/listener.ts'
import { all, numbered, record } from '../../contracts/log-records.ts'
import { describeWith, ifLong } from '../available.ts'
import { freePort } from '../kafka-node.ts'
import { kafkaAvailable, startKafka, type KafkaHandle } from '../kafka.ts'

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no fault',
    (error: unknown) => (isFault(error) ? error.code : String(error)),
  )

test('if Kafka is down at the start, opening a log fails with log-unavailable', async () => {
  const logs = kafkaLogs({ brokers: [`127.0.0.1:${await freePort()}`], timing: { request: 500, retry: 10 } })
  const error: unknown = await logs.open('events').catch((reason: unknown) => reason)
  expect(isFault(error, 'log-unavailable') && error.retriable).toBe(true)
  expect(String(error)).toContain('TRIBUTARY_KAFKA')
  await logs.close()
})

describeWith('an outage of Kafka', ifLong(kafkaAvailable()), () => {
  let kafka: KafkaHandle
  beforeAll(async () => {
    kafka = await startKafka()
  })
  afterAll(async () => {
    await kafka?.stop()
  })

  test('while Kafka is down appends fail; afterwards appends and subscriptions continue without a restart, and no acknowledged record is lost', async () => {
    const logs = kafkaLogs({ brokers: kafka.brokers, timing: { request: 1_000, append: 2_000, session: 6_000 } })
    const log = await logs.open(`outage-${randomUUID()}`)
    await log.append(numbered('k', 5, 'before '))
    const subscriber = listener({ start: () => subscriber.seen.length })
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await subscriber.saw(5)

    await kafka.node(0).kill()
    expect(['log-unavailable', 'append-unknown']).toContain(await codeOf(log.append([record('k', 'down')])))
    expect(await codeOf(log.append([record('k', 'down')]))).toBe('log-unavailable')
    await expect.poll(() => subscriber.failures.length, { timeout: 25_000 }).toBeGreaterThan(0)
    expect(subscriber.failures.every((error) => isFault(error) && error.retriable)).toBe(true)

    await kafka.node(0).start()
    await expect.poll(() => codeOf(log.append([record('k', 'after')])), { timeout: 25_000 }).toBe('no fault')
    const values = (await all(log.readKey('k'))).map(({ value }) => Buffer.from(value).toString())
    expect(values.slice(0, 5)).toEqual(Array.from({ length: 5 }, (_, index) => `before ${index}`))
    expect(values.filter((value) => value === 'after')).toHaveLength(1)
    await subscriber.saw(values.length)
    await subscription.stop()
    expect(subscriber.texts()).toEqual(values)
    await logs.close()
  }, 90_000)

  test('a consumer that fetches nothing although records wait is replaced and reported', async () => {
    const settings = settingsOf({ brokers: kafka.brokers, timing: { check: 200, stall: 600, session: 6_000 } })
    const logs = kafkaLogs(settings)
    const log = await logs.open(`silent-${randomUUID()}`)
    await log.append(numbered('k', 3))
    const metadata = createMetadata(settings)
    const admin = createAdmin(settings, metadata)
    const topic = openTopic(log.topic, await log.identity(), { metadata, admin })
    const subscriber = listener()
    let consumers = 0
    // The first consumer ignores `resume`, so it fetches nothing although records wait.
    const subscription = follow({
      settings,
      topic,
      group: `${log.topic}.g`,
      subscriber,
      consumerOf: (...args) => {
        const consumer = createConsumer(...args)
        return consumers++ === 0 ? { ...consumer, resume: () => {} } : consumer
      },
    })
    await subscriber.saw(3)
    await subscription.stop()
    expect(consumers).toBe(2)
    expect(subscriber.failures.filter((error) => isFault(error, 'log-stalled'))).toHaveLength(1)
    await admin.close()
    await metadata.close()
    await logs.close()
  })

  test('a subscription that never connected to Kafka can be stopped', async () => {
    const logs = kafkaLogs({ brokers: kafka.brokers, timing: { request: 500, retry: 10 } })
    const log = await logs.open(`unreached-${randomUUID()}`)
    await kafka.node(0).stop()
    const subscriber = listener()
    const subscription = await log.subscribe(`${log.topic}.g`, subscriber)
    await expect.poll(() => subscriber.failures.length, { timeout: 25_000 }).toBeGreaterThan(0)
    await subscription.stop()
    await logs.close()
    expect(subscriber.seen).toEqual([])
  })
})
