import type { Subscription } from '../../engine/ports/log.ts'
import { Fault } from '../../../schemas/fault.ts'
import { createAdmin, type LogAdmin } from './admin.ts'
import { createAppender, type Appender } from './append.ts'
import { missing, recreated, unavailable } from './faults.ts'
import { follow } from './follow.ts'
import { createMetadata } from './metadata.ts'
import { settingsOf, type KafkaOptions } from './options.ts'
import { partitionOf } from './partition.ts'
import { readKey, readRange } from './read.ts'
import { isOtherTopic, openTopic } from './topic.ts'
import { openProducer } from './writer.ts'
import type { Logs, TopicIdentity } from '../../engine/ports/log-admin.ts'
import type { OpenTopic } from '../../engine/ports/log-admin.ts'

/** The event log on Kafka. */
export function kafkaLogs(options: KafkaOptions): Logs {
  const settings = settingsOf(options)
  const metadata = createMetadata(settings)
  const admin = createAdmin(settings, metadata)
  const appenders: Appender[] = []
  const subscriptions = new Set<Subscription>()

  const identify = async (topic: string, expected?: TopicIdentity): Promise<TopicIdentity> => {
    const found = await metadata.topic(topic)
    if (!found && expected) throw missing(topic, expected)
    if (!expected && !found?.ready) await admin.prepareTopic(topic, { exists: found !== undefined })
    const current = found ?? (await metadata.topic(topic))
    if (!current) throw unavailable(`Kafka created topic ${topic} and does not find it`)
    return { cluster: current.cluster, topic: current.topic, partitions: current.partitions }
  }

  const open = async (name: string, expected?: TopicIdentity): Promise<OpenTopic> => {
    const found = await identify(name, expected)
    if (expected && isOtherTopic(expected, found)) throw recreated(name, expected, found)
    const topic = openTopic(name, expected ?? found, { metadata, admin })
    const { partitions } = topic.identity
    const { maxRecordBytes } = await admin.describeTopic(name)
    const partitionOfKey = (key: string): number => partitionOf(key, partitions)
    const appender = createAppender({
      topic: name,
      settings,
      partitionOf: partitionOfKey,
      openProducer: openProducer(settings, name, () => topic.verify()),
      maxRecordBytes,
    })
    appenders.push(appender)
    const reading = { settings, topic, admin }
    return {
      topic: name,
      hasHeaders: true,
      append: appender.append,
      async subscribe(group, subscriber) {
        const subscription = follow({ settings, topic, group, subscriber })
        subscriptions.add(subscription)
        return subscription
      },
      read: (partition, from, to) => readRange(reading, partition, from, to),
      readKey: (key, from = 0) => readKey(reading, { key, partition: partitionOfKey(key), from }),
      partitionOf: partitionOfKey,
      watermarks: topic.watermarks,
      identity: async () => ({ ...(await identify(name, topic.identity)), partitions }),
      retention: async () => (await admin.describeTopic(name)).removesBy,
      isFollowed: (group) => admin.hasMembers(group),
      removeGroup: (group) => refuseActive(admin, group).then(() => admin.deleteGroup(group)),
    }
  }
  const close = async (): Promise<void> => {
    await Promise.all([...subscriptions].map((subscription) => subscription.stop()))
    await Promise.all(appenders.map((appender) => appender.close()))
    await admin.close()
    await metadata.close()
  }
  return { open, close }
}

const refuseActive = async (admin: LogAdmin, group: string): Promise<void> => {
  if (await admin.hasMembers(group))
    throw new Fault('group-active', `Group ${group} has members. Stop them first.`, { retriable: true })
}
