import { randomUUID } from 'node:crypto'
import type { LogRecord, Subscriber } from '../../engine/log.ts'
import { isFault } from '../../../schemas/fault.ts'
import type { LogAdmin } from './admin.ts'
import { trimmed, truncated } from './faults.ts'
import { follow } from './follow.ts'
import type { Settings } from './options.ts'
import type { KeptTopic } from './topic.ts'

export interface ReadPlan { settings: Settings; topic: KeptTopic; admin: LogAdmin }

/** Without a record for so long, a reader gives up. */
const PATIENCE_MS = 60_000

/** A range of one partition. Kafka's client reads only as a group, so each read is one of its own, deleted afterwards. */
export async function* readRange(plan: ReadPlan, partition: number, from: number, to?: number): AsyncGenerator<readonly LogRecord[]> {
  const { settings, topic, admin } = plan
  const marks = await topic.marks(partition)
  await topic.verify()
  if (from < marks.low) throw trimmed(topic.name, from, marks)
  if (from > marks.high) throw truncated(topic.name, from, marks)
  const end = Math.min(to ?? marks.high, marks.high)
  if (from >= end) return
  const hand = createHandover({ from, end, now: () => settings.clock.now() })
  const group = `tributary-read-${randomUUID()}`
  const subscription = follow({ settings, topic, group, subscriber: hand.subscriber, only: partition, moved: hand.moved })
  try {
    for (let records = await hand.next(); records; records = await hand.next()) if (records.length > 0) yield records
  } finally {
    hand.close()
    await subscription.stop()
    await admin.deleteGroup(group).catch(() => {})
  }
}

export async function* readKey(plan: ReadPlan, { key, partition, from }: { key: string; partition: number; from: number }): AsyncGenerator<readonly LogRecord[]> {
  const { high } = await plan.topic.marks(partition)
  for await (const records of readRange(plan, partition, Math.min(from, high))) {
    const own = records.filter((record) => record.key === key)
    if (own.length > 0) yield own
  }
}

interface Handover {
  readonly subscriber: Subscriber
  readonly moved: (next: number) => void
  /** Undefined at the end. */
  next(): Promise<readonly LogRecord[] | undefined>
  close(): void
}

/** Passes batches from a subscriber to a reader, one at a time: the log waits while the reader works. */
function createHandover({ from, end, now }: { from: number; end: number; now(): number }): Handover {
  let position = from
  let offered: { records: readonly LogRecord[]; taken(): void } | undefined
  let failure: unknown
  let closed = false
  let heardAt = now()
  let wake: () => void = () => {}
  const subscriber: Subscriber = {
    assigned: async () => position,
    batch: (records) => new Promise((resolve) => {
      if (closed || position >= end) return resolve()
      heardAt = now()
      offered = { records: records.filter(({ offset }) => offset < end), taken: resolve }
      wake()
    }),
    revoked: () => {},
    failed(error) {
      if (isFault(error) && error.retriable && now() - heardAt < PATIENCE_MS) return
      failure = error
      wake()
    },
  }
  const handedOver = (): readonly LogRecord[] | undefined => offered?.records
  return {
    subscriber,
    moved(next) {
      position = Math.max(position, next)
      wake()
    },
    async next() {
      offered?.taken()
      offered = undefined
      while (!offered && failure === undefined && position < end) await new Promise<void>((resolve) => { wake = resolve })
      if (failure !== undefined) throw failure instanceof Error ? failure : new Error(String(failure))
      const records = handedOver()
      if (records) position = Math.max(position, (records.at(-1)?.offset ?? position) + 1)
      return records
    },
    close() {
      closed = true
      offered?.taken()
    },
  }
}
