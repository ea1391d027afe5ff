import type { Log, Logs, Subscription, TopicIdentity } from '../../engine/log.ts'
import { Fault } from '../../../schemas/fault.ts'
import { createAdmin, type LogAdmin } from './admin.ts'
import { createAppender, type Appender } from './append.ts'
import { missing, recreated, unavailable } from './faults.ts'
import { follow } from './follow.ts'
import { createMetadata } from './metadata.ts'
import { settingsOf, type KafkaOptions } from './options.ts'
import { partitionOf } from './partition.ts'
import { readKey, readRange } from './read.ts'
import { keepTopic } from './topic.ts'
import { openProducer } from './writer.ts'

/** The event log on Kafka. */
export function kafkaLogs(options: KafkaOptions): Logs {
  const settings = settingsOf(options)
  const metadata = createMetadata(settings)
  const admin = createAdmin(settings, metadata)
  const appenders: Appender[] = []
  const subscriptions = new Set<Subscription>()

  const identify = async (topic: string, kept?: TopicIdentity): Promise<TopicIdentity> => {
    const found = await metadata.topic(topic)
    if (!found && kept) throw missing(topic, kept)
    if (!kept && !found?.ready) await admin.prepareTopic(topic, { exists: found !== undefined })
    const is = found ?? (await metadata.topic(topic))
    if (!is) throw unavailable(`Topic ${topic} was created but is not there`)
    return { cluster: is.cluster, topic: is.topic, partitions: is.partitions }
  }

  const open = async (name: string, kept?: TopicIdentity): Promise<Log> => {
    const found = await identify(name, kept)
    if (kept && (kept.cluster !== found.cluster || kept.topic !== found.topic || kept.partitions > found.partitions)) throw recreated(name, kept, found)
    const topic = keepTopic(name, kept ?? found, { metadata, admin })
    const { partitions } = topic.kept
    const { maxRecordBytes } = await admin.describeTopic(name)
    const place = (key: string): number => partitionOf(key, partitions)
    const appender = createAppender({
      topic: name, settings, partitionOf: place, openProducer: openProducer(settings, name, () => topic.verify()), maxRecordBytes,
    })
    appenders.push(appender)
    const reading = { settings, topic, admin }
    return {
      topic: name,
      keepsHeaders: true,
      append: appender.append,
      async subscribe(group, subscriber) {
        const subscription = follow({ settings, topic, group, subscriber })
        subscriptions.add(subscription)
        return subscription
      },
      read: (partition, from, to) => readRange(reading, partition, from, to),
      readKey: (key, from = 0) => readKey(reading, { key, partition: place(key), from }),
      partitionOf: place,
      watermarks: topic.watermarks,
      identity: async () => ({ ...(await identify(name, topic.kept)), partitions }),
      retention: async () => (await admin.describeTopic(name)).removesBy,
      followed: (group) => admin.hasMembers(group),
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
  if (await admin.hasMembers(group)) throw new Fault('group-active', `Group ${group} has members. Stop them first.`, { retriable: true })
}
