import { Kafka, logLevel } from 'kafkajs'

/** Reads the committed offsets of a group in a topic, by partition, without our adapter, as other tools read them. */
export const committedOffsets = async (
  brokers: string[],
  group: string,
  topic: string,
): Promise<ReadonlyMap<number, number>> => {
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin()
  try {
    await admin.connect()
    const [found] = await admin.fetchOffsets({ groupId: group, topics: [topic] })
    return new Map(
      (found?.partitions ?? [])
        .map(({ partition, offset }) => [partition, Number(offset)] as const)
        .filter(([, offset]) => offset >= 0),
    )
  } finally {
    await admin.disconnect()
  }
}
