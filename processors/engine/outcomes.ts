import type { Domain, Outcome } from '../../projections/projection.ts'
import type { Item } from '../../projections/item.ts'
import { everyItem } from '../../projections/table.ts'
import type { Clock } from './clock.ts'
import { APPLIED, outcomeOf } from './decide.ts'
import { derivedPartition, outboxPartition, outboxRowsOf, outcomeKey, parkedKey } from './keys.ts'
import type { Position } from './log.ts'
import { isDerivedRow } from './outbox.ts'
import type { Parked } from './parking.ts'
import { doubling, retrying } from './retry.ts'
import type { Passed } from './tally.ts'
import { EVERY } from './sort.ts'
import type { Store } from './store.ts'

/** Where senders hear what became of their events, in this process or another. */
export interface Outcomes {
  /** What a processor of the serving generation in this process passed. */
  heard(passed: Passed): void
  /** The outcome of an event under `key`, once the serving generation passed it; `pending` when that takes longer. */
  after(sent: Position & { readonly key: string }, timeoutMs: number): Promise<Outcome | 'pending'>
  /**
   * Whether the serving generation passed a position within the time. With `withDerived`, also the events that are derived from the event at
   * the position, but not the events that are derived from these.
   */
  reached(position: Position, timeoutMs: number, withDerived?: boolean): Promise<boolean>
}

export interface OutcomesParts {
  readonly domain: Domain
  /** The serving generation's store. */
  readonly store: () => Store
  readonly clock: Clock
  /** How often to look at the checkpoints while somebody waits; absent where every partition is processed in this process. */
  readonly pollMs?: number
}

/** Exceptions remembered for senders that ask a moment late; older ones are read from their markers. */
const REMEMBERED = 4_096

export const createOutcomes = (parts: OutcomesParts): Outcomes => {
  const progress = createProgress(parts)
  const recent = new Map<string, Outcome | undefined>()

  const trim = () => {
    for (const id of recent.keys()) {
      if (recent.size <= REMEMBERED) break
      const [partition, offset] = id.split(':').map(Number) as [number, number]
      progress.unheard(partition, offset + 1)
      recent.delete(id)
    }
  }
  const heard = ({ partition, from, next, exceptions }: Passed) => {
    for (const [offset, outcome] of exceptions) recent.set(`${partition}:${offset}`, outcome)
    trim()
    // For events before this batch that this process did not fold, only their markers contain the outcome.
    if (from > progress.next(partition)) progress.unheard(partition, from)
    progress.pass(partition, next)
  }
  const after: Outcomes['after'] = async (sent, timeoutMs) => {
    if (!(await progress.reached(sent, timeoutMs))) return 'pending'
    const id = `${sent.partition}:${sent.offset}`
    if (recent.has(id)) return recent.get(id) ?? lookUp(parts, sent)
    return progress.wasHeard(sent) ? APPLIED : lookUp(parts, sent)
  }
  const reached: Outcomes['reached'] = (position, timeoutMs, withDerived = false) => (withDerived ? reachedWithDerived(parts, progress, position, timeoutMs) : progress.reached(position, timeoutMs))
  return { heard, after, reached }
}

/** How long to wait before the outbox is read again. */
const lookPause = doubling(5, 80)

const reachedWithDerived = async ({ store, clock }: OutcomesParts, { reached }: Progress, position: Position, timeoutMs: number): Promise<boolean> => {
  const until = clock.now() + timeoutMs
  if (!(await reached(position, timeoutMs))) return false
  const isLate = (retries: number): boolean => clock.now() + lookPause(retries) > until
  if (await retrying(() => hasUnsent(store(), position), { clock, when: { result: (unsent) => unsent }, until: isLate, pause: lookPause })) return false
  // The sender removes a row and writes the position of its event in one commit: the positions are complete now.
  const derived = (await everyItem(store().reader(() => 0), { pk: derivedPartition(position), limit: OUTBOX_PAGE })) as readonly (Item & Position)[]
  return (await Promise.all(derived.map(({ partition, offset }) => reached({ partition, offset }, until - clock.now())))).every(Boolean)
}

