import type { Consumer } from 'kafkajs'
import type { Subscriber } from '../../engine/log.ts'
import { createClient } from './client.ts'
import { within } from '../within.ts'
import { asFault, partitionsAdded, stalled, unavailable } from './faults.ts'
import { holdPartition, type Hold } from './hold.ts'
import { watchMembership, type Membership } from './membership.ts'
import type { Settings } from './options.ts'
import type { KeptTopic } from './topic.ts'

export interface SessionPlan {
  readonly settings: Settings
  readonly topic: KeptTopic
  readonly group: string
  readonly subscriber: Subscriber
  /** Reads this partition and leaves the others alone. */
  readonly only?: number | undefined
  readonly moved?: ((next: number) => void) | undefined
  /** For tests: a consumer that fails in ways that brokers do not. */
  readonly consumerOf?: ((settings: Settings, group: string) => Consumer) | undefined
  joined(): void
}

/** The life of one consumer, until it ends by an error or is stopped. */
export interface Session {
  readonly ended: Promise<unknown>
  stop(): Promise<void>
}

const MAX_BYTES_PER_PARTITION = 1 << 20
const METADATA_MAX_AGE_MS = 5_000

export function openSession(plan: SessionPlan): Session {
  const { settings, topic, group } = plan
  const consumer = (plan.consumerOf ?? createConsumer)(settings, group)
  const holds = createHolds(plan, consumer)
  let end: (error: unknown) => void = () => {}
  const over = new Promise<unknown>((resolve) => { end = resolve })
  const watch = watchProgress({ plan, holds, end })
  consumer.on(consumer.events.CRASH, ({ payload }) => end(payload.error))
  let closed: Promise<void> | undefined
  const running = (async () => {
    await consumer.connect()
    await consumer.subscribe({ topics: [topic.name], fromBeginning: true })
    if (closed) return
    await consumer.run({
      autoCommit: false, eachBatchAutoResolve: false, partitionsConsumedConcurrently: topic.kept.partitions,
      eachBatch: async (payload) => { await holds.get(payload.batch.partition)?.take(payload) },
    })
  })().catch(end)
  const close = async (): Promise<void> => {
    watch.stop()
    await holds.drain()
    const leave = (): Promise<void> => consumer.disconnect().catch(() => {})
    // The client cannot stop what has not yet started, and would go on afterwards.
    if (!(await within(settings.clock, settings.timing.request * 2, running))) void running.then(leave)
    holds.lose()
    await leave()
  }
  const closeOnce = (): Promise<void> => (closed ??= close())
  return {
    ended: over.then(async (error) => { await closeOnce(); return error }),
    stop: () => { end(undefined); return closeOnce() },
  }
}

export function createConsumer(settings: Settings, group: string): Consumer {
  const { session, heartbeat, rebalance, fetchWait } = settings.timing
  return createClient(settings).consumer({
    groupId: group, sessionTimeout: session, heartbeatInterval: heartbeat, rebalanceTimeout: rebalance,
    maxBytesPerPartition: MAX_BYTES_PER_PARTITION, minBytes: 1, maxWaitTimeInMs: fetchWait,
    // A leader that hangs answers nothing that would make the client look again who leads; age does.
    allowAutoTopicCreation: false, metadataMaxAge: METADATA_MAX_AGE_MS,
    // Whether it starts again is decided in one place, and not by the client in some of the cases. Not too patient:
    // it never looks for another coordinator than the one it has, and only a new consumer does.
    retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 1_000, restartOnFailure: async () => false },
  })
}

interface Holds {
  get(partition: number): Hold | undefined
  all(): readonly Hold[]
  membership: Membership
  commit(hold: Hold, offset: number): Promise<void>
  /** Lets what is under way finish and begins nothing more. */
  drain(): Promise<void>
  lose(): void
}

