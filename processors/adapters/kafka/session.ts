import type { Consumer } from 'kafkajs'
import type { Subscriber } from '../../engine/ports/log.ts'
import { createClient } from './client.ts'
import { within } from '../within.ts'
import { asFault, partitionsAdded, stalled, unavailable } from './faults.ts'
import { consumePartition, type AssignedPartition } from './assigned-partition.ts'
import { watchMembership, type Membership } from './membership.ts'
import type { Settings } from './options.ts'
import type { OpenTopic } from './topic.ts'

export interface SessionPlan {
  readonly settings: Settings
  readonly topic: OpenTopic
  readonly group: string
  readonly subscriber: Subscriber
  /** Consumes this partition only. Default: all assigned partitions. */
  readonly onlyPartition?: number | undefined
  /** Runs with the next offset after each batch. */
  readonly onAdvance?: ((next: number) => void) | undefined
  /** Creates the consumer. Tests pass a consumer with failures that brokers cannot cause. Default: `createConsumer`. */
  readonly consumerOf?: ((settings: Settings, group: string) => Consumer) | undefined
  /** Runs when the consumer has joined the group. */
  onJoin(): void
}

/** One consumer, until an error ends it or it is stopped. */
export interface Session {
  /** Resolves to the error that ended the consumer, undefined after `stop`. */
  readonly ended: Promise<unknown>
  stop(): Promise<void>
}

const MAX_BYTES_PER_PARTITION = 1 << 20
const METADATA_MAX_AGE_MS = 5_000

export function openSession(plan: SessionPlan): Session {
  const { settings, topic, group } = plan
  const consumer = (plan.consumerOf ?? createConsumer)(settings, group)
  const assigned = trackAssignedPartitions(plan, consumer)
  let end: (error: unknown) => void = () => {}
  const endError = new Promise<unknown>((resolve) => {
    end = resolve
  })
  const watch = watchProgress({ plan, assigned, end })
  consumer.on(consumer.events.CRASH, ({ payload }) => end(payload.error))
  let closed: Promise<void> | undefined
  const running = (async () => {
    await consumer.connect()
    await consumer.subscribe({ topics: [topic.name], fromBeginning: true })
    if (closed) return
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: topic.identity.partitions,
      eachBatch: async (payload) => {
        await assigned.get(payload.batch.partition)?.consume(payload)
      },
    })
  })().catch(end)
  const close = async (): Promise<void> => {
    watch.stop()
    await assigned.drain()
    const leave = (): Promise<void> => consumer.disconnect().catch(() => {})
    // kafkajs cannot stop a consumer that is still starting: the consumer would continue afterwards. So it is disconnected again after its start.
    if (!(await within(settings.clock, settings.timing.request * 2, running))) void running.then(leave)
    assigned.revokeAll()
    await leave()
  }
  const closeOnce = (): Promise<void> => (closed ??= close())
  return {
    ended: endError.then(async (error) => {
      await closeOnce()
      return error
    }),
    stop: () => {
      end(undefined)
      return closeOnce()
    },
  }
}

export function createConsumer(settings: Settings, group: string): Consumer {
  const { session, heartbeat, rebalance, fetchWait } = settings.timing
  return createClient(settings).consumer({
    groupId: group,
    sessionTimeout: session,
    heartbeatInterval: heartbeat,
    rebalanceTimeout: rebalance,
    maxBytesPerPartition: MAX_BYTES_PER_PARTITION,
    minBytes: 1,
    maxWaitTimeInMs: fetchWait,
    // kafkajs refreshes the leaders after an error answer. A broker that hangs sends no answer, so `metadataMaxAge` forces a refresh.
    allowAutoTopicCreation: false,
    metadataMaxAge: METADATA_MAX_AGE_MS,
    // kafkajs must not restart the consumer, because `follow` opens a new consumer after every failure. The retries are few,
    // because kafkajs does not look for another coordinator during its retries, but a new consumer does.
    retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 1_000, restartOnFailure: async () => false },
  })
}

interface AssignedPartitions {
  get(partition: number): AssignedPartition | undefined
  all(): readonly AssignedPartition[]
  membership: Membership
  commit(partition: number, offset: number): Promise<void>
  /** Waits for the running batches, starts no further ones and revokes all partitions. */
  drain(): Promise<void>
  revokeAll(): void
}

