import { follow } from '../../processors/adapters/kafka/follow.ts'
import { settingsOf } from '../../processors/adapters/kafka/options.ts'
import type { OpenTopic } from '../../processors/adapters/kafka/topic.ts'
import type { Clock } from '../../processors/engine/ports/clock.ts'
import type { Assignment, Log, LogRecord, Subscriber } from '../../processors/engine/ports/log.ts'
import { startProcessor, type Processor } from '../../processors/engine/run/processor.ts'
import type { Store } from '../../processors/engine/ports/store.ts'
import { projection, type Domain, type Result } from '../../projections/projection.ts'
import type { Item } from '../../projections/item.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Event } from '../../schemas/event.ts'
import type { MemoryStore } from '../../testing/memory-store.ts'
import { createConsumer, type Broker, type ModelConsumer, type Pulse } from './kafka-broker.ts'

export const TIMING = {
  session: 6_000,
  heartbeat: 2_000,
  rebalance: 600_000,
  check: 5_000,
  stall: 600_000,
  retry: 250,
  retryMax: 2_000,
  request: 5_000,
}

export type List = Item & { readonly ids: readonly number[] }
export const listKey = (partition: number) => ({ PK: `KEY#${partition}`, SK: 'LIST' })
type Ticked = Event<'Ticked', { id: number }>

/** Each event adds its number to a list. So the list shows if an event was skipped, folded twice or folded out of order. */
const domain: Domain = {
  name: 'ticks',
  topic: 'events',
  table: { name: 'ticks', ttl: 'ttl', indexes: [] },
  partitions: { keyIn: (pk) => pk.slice('KEY#'.length), example: 'KEY#0' },
  foldVersion: 1,
  projections: [
    projection<Ticked>('lists', {
      Ticked: ({ meta, data }, get): Result => {
        const key = listKey(Number(meta.key))
        return { items: [{ ...key, ids: [...(get<List>(key)?.ids ?? []), data.id] }] }
      },
    }),
  ],
}

const codec: Codec = {
  encode: (event) => Buffer.from(JSON.stringify(event)),
  decode: (value) => JSON.parse(Buffer.from(value).toString()) as Event,
}

export const tick = (partition: number, offset: number): LogRecord => ({
  partition,
  offset,
  timestamp: offset,
  key: String(partition),
  value: codec.encode({
    type: 'Ticked',
    data: { id: offset },
    personal: null,
    meta: {
      eventId: `${partition}:${offset}`,
      key: String(partition),
      occurredAt: offset,
      recordedAt: offset,
      source: 'model',
      correlationId: null,
      causationId: null,
      actorId: 'a',
      subjectId: null,
      request: null,
    },
  }),
})

/** The point at which the process of a member is paused while it works on a batch. */
type Stop = 'before its write' | 'after its write'
/** The faults of a batch: the process is paused, the store is slow, or the batch fails. */
export type Trouble = Stop | 'slow' | 'fails'

/** One process: the real processor over the real adapter, with the consumer of the model. */
export interface Member {
  readonly name: string
  readonly consumer: ModelConsumer | undefined
  readonly isFrozen: boolean
  readonly leases: readonly Assignment[]
  start(): void
  leave(): void
  freeze(): void
  wake(): void
  /** Sets the fault of the next batch of this member. */
  meet(trouble: Trouble): void
  /** True if a write waits for the slow store. */
  readonly isWaiting: boolean
  /** The slow store answers: the waiting writes continue. */
  answer(): void
  /** Runs the callbacks that are due. */
  fire(): void
  describe(): string
}

export interface MemberParts {
  readonly name: string
  readonly broker: Broker
  readonly store: MemoryStore
  readonly now: () => number
  /** Reports a broken rule of the adapter or the engine. */
  readonly broken: (what: string) => void
  /** Called when a write is rejected because another member has written. */
  readonly refused: () => void
}

/** A clock for one process. A sleep ends with the first call of `fire` after its time, or if its signal is aborted. */
const createSleeps = (now: () => number) => {
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>()
  const clock: Clock = {
    now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const wake = () => {
          sleepers.delete(sleeper)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        const sleeper = { at: now() + ms, wake }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', wake, { once: true })
      }),
  }
  return {
    clock,
    fire: () =>
      [...sleepers]
        .filter(({ at }) => at <= now())
        .sort((one, other) => one.at - other.at)
        .forEach(({ wake }) => wake()),
    due: () => [...sleepers].map(({ at }) => at - now()).sort((one, other) => one - other),
  }
}

const createPulse = (now: () => number) => {
  let isFrozen = false
  const waiting: (() => void)[] = []
  const whenAwake: Pulse['whenAwake'] = (run) => void (isFrozen ? waiting.push(run) : run())
  return {
    now,
    whenAwake,
    waiting,
    isFrozen: () => isFrozen,
    awake: () => new Promise<void>((resolve) => whenAwake(resolve)),
    freeze: () => void (isFrozen = true),
    wake: () => {
      isFrozen = false
      for (const run of waiting.splice(0)) run()
    },
  }
}

