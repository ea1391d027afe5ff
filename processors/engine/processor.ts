import type { Domain, Outcome } from '../../projections/projection.ts'
import type { Codec } from '../../schemas/codec.ts'
import { Fault } from '../../schemas/fault.ts'
import { advance, type Advanced } from './advance.ts'
import type { Clock } from './clock.ts'
import { decidersOf } from './decide.ts'
import { createLane, type Lane } from './lane.ts'
import type { Lease, Log, LogRecord, Watermarks } from './log.ts'
import { outboxOf } from './outbox.ts'
import { healLane, park, poisonOf, type Work } from './healing.ts'
import { parkedOf, passed, passing, type Parked } from './parking.ts'
import { retrying } from './retry.ts'
import { sortRecords, type Sorted } from './sort.ts'
import type { Checkpoint, Store } from './store.ts'
import { timerChanges } from './timers.ts'

/** What one batch came to. Every event below `next` is in the items, or its key is parked. */
export interface Passed {
  readonly partition: number
  /** The first offset of the batch, and the one behind its last. */
  readonly from: number
  readonly next: number
  /** Events that were not simply applied; `undefined` where only the items can tell. */
  readonly exceptions: ReadonlyMap<number, Outcome | undefined>
  readonly events: number
  readonly parked: number
  readonly conflicts: number
  /** Whether something was put into the outbox. */
  readonly sends: boolean
  /** `recordedAt` of the newest event, epoch milliseconds; 0 when none could be read. */
  readonly newest: number
}

export interface ProcessorParts {
  readonly domain: Domain
  readonly generation: number
  readonly log: Log
  readonly store: Store
  readonly codec: Codec
  readonly clock: Clock
  readonly heard?: (passed: Passed) => void
  readonly failed?: (error: unknown) => void
  readonly parked?: (parked: Parked) => void
}

export interface Running {
  stop(): Promise<void>
  /** Resolves when everything the log held at the call is in the items. */
  caughtUp(): Promise<void>
  /** Tries the parked keys whose retry was asked for; resolves to how many are healed. */
  heal(): Promise<number>
  positions(): ReadonlyMap<number, number>
}

export const groupOf = (domain: string, generation: number): string => `${domain}.g${generation}`

/** One member of one generation's group: folds what the log brings it, save first, commit after. */
export const startProcessor = async (parts: ProcessorParts): Promise<Running> => {
  const { domain, generation, log, store, codec, clock, failed = () => {} } = parts
  const deciders = decidersOf(domain, { outbox: outboxOf(codec), timers: timerChanges(codec) })
  const lanes = new Map<number, Lane>()
  const stopping = new AbortController()

  const assigned = async ({ partition, low, high }: Watermarks): Promise<number> => {
    const next = (await store.checkpoints()).get(partition) ?? 0
    if (next < low) throw trimmed(log.topic, { partition, next, mark: low })
    // The marks were taken before the checkpoint: whoever held the partition until now may have gone past them since.
    const end = next > high ? await endOf(log, partition) : high
    if (next > end) throw truncated(log.topic, { partition, next, mark: end })
    lanes.set(partition, createLane(partition, next, await parkedOf(store.reader(clock.now), partition)))
    return next
  }
  const batch = async (records: readonly LogRecord[], lease: Lease): Promise<void> => {
    const lane = lanes.get(lease.partition)
    if (lane === undefined) throw new Fault('not-assigned', `Partition ${lease.partition} of ${log.topic} was not assigned.`, { retriable: true })
    await lane.inTurn(async () => {
      const fresh = records.filter(({ offset }) => offset >= lane.next)
      if (fresh.length === 0 || !lease.held()) return
      const passed = await process({ parts, deciders, lane, signal: stopping.signal }, fresh)
      parts.heard?.(passed)
    })
  }
  const revoked = (partition: number) => void lanes.delete(partition)
  const subscription = await log.subscribe(groupOf(domain.name, generation), { assigned, batch, revoked, failed })

  const heal = async (): Promise<number> => {
    const healed = await Promise.all([...lanes.values()].map((lane) => lane.inTurn(() => healLane({ parts, deciders, lane, signal: stopping.signal }))))
    return healed.reduce((sum, count) => sum + count, 0)
  }
  const positions = () => new Map([...lanes.values()].map(({ partition, next }) => [partition, next]))
  const caughtUp = async () => {
    const ends = (await log.watermarks()).filter(({ high }) => high > 0)
    for (;;) {
      const saved = await store.checkpoints()
      if (ends.every(({ partition, high }) => (saved.get(partition) ?? 0) >= high)) return
      await clock.sleep(5)
    }
  }
  const stop = async () => {
    stopping.abort()
    await subscription.stop()
  }
  return { stop, caughtUp, heal, positions }
}

