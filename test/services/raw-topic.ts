import { Kafka, logLevel } from 'kafkajs'

export interface RawRecord {
  readonly key: string
  readonly value: Buffer
  readonly headers: Readonly<Record<string, string>>
}

/** Reads all records that a topic contains now, without our adapter, as a consumer of another program reads them. */
export const rawRecords = async (brokers: readonly string[], topic: string): Promise<readonly RawRecord[]> => {
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  const total = (await admin.fetchTopicOffsets(topic)).reduce((sum, { high }) => sum + Number(high), 0)
  await admin.disconnect()
  const found: RawRecord[] = []
  if (total === 0) return found
  const consumer = kafka.consumer({ groupId: `raw-${topic}-${Math.random()}` })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await new Promise<void>((resolve, reject) => {
    const eachMessage = async ({
      message: { key, value, headers = {} },
    }: {
      message: { key: Buffer | null; value: Buffer | null; headers?: object }
    }): Promise<void> => {
      found.push({
        key: String(key),
        value: value ?? Buffer.alloc(0),
        headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, String(text)])),
      })
      if (found.length >= total) resolve()
    }
    consumer.run({ eachMessage }).catch(reject)
  })
  await consumer.disconnect()
  return found
}
