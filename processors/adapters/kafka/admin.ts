import type { Admin, DeleteGroupsResult } from 'kafkajs'
import type { Watermarks } from '../../engine/ports/log.ts'
import { after, every, retrying } from '../../engine/timing/retry.ts'
import { createClient } from './client.ts'
import { asFault, causesOf, unavailable } from './faults.ts'
import type { Metadata } from './metadata.ts'
import { backoff, type Settings } from './options.ts'
import { isRetriable } from '../../../schemas/fault.ts'

export interface LogAdmin {
  /**
   * Creates the topic unless it exists, and resolves when the leaders of all partitions answer. Waits for an existing topic too, because another
   * process may have created it a moment ago. Rejects with a retriable fault if a leader does not answer within 30 s.
   */
  prepareTopic(topic: string, found: { readonly exists: boolean }): Promise<void>
  /** The watermarks of all partitions, sorted by partition. */
  watermarks(topic: string): Promise<Watermarks[]>
  /** True if the consumer group has members. */
  hasMembers(group: string): Promise<boolean>
  /** Deletes the group. No effect if the group does not exist. */
  deleteGroup(group: string): Promise<void>
  /**
   * `removesBy` lists the settings of the topic that let Kafka remove records, such as `retention.ms=1000`. If the request fails, for example without
   * a permission, returns Kafka's default for `maxRecordBytes` and an empty list.
   */
  describeTopic(topic: string): Promise<{ maxRecordBytes: number; removesBy: readonly string[] }>
  close(): Promise<void>
}

const GROUP_ID_NOT_FOUND = 69
const DEFAULT_MAX_RECORD_BYTES = 1_048_588
const LEADERS_MS = 30_000
const LEADERS_CHECK_MS = 250
const RETRIES = 5
const TOPIC = 2
const KEEP_ALL_RECORDS = new Map([
  ['cleanup.policy', 'delete'],
  ['retention.ms', '-1'],
  ['retention.bytes', '-1'],
])

export function createAdmin(settings: Settings, metadata: Metadata): LogAdmin {
  const { use, close } = reconnectingAdmin(settings)
  return {
    async prepareTopic(topic, { exists }) {
      if (!exists) await createTopic(settings, use, topic)
      await awaitLeaders(settings, { metadata, use, topic })
    },
    watermarks: (topic) =>
      use(`Kafka does not return the watermarks of ${topic}`, async (admin) =>
        (await admin.fetchTopicOffsets(topic))
          .map(({ partition, low, high }) => ({ partition, low: Number(low), high: Number(high) }))
          .sort((a, b) => a.partition - b.partition),
      ),
    hasMembers: (group) =>
      use(`Kafka does not describe group ${group}`, async (admin) => {
        const { groups } = await admin.describeGroups([group])
        return groups.some(({ members }) => members.length > 0)
      }),
    deleteGroup: (group) =>
      use(`Kafka does not delete group ${group}`, async (admin) => {
        try {
          await admin.deleteGroups([group])
        } catch (error) {
          if (!isUnknownGroup(error)) throw error
        }
      }),
    describeTopic: (topic) =>
      use('', async (admin) => {
        const { resources } = await admin.describeConfigs({
          includeSynonyms: false,
          resources: [{ type: TOPIC, name: topic }],
        })
        const config = new Map(
          resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]),
        )
        const removesBy = [...KEEP_ALL_RECORDS]
          .filter(([name, value]) => (config.get(name) ?? value) !== value)
          .map(([name]) => `${name}=${config.get(name)}`)
        return { maxRecordBytes: Number(config.get('max.message.bytes')) || DEFAULT_MAX_RECORD_BYTES, removesBy }
      }).catch(() => ({ maxRecordBytes: DEFAULT_MAX_RECORD_BYTES, removesBy: [] })),
    close,
  }
}

type Use = <T>(what: string, work: (admin: Admin) => Promise<T>) => Promise<T>

/** The admin of kafkajs never refreshes the leaders of partitions. So after a failed call, the next attempt uses a new admin. */
function reconnectingAdmin(settings: Settings): { use: Use; close(): Promise<void> } {
  let current: Promise<Admin> | undefined
  const connect = async (): Promise<Admin> => {
    const admin = createClient(settings).admin({ retry: { retries: 0 } })
    await admin.connect().catch(async (error: unknown) => {
      await admin.disconnect().catch(() => {})
      throw error
    })
    return admin
  }
  const drop = (): void => {
    void current?.then((admin) => admin.disconnect()).catch(() => {})
    current = undefined
  }
  const attempt = async <T>(work: (admin: Admin) => Promise<T>): Promise<T> => {
    current ??= connect()
    const used = current
    try {
      return await work(await used)
    } catch (error) {
      // If another call has replaced the admin meanwhile, the new admin stays open.
      if (current === used) drop()
      throw error
    }
  }
  return {
    async use(what, work) {
      const { clock, timing } = settings
      try {
        return await retrying(() => attempt(work), {
          clock,
          when: { error: isTemporary },
          until: (retries) => retries >= RETRIES,
          pause: (retries) => backoff(timing, retries + 1) / 5,
        })
      } catch (error) {
        throw asFault(what, error)
      }
    },
    async close() {
      const admin = await current?.catch(() => undefined)
      current = undefined
      await admin?.disconnect().catch(() => {})
    },
  }
}

const isUnknownGroup = (error: unknown): boolean =>
  error instanceof Error &&
  'groups' in error &&
  (error.groups as readonly DeleteGroupsResult[]).every(({ errorCode }) => errorCode === GROUP_ID_NOT_FOUND)

/**
 * True if the cause of the error is temporary, such as a moving leader or a restarting broker. kafkajs throws a TypeError ("Cannot destructure
 * property 'partitions' of 'high.pop(...)'") if its metadata does not contain the topic. This is temporary too: concurrent calls with different
 * topics share a refresh, so the metadata of one call can replace the metadata of the other.
 */
const isTemporary = (error: unknown): boolean =>
  error instanceof TypeError ||
  causesOf(error).some(
    ({ name, retriable }) =>
      retriable === true || name === 'KafkaJSNumberOfRetriesExceeded' || name === 'KafkaJSTopicMetadataNotLoaded',
  )

async function createTopic(
  { partitions: numPartitions, replicationFactor }: Settings,
  use: Use,
  topic: string,
): Promise<void> {
  const configEntries = [...KEEP_ALL_RECORDS, ['message.timestamp.type', 'LogAppendTime'] as const].map(
    ([name, value]) => ({ name, value }),
  )
  await use(`Kafka does not create topic ${topic}`, (admin) =>
    admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions, replicationFactor, configEntries }] }),
  )
}

async function awaitLeaders(
  { clock }: Settings,
  { metadata, use, topic }: { metadata: Metadata; use: Use; topic: string },
): Promise<void> {
  const what = `Topic ${topic} has no leaders yet`
  const checkLeaders = async (): Promise<void> => {
    if ((await metadata.topic(topic))?.ready !== true) throw unavailable(what)
    // The metadata names a leader before that broker serves the partition. Only an answer of the leader proves that the partition is served.
    await use(what, (admin) => admin.fetchTopicOffsets(topic))
  }
  await retrying(checkLeaders, {
    clock,
    when: { error: isRetriable },
    until: after(clock, LEADERS_MS),
    pause: every(LEADERS_CHECK_MS),
  })
}
