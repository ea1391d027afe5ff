import type { TopicIdentity, Watermarks } from '../../engine/log.ts'
import type { LogAdmin } from './admin.ts'
import { missing, recreated, unavailable } from './faults.ts'
import type { Metadata, TopicMetadata } from './metadata.ts'

/** A topic of which we keep what it was, so that another in its place is noticed. */
export interface KeptTopic {
  readonly name: string
  readonly kept: TopicIdentity
  /** Throws `topic-recreated` or `topic-missing`. Asked after a read, it proves what was read: ids never come back. */
  verify(): Promise<TopicMetadata>
  /** Of all partitions that are used; concurrent callers share one question. */
  watermarks(): Promise<readonly Watermarks[]>
  marks(partition: number): Promise<Watermarks>
}

export function keepTopic(name: string, kept: TopicIdentity, { metadata, admin }: { metadata: Metadata; admin: LogAdmin }): KeptTopic {
  let asked: Promise<readonly Watermarks[]> | undefined
  const ask = async (): Promise<readonly Watermarks[]> => {
    try {
      const marks = (await admin.watermarks(name)).filter(({ partition }) => partition < kept.partitions)
      if (marks.length < kept.partitions) throw unavailable(`Kafka told the ends of ${marks.length} of ${kept.partitions} partitions of ${name}`)
      return marks
    } finally {
      asked = undefined
    }
  }
  const watermarks = (): Promise<readonly Watermarks[]> => (asked ??= ask())
  return {
    name,
    kept,
    async verify() {
      const found = await metadata.topic(name)
      if (!found) throw missing(name, kept)
      if (found.cluster !== kept.cluster || found.topic !== kept.topic || found.partitions < kept.partitions) throw recreated(name, kept, found)
      return found
    },
    watermarks,
    async marks(partition) {
      const found = (await watermarks())[partition]
      if (!found) throw unavailable(`Topic ${name} has no partition ${partition}`)
      return found
    },
  }
}
