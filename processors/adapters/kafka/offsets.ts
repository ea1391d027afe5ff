import { createClient } from './client.ts'
import { within } from '../within.ts'
import { asFault, unavailable } from './faults.ts'
import type { Settings } from './options.ts'

interface OffsetPlan { settings: Settings; topic: string; group: string; offsets: ReadonlyMap<number, number> }

/** Joins the group for a moment to commit: the client's own way takes seconds, and waits for a fetch. */
export async function setOffsets({ settings, topic, group, offsets }: OffsetPlan): Promise<void> {
  const { session, heartbeat, fetchWait } = settings.timing
  const consumer = createClient(settings).consumer({
    groupId: group, sessionTimeout: session, heartbeatInterval: heartbeat, maxWaitTimeInMs: fetchWait, allowAutoTopicCreation: false,
    retry: { retries: 4, initialRetryTime: 100, maxRetryTime: 1_000, restartOnFailure: async () => false },
  })
  const joined = new Promise<void>((resolve, reject) => {
    consumer.on(consumer.events.GROUP_JOIN, () => {
      consumer.pause([{ topic }])
      resolve()
    })
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
  })
  joined.catch(() => {})
  try {
    await consumer.connect()
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: async () => {} })
    if (!(await within(settings.clock, session, joined))) throw unavailable(`Group ${group} did not form`)
    await consumer.commitOffsets([...offsets].map(([partition, offset]) => ({ topic, partition, offset: String(offset) })))
  } catch (error) {
    throw asFault(`The offsets of group ${group} could not be set`, error)
  } finally {
    await consumer.disconnect().catch(() => {})
  }
}