/** True if an event that is derived from the event at this position is still to be sent. */
const hasUnsent = async (store: Store, position: Position): Promise<boolean> => {
  const rows = await everyItem(store.reader(() => 0), { pk: outboxPartition(position.partition), prefix: outboxRowsOf(position), limit: OUTBOX_PAGE })
  return rows.some(isDerivedRow)
}

const OUTBOX_PAGE = 100

interface Waiter extends Position {
  readonly until: number
  readonly passed: (reached: boolean) => void
}

/** How often waiting ends where nobody is polled. */
const TICK_MS = 50

type Progress = ReturnType<typeof createProgress>

/** How far the serving generation is, as heard here or read from its checkpoints, and who waits for it. */
const createProgress = ({ store, clock, pollMs }: OutcomesParts) => {
  const ends = new Map<number, number>()
  const heardFrom = new Map<number, number>()
  const waiters = new Set<Waiter>()
  let ticking = false
  let looking = false

  const next = (partition: number) => ends.get(partition) ?? -1
  const isPassed = ({ partition, offset }: Position) => offset < next(partition)
  const unheard = (partition: number, below: number) => heardFrom.set(partition, Math.max(below, heardFrom.get(partition) ?? 0))
  const release = (waiter: Waiter, reached: boolean) => {
    waiters.delete(waiter)
    waiter.passed(reached)
  }
  const pass = (partition: number, to: number) => {
    if (to > next(partition)) ends.set(partition, to)
    for (const waiter of waiters) if (isPassed(waiter)) release(waiter, true)
  }
  /** Reads the checkpoints, at most once at a time. */
  const look = async () => {
    if (looking) return
    looking = true
    for (const [partition, to] of await store().checkpoints().catch(() => new Map<number, number>())) {
      if (to <= next(partition)) continue
      unheard(partition, to)
      pass(partition, to)
    }
    looking = false
  }
  /** One clock for all who wait: a timer for each would cost more than most waits last. */
  const tick = async () => {
    ticking = true
    // Events that were folded before this process began, or before a flip, are not reported again: the checkpoints show them.
    // Nobody awaits the reads: a store that does not answer must not keep a waiter past its time.
    void look()
    while (waiters.size > 0) {
      await clock.sleep(pollMs ?? TICK_MS)
      if (pollMs !== undefined) void look()
      for (const waiter of waiters) if (waiter.until <= clock.now()) release(waiter, false)
    }
    ticking = false
  }
  const reached = ({ partition, offset }: Position, timeoutMs: number): Promise<boolean> => {
    if (isPassed({ partition, offset })) return Promise.resolve(true)
    return new Promise((passed) => {
      waiters.add({ partition, offset, until: clock.now() + timeoutMs, passed })
      if (!ticking) void tick()
    })
  }
  const wasHeard = ({ partition, offset }: Position) => offset >= (heardFrom.get(partition) ?? 0)
  return { next, unheard, pass, reached, wasHeard }
}

/** One consistent read: the marker of a refusal or a duplicate, or the entry of a parked key. */
const lookUp = async ({ domain, store }: OutcomesParts, { partition, offset, key }: Position & { readonly key: string }): Promise<Outcome> => {
  const names = [EVERY, ...domain.projections.map(({ name }) => name)]
  const [marker, ...parked] = await store().load([outcomeKey({ partition, offset }), ...names.map((name) => parkedKey(partition, name, key))])
  const standing = (parked as readonly (Parked | undefined)[]).filter((entry): entry is Parked => entry !== undefined && entry.offset <= offset)
  const [entry] = standing.sort((a, b) => b.offset - a.offset)
  if (entry !== undefined) return { kind: 'parked', reason: entry.reason, ...(entry.offset < offset && { behind: true }) }
  return outcomeOf(marker)
}
