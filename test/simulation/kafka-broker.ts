import { EventEmitter } from 'node:events'
import type { Consumer, ConsumerRunConfig, EachBatchPayload, KafkaMessage } from 'kafkajs'
import type { LogRecord } from '../../processors/engine/ports/log.ts'

/**
 * A model of Kafka's group coordinator, as its clients see it. If a member joins or leaves, a rebalance begins: all remaining members join
 * again, and each gets its partitions with a new generation number. (A generation of Kafka is not a generation of items.) The coordinator
 * rejects heartbeats and commits of members of an older generation.
 */
export interface Broker {
  readonly partitions: readonly (readonly LogRecord[])[]
  readonly committed: Map<number, number>
  /** Receives a heartbeat. Returns the error code of Kafka's protocol, or undefined if there is no error. */
  heartbeat(consumer: ModelConsumer): string | undefined
  join(consumer: ModelConsumer): void
  leave(consumer: ModelConsumer): void
  commit(consumer: ModelConsumer, partition: number, offset: number): string | undefined
  isMember(consumer: ModelConsumer): boolean
  /** The member to which the coordinator has assigned the partition. Undefined before the first assignment. */
  owner(partition: number): ModelConsumer | undefined
  describe(): string
}

export const createBroker = (partitions: readonly (readonly LogRecord[])[]): Broker => {
  const joined = new Map<ModelConsumer, boolean>()
  const owners = new Map<number, ModelConsumer>()
  const committed = new Map<number, number>()
  let generation = 0
  let isStable = true

  const complete = (): void => {
    if (isStable || joined.size === 0 || [...joined.values()].includes(false)) return
    isStable = true
    generation += 1
    owners.clear()
    const members = [...joined.keys()].sort((one, other) => (one.name < other.name ? -1 : 1))
    for (const partition of partitions.keys())
      owners.set(partition, members[partition % members.length] as ModelConsumer)
    for (const member of members)
      member.assigned(
        [...owners].filter(([, owner]) => owner === member).map(([partition]) => partition),
        generation,
      )
  }
  const rebalance = (): void => {
    isStable = false
    for (const member of joined.keys()) joined.set(member, false)
  }
  return {
    partitions,
    committed,
    heartbeat: (consumer) => {
      if (!joined.has(consumer)) return 'UNKNOWN_MEMBER_ID'
      if (!isStable) return 'REBALANCE_IN_PROGRESS'
      return consumer.generation === generation ? undefined : 'ILLEGAL_GENERATION'
    },
    join: (consumer) => {
      if (isStable) rebalance()
      joined.set(consumer, true)
      complete()
    },
    leave: (consumer) => {
      if (!joined.delete(consumer)) return
      if (isStable) rebalance()
      complete()
    },
    commit: (consumer, partition, offset) => {
      if (!joined.has(consumer)) return 'UNKNOWN_MEMBER_ID'
      if (consumer.generation !== generation) return 'ILLEGAL_GENERATION'
      committed.set(partition, offset)
      return undefined
    },
    isMember: (consumer) => joined.has(consumer),
    owner: (partition) => owners.get(partition),
    describe: () =>
      [
        isStable ? 'stable' : 'joining',
        ...[...joined]
          .map(([{ name, generation: of }, has]) => `${name}${has ? '+' : '-'}${of === generation ? 'now' : 'old'}`)
          .sort(),
        ...[...owners].map(([partition, { name }]) => `${partition}:${name}`),
        JSON.stringify([...committed]),
      ].join(' '),
  }
}

/** The process of a consumer. A paused process runs no callbacks. */
export interface Pulse {
  now(): number
  /** Calls `run` now, or as soon as the process is no longer paused. */
  whenAwake(run: () => void): void
}

/** A model of the kafkajs consumer of one process. `port` has the functions that the adapter uses. `deliver` models a fetch. */
export interface ModelConsumer {
  readonly name: string
  readonly generation: number
  readonly port: Consumer
  assigned(partitions: readonly number[], generation: number): void
  /** Sends a heartbeat, and joins the group again if the coordinator answers with an error. */
  beat(): void
  /** Returns true if a fetch of the partition can return records now. */
  canDeliver(partition: number): boolean
  deliver(partition: number): void
  describe(): string
}

const EVENTS = {
  GROUP_JOIN: 'join',
  HEARTBEAT: 'heartbeat',
  REQUEST: 'request',
  CRASH: 'crash',
  END_BATCH_PROCESS: 'end',
}
const [JOIN_GROUP, HEARTBEAT, SYNC_GROUP] = [11, 12, 14]

const refused = (type: string): Error =>
  Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type, retriable: true })

const messageOf = ({ offset, timestamp, key, value }: LogRecord): KafkaMessage =>
  ({
    offset: String(offset),
    timestamp: String(timestamp),
    key: key === null ? null : Buffer.from(key),
    value: Buffer.from(value),
    attributes: 0,
  }) as KafkaMessage