function trackAssignedPartitions(
  { settings, topic, subscriber, onlyPartition, onAdvance, onJoin }: SessionPlan,
  consumer: Consumer,
): AssignedPartitions {
  const assigned = new Map<number, AssignedPartition>()
  const earlierWork = new Map<number, Promise<void>>()
  let isDraining = false
  const revokeAll = (): void => {
    for (const assignment of assigned.values()) {
      assignment.revoke()
      earlierWork.set(assignment.partition, assignment.settled())
    }
    assigned.clear()
  }
  const membership = watchMembership(consumer, {
    clock: settings.clock,
    session: settings.timing.session,
    lost: revokeAll,
  })
  const topicPartition = (partition: number) => [{ topic: topic.name, partitions: [partition] }]
  const fetching = {
    pause: (partition: number) => unlessEnded(() => consumer.pause(topicPartition(partition))),
    resume: (partition: number) => unlessEnded(() => consumer.resume(topicPartition(partition))),
    seek: (partition: number, offset: number) =>
      unlessEnded(() => consumer.seek({ topic: topic.name, partition, offset: String(offset) })),
  }
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    revokeAll()
    const partitions = payload.memberAssignment[topic.name] ?? []
    if (partitions.length > 0) consumer.pause([{ topic: topic.name, partitions }])
    onJoin()
    if (isDraining) return
    const isConsumed = (partition: number): boolean =>
      partition < topic.identity.partitions && (onlyPartition === undefined || partition === onlyPartition)
    for (const partition of partitions.filter(isConsumed)) {
      const previousWork = earlierWork.get(partition) ?? Promise.resolve()
      assigned.set(
        partition,
        consumePartition({ partition, topic, subscriber, settings, membership, fetching, previousWork, onAdvance }),
      )
    }
  })
  consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { partition, batchSize, lastOffset } }) => {
    if (batchSize === 0) void assigned.get(partition)?.skipMarkers(Number(lastOffset))
  })
  return {
    get: (partition) => (isDraining ? undefined : assigned.get(partition)),
    all: () => [...assigned.values()],
    membership,
    commit: (partition, offset) => consumer.commitOffsets([{ topic: topic.name, partition, offset: String(offset) }]),
    async drain() {
      isDraining = true
      await Promise.all([...assigned.values()].map((assignment) => assignment.finish()))
    },
    revokeAll,
  }
}

/**
 * Runs a command for a consumer. Ignores the error if the consumer has just crashed, because the consumer that replaces it seeks and resumes by
 * itself.
 */
function unlessEnded(command: () => void): void {
  try {
    command()
  } catch {
    return
  }
}

/**
 * Checks at an interval that the topic is still the one that was opened, that no unread record was removed, and that the consumer fetches the
 * records that wait. Also repeats failed commits of offsets. Calls `end` if the consumer makes no progress or gets no answers.
 */
function watchProgress({
  plan,
  assigned,
  end,
}: {
  plan: SessionPlan
  assigned: AssignedPartitions
  end(error: unknown): void
}): { stop(): void } {
  const {
    settings: { clock, timing, logger },
    topic,
    subscriber,
    onlyPartition,
  } = plan
  const stopping = new AbortController()
  const waiting = new Map<number, { offset: number; since: number }>()
  let reportedPartitions = topic.identity.partitions
  const checkAll = async (): Promise<void> => {
    const idle = assigned.all().flatMap((assignment) => {
      const from = assignment.idleOffset()
      return from === undefined ? [] : [{ assignment, from }]
    })
    const watermarks = await topic.watermarks()
    const { partitions } = await topic.verify()
    if (partitions > reportedPartitions && onlyPartition === undefined)
      subscriber.failed(partitionsAdded(topic.name, topic.identity.partitions, (reportedPartitions = partitions)))
    for (const { assignment, from } of idle) {
      const { partition } = assignment
      const range = watermarks[partition]
      if (!range) continue
      await assignment.check(from, range)
      const before = waiting.get(partition)
      if (range.high <= from || assignment.idleOffset() !== from) waiting.delete(partition)
      else if (before?.offset !== from) waiting.set(partition, { offset: from, since: clock.now() })
      else if (clock.now() - before.since >= timing.stall) return end(stalled(topic.name, partition))
      const uncommitted = assignment.uncommittedOffset()
      if (uncommitted !== undefined)
        await assigned.commit(partition, uncommitted).catch((error: unknown) => assigned.membership.failed(error))
    }
  }
  void (async () => {
    for (;;) {
      await clock.sleep(timing.check, stopping.signal)
      if (stopping.signal.aborted) return
      await checkAll().catch((error: unknown) => {
        const fault = asFault(`Kafka does not return the state of topic ${topic.name}`, error)
        if (fault.retriable) logger.debug({ topic: topic.name, error: fault.message }, 'the check of the topic failed')
        else for (const assignment of assigned.all()) assignment.restart(fault)
      })
      if (clock.now() - assigned.membership.lastAnswerAt() > timing.session + timing.rebalance)
        end(unavailable('The consumer gets no answers'))
    }
  })()
  return { stop: () => stopping.abort() }
}
