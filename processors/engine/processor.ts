import type { Domain } from '../../projections/projection.ts'
import type { Codec } from '../../schemas/codec.ts'
import { Fault } from '../../schemas/fault.ts'
import { advance } from './advance.ts'
import { createCare, type Care, type Killer } from './care.ts'
import type { Clock } from './clock.ts'
import { decidersOf } from './decide.ts'
import { createLane, type Lane } from './lane.ts'
import type { Lease, Log, LogRecord, Watermarks } from './log.ts'
import { outboxOf } from './outbox.ts'
import { healLane, park, poisonOf, type Work } from './healing.ts'
import { parkedName, parkedOf, passed, passing, type Parked } from './parking.ts'
import { partsOf } from './parts.ts'
import { endsOf, missingTo, type Positions } from './positions.ts'
import { isRetriable, retrying } from './retry.ts'
import type { Series } from './series.ts'
import { sortReadable, type Sorted } from './sort.ts'
import { createStalls, reportLate, rewound } from './stalls.ts'
import type { Checkpoint, Store } from './store.ts'
import { createTally, type Passed, type Tally } from './tally.ts'
import { timerChanges } from './timers.ts'
import { trimmedBelow, truncated } from './trimmed.ts'
import type { Tries } from './tries.ts'

export interface ProcessorParts {
  readonly domain: Domain
  readonly generation: number
  readonly log: Log
  readonly store: Store
  /** Where the domain's points go. While it does not take them, this generation waits. */
  readonly series?: Pick<Series, 'write'> | undefined
  readonly codec: Codec
  readonly clock: Clock
  /** Stores each batch before it is folded, so that the crash-loop guard finds the batch that killed a process. */
  readonly tries?: Tries
  /** Puts on record that an event kills. */
  readonly kills?: (killer: Killer) => Promise<void>
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
  positions(): Positions
  /** The fault `checkpoint-moved` if the store contains less than this member wrote: its table was replaced. */
  rewound(): Promise<Fault | undefined>
  /** Why folding here has stopped: the last failure, if nothing has succeeded since. */
  stalled(): unknown
}

const NOBODY = () => Promise.resolve()

export const groupOf = (domain: string, generation: number): string => `${domain}.g${generation}`

/** One member of one generation's group: folds what the log brings it, save first, commit after. */
export const startProcessor = async (parts: ProcessorParts): Promise<Running> => {
  const { domain, generation, log, store, series, codec, clock, failed = () => {} } = parts
  const stalls = createStalls()
  const deciders = decidersOf(domain, { outbox: outboxOf(codec), timers: timerChanges(codec) })
  const lanes = new Map<number, { readonly lane: Lane; readonly care: Care }>()
  const stopping = new AbortController()

  const assign = async ({ partition, low, high }: Watermarks): Promise<number> => {
    const next = (await store.checkpoints()).get(partition) ?? 0
    if (next < low) throw trimmedBelow(log.topic, { partition, next, mark: low })
    // The marks were taken before the checkpoint: whoever held the partition until now may have gone past them since.
    const end = next > high ? ((await endsOf(log)).get(partition) ?? 0) : high
    if (next > end) throw truncated(log.topic, { partition, next, mark: end })
    const care = createCare(parts.tries === undefined ? undefined : { tries: parts.tries, clock, partition, failed, kills: parts.kills ?? NOBODY })
    lanes.set(partition, { lane: createLane(partition, next, await parkedOf(store.reader(clock.now), partition)), care })
    return next
  }
  const batch = async (records: readonly LogRecord[], lease: Lease): Promise<void> => {
    const held = lanes.get(lease.partition)
    if (held === undefined) throw new Fault('not-assigned', `Partition ${lease.partition} of ${log.topic} was not assigned.`, { retriable: true })
    const { lane, care } = held
    await lane.inTurn(async () => {
      const fresh = records.filter(({ offset }) => offset >= lane.next)
      if (fresh.length === 0 || !lease.held()) return
      const work = { parts: { ...parts, failed: stalls.noting(lane.partition, failed) }, deciders, lane, signal: stopping.signal }
      await care.over(fresh, lease, (some) => foldInParts(work, some, lease))
    })
  }
  const revoked = (partition: number) => {
    lanes.delete(partition)
    stalls.revoked(partition)
  }
  const subscription = await log.subscribe(groupOf(domain.name, generation), {
    isAwaited: series === undefined && store.peek !== undefined,
    assigned: (marks) => stalls.during(marks.partition, () => assign(marks)),
    batch: (records, lease) => stalls.during(lease.partition, () => batch(records, lease).catch(reportLate(lease, failed))),
    revoked,
    failed,
  })

  const heal = async (): Promise<number> => {
    const healed = await Promise.all([...lanes.values()].map(({ lane }) => lane.inTurn(() => healLane({ parts, deciders, lane, signal: stopping.signal }))))
    return healed.reduce((sum, count) => sum + count, 0)
  }
  const positions = () => new Map([...lanes.values()].map(({ lane: { partition, next } }) => [partition, next]))
  const caughtUp = async () => {
    const ends = await endsOf(log)
    while (missingTo(ends, await store.checkpoints()) > 0) await clock.sleep(5)
  }
  const stop = async () => {
    stopping.abort()
    await subscription.stop()
  }
  return { stop, caughtUp, heal, positions, rewound: () => rewound(parts, [...lanes.values()].map(({ lane }) => lane.checkpoint())), stalled: stalls.any }
}

