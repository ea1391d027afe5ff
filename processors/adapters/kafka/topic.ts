import type { Watermarks } from '../../engine/ports/log.ts'
import type { LogAdmin } from './admin.ts'
import { missing, recreated, unavailable } from './faults.ts'
import type { Metadata, TopicMetadata } from './metadata.ts'
import type { TopicIdentity } from '../../engine/ports/log-admin.ts'

/** An open topic and the identity that it had when it was opened. */
export interface OpenTopic {
  readonly name: string
  readonly identity: TopicIdentity
  /**
   * Throws `topic-recreated` or `topic-missing` if the topic does not have this identity any more. If `verify` succeeds after a read, all records
   * of that read belong to this topic, because Kafka never uses a topic id twice.
   */
  verify(): Promise<TopicMetadata>
  /** The watermarks of all partitions that are used. Concurrent calls share one request. */
  watermarks(): Promise<readonly Watermarks[]>
  watermarksOf(partition: number): Promise<Watermarks>
}

/** True if a topic is not the expected one: it was created again, belongs to another cluster or has fewer partitions. More partitions are allowed. */
export const isOtherTopic = (expected: TopicIdentity, found: TopicIdentity): boolean =>
  found.cluster !== expected.cluster || found.topic !== expected.topic || found.partitions < expected.partitions

export function openTopic(
  name: string,
  identity: TopicIdentity,
  { metadata, admin }: { metadata: Metadata; admin: LogAdmin },
): OpenTopic {
  let request: Promise<readonly Watermarks[]> | undefined
  const requestWatermarks = async (): Promise<readonly Watermarks[]> => {
    try {
      const used = (await admin.watermarks(name)).filter(({ partition }) => partition < identity.partitions)
      if (used.length < identity.partitions)
        throw unavailable(
          `Kafka returned the watermarks of ${used.length} of ${identity.partitions} partitions of ${name}`,
        )
      return used
    } finally {
      request = undefined
    }
  }
  const watermarks = (): Promise<readonly Watermarks[]> => (request ??= requestWatermarks())
  return {
    name,
    identity,
    async verify() {
      const found = await metadata.topic(name)
      if (!found) throw missing(name, identity)
      if (isOtherTopic(identity, found)) throw recreated(name, identity, found)
      return found
    },
    watermarks,
    async watermarksOf(partition) {
      const found = (await watermarks())[partition]
      if (!found) throw unavailable(`Topic ${name} has no partition ${partition}`)
      return found
    },
  }
}