export const createMember = (parts: MemberParts): Member => {
  const { name, broker, now, broken } = parts
  const pulse = createPulse(now)
  const sleeps = createSleeps(now)
  const leases: Assignment[] = []
  let consumer: ModelConsumer | undefined
  let running: Promise<Processor> | undefined
  let trouble: Trouble | undefined
  const unanswered: (() => void)[] = []
  const underWay = new Map<number, number>()
  const settings = settingsOf({ brokers: ['model:1'], clock: sleeps.clock, timing: TIMING })
  const marks = (partition: number) => ({ partition, low: 0, high: broker.partitions[partition]?.length ?? 0 })
  const watermarks = async () => {
    await pulse.awake()
    return broker.partitions.map((_, partition) => marks(partition))
  }
  const identity = { cluster: 'c', topic: 't', partitions: broker.partitions.length }
  const topic: OpenTopic = {
    name: 'events',
    identity,
    watermarks,
    verify: async () => ({ ...identity, ready: true }),
    watermarksOf: async (partition) => (await watermarks())[partition] ?? marks(partition),
  }
  const observed = (subscriber: Subscriber): Subscriber => ({
    ...subscriber,
    batch: async (records, lease) => {
      if (!leases.includes(lease)) leases.push(lease)
      const { partition } = lease
      if (broker.owner(partition) !== consumer || consumer === undefined || !broker.isMember(consumer))
        broken(`${name} began a batch of partition ${partition}, which is not its own`)
      if (!lease.isCurrent()) broken(`${name} began a batch of partition ${partition} without a lease`)
      if ((underWay.get(partition) ?? 0) > 0) broken(`${name} has two batches of partition ${partition} under way`)
      if (trouble === 'fails') {
        trouble = undefined
        throw new Error('not now')
      }
      underWay.set(partition, (underWay.get(partition) ?? 0) + 1)
      await subscriber.batch(records, lease).finally(() => underWay.set(partition, (underWay.get(partition) ?? 0) - 1))
    },
  })
  const log = {
    topic: 'events',
    watermarks,
    subscribe: async (group: string, subscriber: Subscriber) =>
      follow({
        settings,
        topic,
        group,
        subscriber: observed(subscriber),
        consumerOf: () => (consumer = createConsumer(broker, name, pulse)).port,
      }),
  } as object as Log
  const stopAt = (stop: Stop): void => {
    if (trouble !== stop) return
    trouble = undefined
    pulse.freeze()
  }
  const slow = async (): Promise<void> => {
    if (trouble !== 'slow') return
    trouble = undefined
    await new Promise<void>((resolve) => unanswered.push(resolve))
  }
  const store = frozenStore(parts, { awake: pulse.awake, stopAt, slow })
  return {
    name,
    leases,
    get consumer() {
      return consumer
    },
    get isFrozen() {
      return pulse.isFrozen()
    },
    start: () => void (running = startProcessor({ domain, generation: 1, log, store, codec, clock: sleeps.clock })),
    leave: () => {
      consumer = undefined
      void running?.then((one) => one.stop())
    },
    freeze: pulse.freeze,
    wake: pulse.wake,
    meet: (next) => void (trouble = next),
    get isWaiting() {
      return unanswered.length > 0
    },
    answer: () => unanswered.splice(0).forEach((resolve) => resolve()),
    fire: () => void (pulse.isFrozen() || sleeps.fire()),
    describe: () =>
      [
        name,
        pulse.isFrozen() ? `frozen ${pulse.waiting.length}` : 'awake',
        consumer?.describe() ?? 'none',
        String(trouble),
        `waits ${unanswered.length}`,
        JSON.stringify(sleeps.due()),
        leases
          .filter((lease) => lease.isCurrent())
          .map(({ partition }) => partition)
          .join(),
      ].join(' '),
  }
}

/** The store of one process. A paused process sends no calls and receives no answers. */
const frozenStore = (
  { store, refused }: MemberParts,
  { awake, stopAt, slow }: { awake(): Promise<void>; stopAt(stop: Stop): void; slow(): Promise<void> },
): Store => {
  const around = async <T>(work: () => Promise<T>): Promise<T> => {
    await awake()
    const answer = await work()
    await awake()
    return answer
  }
  return {
    ...store,
    load: (keys) => around(() => store.load(keys)),
    checkpoints: () => around(() => store.checkpoints()),
    commit: async (spans, checkpoint) => {
      const isWrite = spans.some((span) => span.length > 0)
      if (isWrite) stopAt('before its write')
      if (isWrite) await slow()
      return around(async () => {
        // The store rejects a write of a member that lost its partition: the checkpoint has moved, or an item has another position.
        const outcomes = await store.commit(spans, checkpoint).catch((error: unknown) => {
          refused()
          throw error
        })
        if (outcomes.some(({ applied }) => applied !== 'all')) refused()
        if (isWrite) stopAt('after its write')
        return outcomes
      })
    },
    reader: (time) => {
      const reader = store.reader(time)
      return { ...reader, query: (query) => around(() => reader.query(query)) }
    },
  }
}