function createHolds({ settings, topic, subscriber, only, moved, joined }: SessionPlan, consumer: Consumer): Holds {
  const holds = new Map<number, Hold>()
  const earlier = new Map<number, Promise<void>>()
  let draining = false
  const lose = (): void => {
    for (const hold of holds.values()) {
      hold.lose()
      earlier.set(hold.partition, hold.settled())
    }
    holds.clear()
  }
  const membership = watchMembership(consumer, { clock: settings.clock, session: settings.timing.session, lost: lose })
  const at = (partition: number) => [{ topic: topic.name, partitions: [partition] }]
  const fetching = {
    pause: (partition: number) => unlessEnded(() => consumer.pause(at(partition))),
    resume: (partition: number) => unlessEnded(() => consumer.resume(at(partition))),
    seek: (partition: number, offset: number) => unlessEnded(() => consumer.seek({ topic: topic.name, partition, offset: String(offset) })),
  }
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    lose()
    const partitions = payload.memberAssignment[topic.name] ?? []
    if (partitions.length > 0) consumer.pause([{ topic: topic.name, partitions }])
    joined()
    if (draining) return
    for (const partition of partitions.filter((one) => one < topic.kept.partitions && (only === undefined || one === only))) {
      const before = earlier.get(partition) ?? Promise.resolve()
      holds.set(partition, holdPartition({ partition, topic, subscriber, settings, membership, fetching, before, moved }))
    }
  })
  consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { partition, batchSize, lastOffset } }) => {
    if (batchSize === 0) void holds.get(partition)?.passOver(Number(lastOffset))
  })
  return {
    get: (partition) => (draining ? undefined : holds.get(partition)),
    all: () => [...holds.values()],
    membership,
    commit: (hold, offset) => consumer.commitOffsets([{ topic: topic.name, partition: hold.partition, offset: String(offset) }]),
    async drain() {
      draining = true
      await Promise.all([...holds.values()].map((hold) => hold.finish()))
    },
    lose,
  }
}

/** A consumer that has just crashed takes no orders; the one that follows it begins anew. */
function unlessEnded(order: () => void): void {
  try {
    order()
  } catch {
    return
  }
}

/** Checks beside the batches: that the topic is the one kept, that nothing was cut off, and that what is there comes. */
function watchProgress({ plan, holds, end }: { plan: SessionPlan; holds: Holds; end(error: unknown): void }): { stop(): void } {
  const { settings: { clock, timing, logger }, topic, subscriber, only } = plan
  const stopping = new AbortController()
  const stuck = new Map<number, { at: number; since: number }>()
  let added = topic.kept.partitions
  const round = async (): Promise<void> => {
    const idle = holds.all().flatMap((hold) => { const from = hold.idleAt(); return from === undefined ? [] : [{ hold, from }] })
    const marks = await topic.watermarks()
    const { partitions } = await topic.verify()
    if (partitions > added && only === undefined) subscriber.failed(partitionsAdded(topic.name, topic.kept.partitions, added = partitions))
    for (const { hold, from } of idle) {
      const mark = marks[hold.partition]
      if (!mark) continue
      await hold.check(from, mark)
      const seen = stuck.get(hold.partition)
      if (mark.high <= from || hold.idleAt() !== from) stuck.delete(hold.partition)
      else if (seen?.at !== from) stuck.set(hold.partition, { at: from, since: clock.now() })
      else if (clock.now() - seen.since >= timing.stall) return end(stalled(topic.name, hold.partition))
      const behind = hold.uncommitted()
      if (behind !== undefined) await holds.commit(hold, behind).catch((error: unknown) => holds.membership.failed(error))
    }
  }
  void (async () => {
    for (;;) {
      await clock.sleep(timing.check, stopping.signal)
      if (stopping.signal.aborted) return
      await round().catch((error: unknown) => {
        const fault = asFault(`Topic ${topic.name} cannot be checked`, error)
        if (fault.retriable) logger.debug({ topic: topic.name, error: fault.message }, 'the topic could not be checked')
        else for (const hold of holds.all()) hold.refuse(fault)
      })
      if (clock.now() - holds.membership.heardAt() > timing.session + timing.rebalance) end(unavailable('The consumer fell silent'))
    }
  })()
  return { stop: () => stopping.abort() }
}
