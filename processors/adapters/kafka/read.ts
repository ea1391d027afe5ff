import { randomUUID } from 'node:crypto'
import type { LogRecord, Subscriber } from '../../engine/ports/log.ts'
import { isFault } from '../../../schemas/fault.ts'
import type { LogAdmin } from './admin.ts'
import { trimmed, truncated } from './faults.ts'
import { follow } from './follow.ts'
import type { Settings } from './options.ts'
import type { OpenTopic } from './topic.ts'

export interface ReadPlan {
  settings: Settings
  topic: OpenTopic
  admin: LogAdmin
}

/** A read fails with its last fault if no record arrives for this time. */
const PATIENCE_MS = 60_000

/** Reads a range of one partition. kafkajs reads only as a consumer group, so each read uses a new group and deletes it afterwards. */
export async function* readRange(
  plan: ReadPlan,
  partition: number,
  from: number,
  to?: number,
): AsyncGenerator<readonly LogRecord[]> {
  const { settings, topic, admin } = plan
  const watermarks = await topic.watermarksOf(partition)
  await topic.verify()
  if (from < watermarks.low) throw trimmed(topic.name, from, watermarks)
  if (from > watermarks.high) throw truncated(topic.name, from, watermarks)
  const end = Math.min(to ?? watermarks.high, watermarks.high)
  if (from >= end) return
  const channel = createBatchChannel({ from, end, now: () => settings.clock.now() })
  const group = `tributary-read-${randomUUID()}`
  const subscription = follow({
    settings,
    topic,
    group,
    subscriber: channel.subscriber,
    onlyPartition: partition,
    onAdvance: channel.advance,
  })
  try {
    for (let records = await channel.next(); records; records = await channel.next())
      if (records.length > 0) yield records
  } finally {
    channel.close()
    await subscription.stop()
    await admin.deleteGroup(group).catch(() => {})
  }
}

export async function* readKey(
  plan: ReadPlan,
  { key, partition, from }: { key: string; partition: number; from: number },
): AsyncGenerator<readonly LogRecord[]> {
  const { high } = await plan.topic.watermarksOf(partition)
  for await (const records of readRange(plan, partition, Math.min(from, high))) {
    const own = records.filter((record) => record.key === key)
    if (own.length > 0) yield own
  }
}

interface BatchChannel {
  readonly subscriber: Subscriber
  /**
   * To be called with the consumer's next offset. The last offsets of a range can have no records. Only this call then shows that the range has
   * ended.
   */
  readonly advance: (next: number) => void
  /** Returns the next batch. Undefined at the end of the range. */
  next(): Promise<readonly LogRecord[] | undefined>
  close(): void
}

/** Passes batches from a subscriber to a reader, one at a time. The subscriber's batch ends when the reader requests the next one. */
function createBatchChannel({ from, end, now }: { from: number; end: number; now(): number }): BatchChannel {
  let position = from
  let pending: { records: readonly LogRecord[]; taken(): void } | undefined
  let failure: unknown
  let closed = false
  let lastBatchAt = now()
  let wake: () => void = () => {}
  const subscriber: Subscriber = {
    assigned: async () => position,
    batch: (records) =>
      new Promise((resolve) => {
        if (closed || position >= end) return resolve()
        lastBatchAt = now()
        pending = { records: records.filter(({ offset }) => offset < end), taken: resolve }
        wake()
      }),
    revoked: () => {},
    failed(error) {
      if (isFault(error) && error.retriable && now() - lastBatchAt < PATIENCE_MS) return
      failure = error
      wake()
    },
  }
  const pendingRecords = (): readonly LogRecord[] | undefined => pending?.records
  return {
    subscriber,
    advance(next) {
      position = Math.max(position, next)
      wake()
    },
    async next() {
      pending?.taken()
      pending = undefined
      while (!pending && failure === undefined && position < end)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      if (failure !== undefined) throw failure instanceof Error ? failure : new Error(String(failure))
      const records = pendingRecords()
      if (records) position = Math.max(position, (records.at(-1)?.offset ?? position) + 1)
      return records
    },
    close() {
      closed = true
      pending?.taken()
    },
  }
}