export const createConsumer = (broker: Broker, name: string, pulse: Pulse): ModelConsumer => {
  const events = new EventEmitter()
  const fetching = new Map<number, { at: number; isPaused: boolean; isBusy: boolean }>()
  let generation = 0
  let eachBatch: ConsumerRunConfig['eachBatch']
  let isRunning = false

  const emit = (event: string, payload: object): void => void events.emit(event, { payload })
  const request = (apiKey: number, sentAt: number): void => emit(EVENTS.REQUEST, { apiKey, sentAt })
  const join = (): void => {
    if (!isRunning) return
    request(JOIN_GROUP, pulse.now())
    broker.join(self)
  }
  const heartbeat = (then: (error: string | undefined) => void): void => {
    const sentAt = pulse.now()
    const error = broker.heartbeat(self)
    pulse.whenAwake(() => {
      if (!isRunning) return
      request(HEARTBEAT, sentAt)
      if (error === undefined) emit(EVENTS.HEARTBEAT, {})
      then(error)
    })
  }
  const positionOf = (partition: number) => {
    const found = fetching.get(partition)
    if (found === undefined) throw new Error(`${name} is not assigned partition ${partition}`)
    return found
  }
  const commit = async (partition: number, offset: string): Promise<void> => {
    const error = broker.commit(self, partition, Number(offset))
    await new Promise<void>((resolve) => pulse.whenAwake(resolve))
    if (error !== undefined) throw refused(error)
  }
  const payloadOf = (partition: number, messages: readonly KafkaMessage[]): EachBatchPayload =>
    ({
      batch: {
        topic: 'events',
        partition,
        messages: [...messages],
        highWatermark: String(broker.partitions[partition]?.length ?? 0),
        lastOffset: () => messages.at(-1)?.offset ?? '-1',
      },
      resolveOffset: (offset: string) => {
        const fetchState = fetching.get(partition)
        if (fetchState !== undefined) fetchState.at = Number(offset) + 1
      },
      heartbeat: () =>
        new Promise<void>((resolve, reject) =>
          heartbeat((error) => (error === undefined ? resolve() : reject(refused(error)))),
        ),
      commitOffsetsIfNecessary: async ({
        topics,
      }: {
        topics: { partitions: { partition: number; offset: string }[] }[]
      }) => {
        for (const one of topics.flatMap(({ partitions }) => partitions)) await commit(one.partition, one.offset)
      },
    }) as object as EachBatchPayload

  const port = {
    events: EVENTS,
    on: (event: string, listener: (...args: unknown[]) => void) => {
      events.on(event, listener)
      return () => events.off(event, listener)
    },
    connect: async () => undefined,
    subscribe: async () => undefined,
    run: async (config: ConsumerRunConfig) => {
      eachBatch = config.eachBatch
      isRunning = true
      join()
    },
    pause: (topics: { partitions: number[] }[]) =>
      topics.flatMap(({ partitions }) => partitions).forEach((partition) => (positionOf(partition).isPaused = true)),
    resume: (topics: { partitions: number[] }[]) =>
      topics.flatMap(({ partitions }) => partitions).forEach((partition) => (positionOf(partition).isPaused = false)),
    seek: ({ partition, offset }: { partition: number; offset: string }) =>
      void (positionOf(partition).at = Number(offset)),
    commitOffsets: async (offsets: { partition: number; offset: string }[]) => {
      for (const { partition, offset } of offsets) await commit(partition, offset)
    },
    disconnect: async () => {
      isRunning = false
      broker.leave(self)
    },
  }
  const self: ModelConsumer = {
    name,
    get generation() {
      return generation
    },
    port: port as object as Consumer,
    assigned: (partitions, number) => {
      const sentAt = pulse.now()
      pulse.whenAwake(() => {
        if (!isRunning) return
        generation = number
        // Forgets the batches of the previous generation, which can still be under way. So a new batch can begin at the same time.
        fetching.clear()
        for (const partition of partitions)
          fetching.set(partition, { at: broker.committed.get(partition) ?? 0, isPaused: false, isBusy: false })
        request(SYNC_GROUP, sentAt)
        emit(EVENTS.GROUP_JOIN, { memberAssignment: { events: [...partitions] } })
      })
    },
    beat: () =>
      heartbeat((error) => {
        if (error !== undefined) join()
      }),
    canDeliver: (partition) => {
      const fetchState = fetching.get(partition)
      return (
        isRunning &&
        fetchState !== undefined &&
        !fetchState.isPaused &&
        !fetchState.isBusy &&
        fetchState.at < (broker.partitions[partition]?.length ?? 0)
      )
    },
    deliver: (partition) => {
      const fetchState = positionOf(partition)
      // The fetch also returns the record before the position, because real brokers return whole batches of records.
      const messages = (broker.partitions[partition] ?? [])
        .slice(Math.max(0, fetchState.at - 1), fetchState.at + 1)
        .map(messageOf)
      fetchState.isBusy = true
      const done = () => void (fetchState.isBusy = false)
      void eachBatch?.(payloadOf(partition, messages)).then(done, done)
    },
    describe: () =>
      `${name} ${isRunning ? (generation === 0 ? 'new' : 'runs') : 'ended'} ${JSON.stringify([...fetching].sort(([one], [other]) => one - other))}`,
  }
  return self
}
