import type { Admin, DeleteGroupsResult } from 'kafkajs'
import type { Watermarks } from '../../engine/log.ts'
import { after, every, isRetriable, retrying } from '../../engine/retry.ts'
import { createClient } from './client.ts'
import { asFault, causesOf, unavailable } from './faults.ts'
import type { Metadata } from './metadata.ts'
import { backoff, type Settings } from './options.ts'

export interface LogAdmin {
  /**
   * Creates the topic unless it exists, and resolves when the leaders of all partitions answer. Another process may have created the
   * topic a moment ago. Rejects with a retriable fault if a leader does not answer within 30 s.
   */
  prepareTopic(topic: string, found: { readonly exists: boolean }): Promise<void>
  /** Of all partitions, sorted. */
  watermarks(topic: string): Promise<Watermarks[]>
  /** Whether anybody follows as this group. */
  hasMembers(group: string): Promise<boolean>
  deleteGroup(group: string): Promise<void>
  /** `removesBy` lists the settings that let the topic remove records. Returns Kafka's defaults and no such setting if the broker refuses to describe the topic. */
  describeTopic(topic: string): Promise<{ maxRecordBytes: number; removesBy: readonly string[] }>
  close(): Promise<void>
}

const GROUP_ID_NOT_FOUND = 69
const DEFAULT_MAX_RECORD_BYTES = 1_048_588
const LEADERS_MS = 30_000
const LEADERS_CHECK_MS = 250
const RETRIES = 5
const TOPIC = 2
const KEEPS_ALL = new Map([['cleanup.policy', 'delete'], ['retention.ms', '-1'], ['retention.bytes', '-1']])

export function createAdmin(settings: Settings, metadata: Metadata): LogAdmin {
  const { use, close } = keptAdmin(settings)
  return {
    async prepareTopic(topic, { exists }) {
      if (!exists) await createTopic(settings, use, topic)
      await awaitLeaders(settings, { metadata, use, topic })
    },
    watermarks: (topic) => use(`The ends of ${topic} are not to be had`, async (admin) =>
      (await admin.fetchTopicOffsets(topic))
        .map(({ partition, low, high }) => ({ partition, low: Number(low), high: Number(high) }))
        .sort((one, other) => one.partition - other.partition)),
    hasMembers: (group) => use(`Group ${group} cannot be described`, async (admin) => {
      const { groups } = await admin.describeGroups([group])
      return groups.some(({ members }) => members.length > 0)
    }),
    deleteGroup: (group) => use(`Group ${group} cannot be deleted`, async (admin) => {
      try {
        await admin.deleteGroups([group])
      } catch (error) {
        if (!isUnknownGroup(error)) throw error
      }
    }),
    describeTopic: (topic) => use('', async (admin) => {
      const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type: TOPIC, name: topic }] })
      const is = new Map(resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]))
      const removesBy = [...KEEPS_ALL].filter(([name, value]) => (is.get(name) ?? value) !== value).map(([name]) => `${name}=${is.get(name)}`)
      return { maxRecordBytes: Number(is.get('max.message.bytes')) || DEFAULT_MAX_RECORD_BYTES, removesBy }
    }).catch(() => ({ maxRecordBytes: DEFAULT_MAX_RECORD_BYTES, removesBy: [] })),
    close,
  }
}

type Use = <T>(what: string, work: (admin: Admin) => Promise<T>) => Promise<T>

/** The client's admin never looks again who leads what; so what fails once is tried with a new one. */
function keptAdmin(settings: Settings): { use: Use; close(): Promise<void> } {
  let kept: Promise<Admin> | undefined
  const connect = async (): Promise<Admin> => {
    const admin = createClient(settings).admin({ retry: { retries: 0 } })
    await admin.connect().catch(async (error: unknown) => {
      await admin.disconnect().catch(() => {})
      throw error
    })
    return admin
  }
  const drop = (): void => {
    void kept?.then((admin) => admin.disconnect()).catch(() => {})
    kept = undefined
  }
  const attempt = async <T>(work: (admin: Admin) => Promise<T>): Promise<T> => {
    kept ??= connect()
    const mine = kept
    try {
      return await work(await mine)
    } catch (error) {
      if (kept === mine) drop()
      throw error
    }
  }
  return {
    async use(what, work) {
      const { clock, timing } = settings
      try {
        return await retrying(() => attempt(work), { clock, when: { error: passing }, until: (retries) => retries >= RETRIES, pause: (retries) => backoff(timing, retries + 1) / 5 })
      } catch (error) {
        throw asFault(what, error)
      }
    },
    async close() {
      const admin = await kept?.catch(() => undefined)
      kept = undefined
      await admin?.disconnect().catch(() => {})
    },
  }
}

const isUnknownGroup = (error: unknown): boolean =>
  error instanceof Error && 'groups' in error && (error.groups as readonly DeleteGroupsResult[]).every(({ errorCode }) => errorCode === GROUP_ID_NOT_FOUND)

/**
 * Whether the error passes by itself: leaders move and brokers restart. kafkajs throws a TypeError ("Cannot destructure property
 * 'partitions' of 'high.pop(...)'") if its metadata does not contain the topic. Concurrent calls with different topics share a refresh,
 * so the metadata of one call can replace the metadata of the other.
 */
const passing = (error: unknown): boolean =>
  error instanceof TypeError ||
  causesOf(error).some(({ name, retriable }) => retriable === true || name === 'KafkaJSNumberOfRetriesExceeded' || name === 'KafkaJSTopicMetadataNotLoaded')

async function createTopic({ partitions: numPartitions, replicationFactor }: Settings, use: Use, topic: string): Promise<void> {
  const configEntries = [...KEEPS_ALL, ['message.timestamp.type', 'LogAppendTime'] as const].map(([name, value]) => ({ name, value }))
  await use(`Topic ${topic} cannot be created`, (admin) =>
    admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions, replicationFactor, configEntries }] }))
}

async function awaitLeaders({ clock }: Settings, { metadata, use, topic }: { metadata: Metadata; use: Use; topic: string }): Promise<void> {
  const what = `Topic ${topic} has no leaders yet`
  const look = async (): Promise<void> => {
    if ((await metadata.topic(topic))?.ready !== true) throw unavailable(what)
    // The metadata names a leader before that broker serves the partition, so only the leader's answer counts.
    await use(what, (admin) => admin.fetchTopicOffsets(topic))
  }
  await retrying(look, { clock, when: { error: isRetriable }, until: after(clock, LEADERS_MS), pause: every(LEADERS_CHECK_MS) })
}