const process = async (work: Work, records: readonly LogRecord[]): Promise<Passed> => {
  const { parts, lane, signal } = work
  const { clock, failed = () => {} } = parts
  const checkpoint = { partition: lane.partition, offset: (records.at(-1) as LogRecord).offset + 1 }
  let conflicts = 0
  const attempt = async () => {
    const sorted = await sortStanding(work, records)
    return { sorted, advanced: await save(work, sorted, { checkpoint, conflicted: () => (conflicts += 1) }) }
  }
  const { sorted, advanced } = await retrying(attempt, { clock, signal, failed })
  lane.advance(checkpoint.offset)
  return passedOf(records, { sorted, advanced, conflicts, checkpoint, sends: advanced.some(({ sends }) => sends) })
}

/** Sorts, and writes of every key that is passed over that it is: only while it still stands may its events be left alone. */
const sortStanding = async ({ parts, deciders, lane }: Work, records: readonly LogRecord[]): Promise<Sorted> => {
  const { store, codec, clock } = parts
  const through = (records.at(-1) as LogRecord).offset
  for (;;) {
    const sorted = sortRecords(records, { codec, deciders, isParked: lane.isParked })
    const entries = lane.standing(sorted.standing).map((was) => ({ was, now: passing(was, through) }))
    if (entries.length === 0) return sorted
    const outcomes = await store.commit(entries.map(({ was, now }) => passed(was, now)))
    if (outcomes.every(({ applied }) => applied === 'all')) {
      for (const { now } of entries) lane.park(now)
      return sorted
    }
    lane.learn(await parkedOf(store.reader(clock.now), lane.partition))
  }
}

/** Items first; keys found poisoned are parked; only then the checkpoint. */
const save = async (work: Work, { spans, poisons }: Sorted, { checkpoint, conflicted }: { checkpoint: Checkpoint; conflicted: () => void }) => {
  const { store } = work.parts
  const advanced = await advance({ store, spans, conflicted, ...(poisons.length === 0 ? { checkpoint } : {}) })
  const found = [...poisons, ...advanced.flatMap(poisonOf)]
  if (found.length === 0) return advanced
  await park(work, found, checkpoint.offset - 1)
  await store.commit([], checkpoint)
  return advanced
}

interface Processed {
  readonly sorted: Sorted
  readonly advanced: readonly Advanced[]
  readonly conflicts: number
  readonly sends: boolean
  readonly checkpoint: Checkpoint
}

const passedOf = (records: readonly LogRecord[], { sorted, advanced, conflicts, sends, checkpoint }: Processed): Passed => {
  const exceptions = new Map<number, Outcome | undefined>()
  const stands = (offset: number, reason: string) => exceptions.set(offset, { kind: 'parked', reason })
  let newest = 0
  for (const { span, outcomes, poison } of advanced) {
    for (const [index, { offset, event }] of span.heard.entries()) {
      newest = Math.max(newest, event.meta.recordedAt)
      if (index >= outcomes.length) stands(offset, poison?.error instanceof Error ? poison.error.message : 'the key is parked')
      else if (outcomes[index]?.kind !== 'applied' && span.decider.decides.has(event.type)) exceptions.set(offset, outcomes[index])
    }
  }
  for (const offset of sorted.parked) stands(offset, 'an earlier event of this key could not be folded')
  for (const { position, error } of sorted.poisons) stands(position.offset, error instanceof Error ? error.message : String(error))
  const parked = [...exceptions.values()].filter((outcome) => outcome?.kind === 'parked').length
  return { partition: checkpoint.partition, from: records[0]?.offset ?? 0, next: checkpoint.offset, exceptions, events: records.length, parked, conflicts, sends, newest }
}

const endOf = async (log: Log, partition: number): Promise<number> =>
  (await log.watermarks()).find((marks) => marks.partition === partition)?.high ?? 0

interface Beyond {
  readonly partition: number
  readonly next: number
  readonly mark: number
}

const trimmed = (topic: string, { partition, next, mark }: Beyond) =>
  new Fault('log-trimmed', `${topic} partition ${partition} now begins at ${mark}, but the items stand at ${next}: events between are gone. Restore the topic from a backup; the items are left as they are.`)

const truncated = (topic: string, { partition, next, mark }: Beyond) =>
  new Fault('log-truncated', `${topic} partition ${partition} ends at ${mark}, but the items stand at ${next}: the log lost its end or is another one. Restore it, or drop this generation and rebuild.`)
