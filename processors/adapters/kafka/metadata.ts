import type { TopicIdentity } from '../../engine/log.ts'
import { isFault } from '../../../schemas/fault.ts'
import { unavailable } from './faults.ts'
import { openLink, type Link } from './link.ts'
import type { Settings } from './options.ts'
import { compactString, reading, varint } from './wire.ts'

export interface TopicMetadata extends TopicIdentity {
  /** Whether every partition has a leader. */
  readonly ready: boolean
}

/** Kafka's client stops at Metadata v6, which has no topic ids; v12 has them. */
export interface Metadata {
  /** Absent when the topic does not exist. */
  topic(name: string): Promise<TopicMetadata | undefined>
  close(): void
}

const REQUEST = { key: 3, version: 12, flexible: true }
const UNKNOWN_TOPIC = 3

export function createMetadata(settings: Settings): Metadata {
  let link: Promise<Link> | undefined
  let first = 0
  const connect = async (): Promise<Link> => {
    let failure: unknown
    for (let tried = 0; tried < settings.brokers.length; tried++) {
      const address = settings.brokers[first++ % settings.brokers.length] ?? ''
      try {
        if (settings.peers.worthAsking(address)) return await openLink(address, settings)
        failure = new Error(`${address} did not answer a moment ago`)
      } catch (error) {
        if (isFault(error)) throw error
        failure = error
      }
    }
    throw unavailable(`No broker of ${settings.brokers.join(', ')} answers`, failure)
  }
  /** The link as it stands, or one to the next broker; callers that find it broken together open one. */
  const current = async (): Promise<Link> => {
    for (;;) {
      const mine = (link ??= connect())
      const held = await mine.catch((error: unknown) => {
        if (link === mine) link = undefined
        throw error
      })
      if (held.open()) return held
      if (link === mine) link = undefined
    }
  }
  const ask = async (name: string): Promise<Buffer> => (await current()).ask({ ...REQUEST, body: topicRequest(name) })
  return {
    async topic(name) {
      // The broker at the other end may just have died: the next one knows as well.
      const answer = await ask(name).catch((error: unknown) => {
        if (isFault(error)) throw error
        return ask(name)
      }).catch((error: unknown) => {
        throw isFault(error) ? error : unavailable(`Kafka does not tell about topic ${name}`, error)
      })
      return parseTopic(answer)
    },
    close() {
      void link?.then((held) => held.close(), () => {})
      link = undefined
    },
  }
}

/** One topic by name; no auto creation, no authorized operations. */
const topicRequest = (name: string): Buffer =>
  Buffer.concat([varint(2), Buffer.alloc(16), compactString(name), varint(0), Buffer.from([0, 0]), varint(0)])

function parseTopic(answer: Buffer): TopicMetadata | undefined {
  const read = reading(answer)
  read.tags()
  read.int32()
  read.list(() => { read.int32(); read.compactString(); read.int32(); read.compactString(); read.tags() })
  const cluster = read.compactString() ?? ''
  read.int32()
  const [topic] = read.list(() => {
    const error = read.int16()
    read.compactString()
    const id = read.take(16).toString('base64url')
    read.skip(1)
    const leaders = read.list(() => partitionLeader(read))
    read.int32()
    read.tags()
    return { error, id, leaders }
  })
  if (!topic || topic.error === UNKNOWN_TOPIC) return undefined
  const ready = topic.error === 0 && topic.leaders.length > 0 && topic.leaders.every((leader) => leader >= 0)
  return { cluster, topic: topic.id, partitions: topic.leaders.length, ready }
}

function partitionLeader(read: ReturnType<typeof reading>): number {
  read.int16()
  read.int32()
  const leader = read.int32()
  read.int32()
  for (let lists = 0; lists < 3; lists++) read.list(() => read.int32())
  read.tags()
  return leader
}
