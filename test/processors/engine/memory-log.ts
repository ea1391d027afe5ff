import type { LogRecord, Subscriber } from '../../../processors/engine/ports/log.ts'
import type { Event } from '../../../schemas/event.ts'
import { jsonCodec } from './ledger.ts'
import type { OpenTopic } from '../../../processors/engine/ports/log-admin.ts'

/** A log in memory with one partition. Its subscribers receive records only when the test delivers them. */
export interface MemoryLog extends OpenTopic {
  readonly records: LogRecord[]
  add(...events: readonly Event[]): void
  /** Assigns the partition to every subscriber and delivers the records from its first offset on as one batch. */
  deliver(): Promise<void>
  /** Returns a function that delivers the records from an offset on to every subscriber, without a new assignment. */
  deliverFrom(): (from: number) => Promise<void>
}

export const memoryLog = (events: readonly Event[] = []): MemoryLog => {
  const records: LogRecord[] = []
  const subscribers = new Set<Subscriber>()
  const add = (key: string | null, value: Uint8Array) =>
    records.push({ partition: 0, offset: records.length, timestamp: 1_000 + records.length, key, value })
  const log: MemoryLog = {
    topic: 'ledger.events',
    records,
    add: (...appended) => {
      for (const event of appended) add(event.meta.key, jsonCodec.encode(event))
    },
    deliver: async () => {
      for (const subscriber of subscribers) {
        const from = await subscriber.assigned({ partition: 0, low: 0, high: records.length })
        if (from < records.length) await subscriber.batch(records.slice(from), { partition: 0, isCurrent: () => true })
      }
    },
    deliverFrom: () => async (from) => {
      for (const subscriber of subscribers)
        await subscriber.batch(records.slice(from), { partition: 0, isCurrent: () => true })
    },
    append: async (appended) => appended.map(({ key, value }) => ({ partition: 0, offset: add(key, value) - 1 })),
    subscribe: async (_, subscriber) => {
      subscribers.add(subscriber)
      return { stop: async () => void subscribers.delete(subscriber) }
    },
    read: async function* (_, from, to = records.length) {
      if (from < to) yield records.slice(from, to)
    },
    readKey: async function* (key, from = 0) {
      yield records.filter((record) => record.key === key && record.offset >= from)
    },
    partitionOf: () => 0,
    watermarks: async () => [{ partition: 0, low: 0, high: records.length }],
    identity: async () => ({ cluster: 'c', topic: 't', partitions: 1 }),
    isFollowed: async () => subscribers.size > 0,
    removeGroup: async () => undefined,
  }
  log.add(...events)
  return log
}