/** Ends early if the partition is lost: its next owner folds the rest. */
const foldInParts = async (work: Work, records: readonly LogRecord[], lease: Lease): Promise<void> => {
  const { clock, heard } = work.parts
  for (const [index, part] of partsOf(records, work.parts).entries()) {
    if (index > 0) await clock.turn?.()
    if (!lease.held()) return
    const passed = await foldBatch(work, part)
    heard?.(passed)
  }
}

/** Items first; keys found poisoned are parked; only then the checkpoint. */
const foldBatch = async (work: Work, records: readonly LogRecord[]): Promise<Passed> => {
  const { parts, lane, signal } = work
  const { clock, failed = () => {} } = parts
  const last = (records.at(-1) as LogRecord).offset
  const tally = createTally(records)
  await retrying(() => saveBatch(work, { records, through: last, checkpoint: lane.checkpoint(last + 1), tally }), { clock, when: { error: isRetriable }, signal, failed })
  lane.advance(last + 1)
  return tally.passed(lane.partition)
}

/** Sorts, and writes of every key that is passed over that it is: only while it still stands may its events be left alone. */
const sortStanding = async ({ parts, deciders, lane }: Work, records: readonly LogRecord[], through: number): Promise<Sorted> => {
  const { store, codec, clock } = parts
  for (;;) {
    const sorted = await sortReadable(records, { codec, deciders, isParked: lane.isParked })
    const entries = lane.standing(sorted.standing).map((was) => ({ was, now: passing(was, through, sorted.left.get(parkedName(was))) }))
    if (entries.length === 0) return sorted
    const outcomes = await store.commit(entries.map(({ was, now }) => passed(was, now)), lane.checkpoint())
    if (outcomes.every(({ applied }) => applied === 'all')) {
      for (const { now } of entries) lane.park(now)
      return sorted
    }
    lane.learn(await parkedOf(store.reader(clock.now), lane.partition))
  }
}

interface Saving {
  readonly records: readonly LogRecord[]
  /** The last offset of the batch. */
  readonly through: number
  readonly checkpoint: Checkpoint
  readonly tally: Tally
}

const saveBatch = async (work: Work, { records, through, checkpoint, tally }: Saving): Promise<void> => {
  const { store, series } = work.parts
  const sorted = await sortStanding(work, records, through)
  const held = sorted.poisons.length > 0 ? work.lane.checkpoint() : checkpoint
  const advanced = await advance({ store, series, spans: sorted.spans, conflicted: tally.conflicted, checkpoint: held })
  const found = [...sorted.poisons, ...advanced.flatMap(poisonOf)]
  if (found.length > 0) {
    await park(work, found, through)
    await store.commit([], checkpoint)
  }
  tally.add(sorted, advanced)
}
