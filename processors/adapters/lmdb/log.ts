import { Fault } from '../../../schemas/fault.ts'
import { createCopies } from '../copies.ts'
import { encodedSize } from './block.ts'
import { createFlusher, type Flusher } from './flusher.ts'
import { createGroups } from './groups.ts'
import { createTopic, endOf, findTopic, openLogFiles, type LogFiles, type TopicEntry } from './log-files.ts'
import { readKey, readRange, takeBatch } from './reading.ts'
import type { Logs, TopicIdentity } from '../../engine/ports/log-admin.ts'
import type { OpenTopic } from '../../engine/ports/log-admin.ts'

export interface LmdbLogsOptions {
  readonly folder: string
  readonly now?: () => number
  /** Opens the log for reading only, while another process writes it. Default: false. */
  readonly readOnly?: boolean
}

export interface LmdbLogs extends Logs {
  /** Runs `work` while appends wait and nothing is written to the log. Another process can open the log only during this time. */
  whileQuiet<T>(work: () => Promise<T>): Promise<T>
}

/** The default limit of Kafka, so each record of the embedded log also fits into Kafka. */
const MAX_RECORD_BYTES = 1024 * 1024
const MAX_KEY_BYTES = 1024

/** The embedded log: all topics in one LMDB environment in `folder`, one partition each. */
export const lmdbLogs = ({ folder, now = Date.now, readOnly = false }: LmdbLogsOptions): LmdbLogs => {
  let files: LogFiles | undefined
  let closing: Promise<void> | undefined
  let isReopening = false
  const copies = createCopies()
  const open = (): LogFiles => {
    if (closing !== undefined && files === undefined)
      throw new Fault('log-closed', `The log at ${folder} was closed. Open it again to use it.`)
    if (isReopening)
      throw new Fault('log-unavailable', `The log at ${folder} is being opened again. Try again.`, { retriable: true })
    return (files ??= openLogFiles(folder, readOnly))
  }
  const topics = new Map<string, ReturnType<typeof createTopicLog>>()
  const flusher = createFlusher({
    files: open,
    reopen: async () => {
      const old = files
      await copies.ended()
      files = undefined
      isReopening = true
      await old?.root.close().catch(() => undefined)
      isReopening = false
      open()
    },
    onAppended: (number) => topics.forEach((topic) => topic.number === number && topic.groups.wake()),
    onSecondWriter: (fault) => topics.forEach(({ groups }) => groups.fail(fault)),
    hasPassed: (number, offset) =>
      [...topics.values()].every((topic) => topic.number !== number || topic.groups.hasPassed(offset)),
  })
  return {
    open: async (topic, expected) => {
      const entry = findTopic(open(), topic) ?? (readOnly ? unknownTopic(topic, folder) : createTopic(open(), topic))
      const identity = { cluster: open().cluster, topic: entry.id, partitions: 1 }
      if (expected !== undefined) requireIdentity(topic, expected, identity)
      const topicLog =
        topics.get(topic) ?? createTopicLog({ topic, entry, identity, files: open, flusher, now, readOnly })
      topics.set(topic, topicLog)
      return topicLog.log
    },
    copy: (target) => copies.add(open().root.backup(target, false)),
    whileQuiet: flusher.runExclusively,
    close: () =>
      (closing ??= (async () => {
        await Promise.all([...topics.values()].map(({ groups }) => groups.stop()))
        await flusher.drained()
        await copies.ended()
        const last = files
        files = undefined
        await last?.root.close()
      })()),
  }
}

const unknownTopic = (topic: string, folder: string): never => {
  throw new Fault(
    'topic-missing',
    `There is no topic ${topic} in the log at ${folder}. Start the server on this folder once.`,
  )
}

const requireIdentity = (topic: string, expected: TopicIdentity, found: TopicIdentity): void => {
  const isSame =
    expected.cluster === found.cluster && expected.topic === found.topic && expected.partitions === found.partitions
  if (isSame) return
  throw new Fault(
    'topic-recreated',
    `Topic ${topic} is not the one of the control table: expected ${expected.topic} of ${expected.cluster}, found ${found.topic} of ${found.cluster}. ` +
      'Set TRIBUTARY_DATA to the right data folder. If the old log is lost for good, start with an empty folder.',
  )
}

interface TopicParts {
  readonly topic: string
  readonly entry: TopicEntry
  readonly identity: TopicIdentity
  readonly files: () => LogFiles
  readonly flusher: Flusher
  readonly now: () => number
  readonly readOnly: boolean
}

const createTopicLog = (parts: TopicParts) => {
  const {
    topic,
    entry: { number },
    files,
    flusher,
    readOnly,
  } = parts
  const high = (): number => (readOnly ? endOf(files(), number) : flusher.high(number))
  const source = { topic, number, files }
  const groups = createGroups({
    topic,
    high,
    take: (from) => flusher.latest(number, from) ?? takeBatch(source, { from, to: high() }),
    passed: flusher.passed,
  })
  const log: OpenTopic = {
    topic,
    append: async (records) => {
      if (readOnly) throw new Fault('log-unavailable', `The log of ${topic} was opened for reading only.`)
      const sizes = records.map((record) => sizeOf(topic, record))
      const timestamp = parts.now()
      if (records.length === 0) return []
      return flusher.append(
        number,
        records.map(({ key, value }) => ({ timestamp, key, value })),
        sizes,
      )
    },
    subscribe: async (group, subscriber) => groups.subscribe(group, subscriber),
    read: (_, from, to) => readRange(source, { from, to: Math.min(to ?? Infinity, high()), high: high() }),
    readKey: (key, from = 0) => readKey(source, { key, from, to: high() }),
    partitionOf: () => 0,
    watermarks: async () => [{ partition: 0, low: 0, high: high() }],
    identity: async () => parts.identity,
    // Only the writing process has consumer groups, so a reading process gets false here. It must ask the writing process over the control socket.
    isFollowed: async (group) => groups.hasMembers(group),
    removeGroup: async (group) => {
      if (groups.hasMembers(group)) throw groupActive(group, topic)
    },
  }
  return { log, groups, number }
}

const groupActive = (group: string, topic: string): Fault =>
  new Fault('group-active', `The group ${group} of ${topic} has members. Stop them first.`, { retriable: true })

const sizeOf = (topic: string, record: { readonly key: string; readonly value: Uint8Array }): number => {
  const size = encodedSize(record)
  if (size > MAX_RECORD_BYTES || Buffer.byteLength(record.key) > MAX_KEY_BYTES) {
    throw new Fault(
      'record-too-large',
      `A record of ${size} bytes for ${topic} is larger than the limit of the log (${MAX_RECORD_BYTES} bytes, ${MAX_KEY_BYTES} for its key). Send less.`,
    )
  }
  return size
}
