import type { Item } from '../../../projections/item.ts'
import type { Domain, Outcome } from '../../../projections/projection.ts'
import { everyItem } from '../../../projections/table.ts'
import { APPLIED } from '../fold/decide.ts'
import { outcomeKey } from '../fold/keys.ts'
import { derivedPartition, outboxPartition, outboxPrefix } from '../outgoing/keys.ts'
import { isDerivedRow } from '../outgoing/outbox.ts'
import { parkedKey } from '../poison/keys.ts'
import type { Parked } from '../poison/parked-entry.ts'
import type { Clock } from '../ports/clock.ts'
import { EVERY_PROJECTION, type Position } from '../ports/log.ts'
import type { Store } from '../ports/store.ts'
import { doubling, retrying } from '../timing/retry.ts'
import type { BatchResult } from './tally.ts'

/** Reports to callers the outcomes of their events, whichever process folds them. */
export interface Outcomes {
  /** Records a batch that a processor of this process folded. */
  recordBatch(result: BatchResult): void
  /** Waits until the event is folded. Resolves to its outcome, or to `pending` after the timeout. */
  untilOutcome(sent: Position & { readonly key: string }, timeoutMs: number): Promise<Outcome | 'pending'>
  /**
   * Waits until the event at a position is folded. With `withDerived`, also waits until the events that are derived from this event are
   * folded, but not for events that are derived from those events. Resolves to false after the timeout.
   */
  untilFolded(position: Position, timeoutMs: number, withDerived?: boolean): Promise<boolean>
}

export interface OutcomesParts {
  readonly domain: Domain
  /** The store of the generation. */
  readonly store: () => Store
  readonly clock: Clock
  /** How often to read the checkpoints while a caller waits. Absent if this process folds all partitions. */
  readonly pollMs?: number
}

/** The number of outcomes other than `applied` that are kept in memory. Older ones are read from their rows. */
const REMEMBERED = 4_096

export const createOutcomes = (parts: OutcomesParts): Outcomes => {
  const progress = createProgress(parts)
  const recent = new Map<string, Outcome | undefined>()

  const trim = () => {
    for (const id of recent.keys()) {
      if (recent.size <= REMEMBERED) break
      const [partition, offset] = id.split(':').map(Number) as [number, number]
      progress.forgetBelow(partition, offset + 1)
      recent.delete(id)
    }
  }
  const recordBatch = ({ partition, from, next, exceptions }: BatchResult) => {
    for (const [offset, outcome] of exceptions) recent.set(`${partition}:${offset}`, outcome)
    trim()
    // If this process did not fold the events before this batch, the outcomes of these events are only in rows.
    if (from > progress.next(partition)) progress.forgetBelow(partition, from)
    progress.advance(partition, next)
  }
  const untilOutcome: Outcomes['untilOutcome'] = async (sent, timeoutMs) => {
    if (!(await progress.untilFolded(sent, timeoutMs))) return 'pending'
    const id = `${sent.partition}:${sent.offset}`
    if (recent.has(id)) return recent.get(id) ?? storedOutcome(parts, sent)
    return progress.isRemembered(sent) ? APPLIED : storedOutcome(parts, sent)
  }
  const untilFolded: Outcomes['untilFolded'] = (position, timeoutMs, withDerived = false) =>
    withDerived ? untilDerivedFolded(parts, progress, position, timeoutMs) : progress.untilFolded(position, timeoutMs)
  return { recordBatch, untilOutcome, untilFolded }
}

/** The pause in milliseconds before the outbox is read again: 5, doubled each time up to 80. */
const outboxPause = doubling(5, 80)

const untilDerivedFolded = async (
  { store, clock }: OutcomesParts,
  { untilFolded }: Progress,
  position: Position,
  timeoutMs: number,
): Promise<boolean> => {
  const until = clock.now() + timeoutMs
  if (!(await untilFolded(position, timeoutMs))) return false
  const isLate = (retries: number): boolean => clock.now() + outboxPause(retries) > until
  if (
    await retrying(() => hasUnsent(store(), position), {
      clock,
      when: { result: (unsent) => unsent },
      until: isLate,
      pause: outboxPause,
    })
  )
    return false
  // The sender removes a row and writes the position of its event in one commit, so the positions are complete now.
  const derived = (await everyItem(
    store().reader(() => 0),
    { pk: derivedPartition(position), limit: OUTBOX_PAGE },
  )) as readonly (Item & Position)[]
  return (
    await Promise.all(derived.map(({ partition, offset }) => untilFolded({ partition, offset }, until - clock.now())))
  ).every(Boolean)
}

/** Resolves to true if the outbox still contains an event that is derived from the event at this position. */
const hasUnsent = async (store: Store, position: Position): Promise<boolean> => {
  const rows = await everyItem(
    store.reader(() => 0),
    { pk: outboxPartition(position.partition), prefix: outboxPrefix(position), limit: OUTBOX_PAGE },
  )
  return rows.some(isDerivedRow)
}

const OUTBOX_PAGE = 100

interface Waiter extends Position {
  readonly until: number
  readonly resolve: (isFolded: boolean) => void
}

/** How often timeouts are checked if the checkpoints are not polled. */
const TICK_MS = 50

type Progress = ReturnType<typeof createProgress>

/** The progress of the generation, as recorded by this process or read from its checkpoints, and the callers that wait for it. */
const createProgress = ({ store, clock, pollMs }: OutcomesParts) => {
  const ends = new Map<number, number>()
  /** By partition: the offset from which on the outcomes of all folded events are in memory. */
  const rememberedFrom = new Map<number, number>()
  const waiters = new Set<Waiter>()
  let isTicking = false
  let isReading = false

  const next = (partition: number) => ends.get(partition) ?? -1
  const isFolded = ({ partition, offset }: Position) => offset < next(partition)
  const forgetBelow = (partition: number, offset: number) =>
    rememberedFrom.set(partition, Math.max(offset, rememberedFrom.get(partition) ?? 0))
  const release = (waiter: Waiter, folded: boolean) => {
    waiters.delete(waiter)
    waiter.resolve(folded)
  }
  const advance = (partition: number, to: number) => {
    if (to > next(partition)) ends.set(partition, to)
    for (const waiter of waiters) if (isFolded(waiter)) release(waiter, true)
  }
  /** Reads the checkpoints, one read at a time. */
  const readCheckpoints = async () => {
    if (isReading) return
    isReading = true
    for (const [partition, to] of await store()
      .checkpoints()
      .catch(() => new Map<number, number>())) {
      if (to <= next(partition)) continue
      forgetBelow(partition, to)
      advance(partition, to)
    }
    isReading = false
  }
  /** One timer serves all waiters, because one timer per waiter would cost more time than most waits take. */
  const tick = async () => {
    isTicking = true
    // Events that were folded before this process started, or before a flip, are not reported again. The checkpoints count these events as
    // folded, so this call reads the checkpoints once. The reads are not awaited: a store that does not respond must not keep a waiter past
    // its timeout.
    void readCheckpoints()
    while (waiters.size > 0) {
      await clock.sleep(pollMs ?? TICK_MS)
      if (pollMs !== undefined) void readCheckpoints()
      for (const waiter of waiters) if (waiter.until <= clock.now()) release(waiter, false)
    }
    isTicking = false
  }
  const untilFolded = ({ partition, offset }: Position, timeoutMs: number): Promise<boolean> => {
    if (isFolded({ partition, offset })) return Promise.resolve(true)
    return new Promise((resolve) => {
      waiters.add({ partition, offset, until: clock.now() + timeoutMs, resolve })
      if (!isTicking) void tick()
    })
  }
  const isRemembered = ({ partition, offset }: Position) => offset >= (rememberedFrom.get(partition) ?? 0)
  return { next, forgetBelow, advance, untilFolded, isRemembered }
}

/**
 * Reads the stored outcome with one consistent read: from the outcome row of a refusal or a duplicate, or from the entry of a parked key.
 * `applied` if neither exists.
 */
const storedOutcome = async (
  { domain, store }: OutcomesParts,
  { partition, offset, key }: Position & { readonly key: string },
): Promise<Outcome> => {
  const names = [EVERY_PROJECTION, ...domain.projections.map(({ name }) => name)]
  const [row, ...entries] = await store().load([
    outcomeKey({ partition, offset }),
    ...names.map((name) => parkedKey(partition, name, key)),
  ])
  const parked = (entries as readonly (Parked | undefined)[]).filter(
    (entry): entry is Parked => entry !== undefined && entry.offset <= offset,
  )
  const [latest] = parked.sort((a, b) => b.offset - a.offset)
  if (latest !== undefined)
    return { kind: 'parked', reason: latest.reason, ...(latest.offset < offset && { behind: true }) }
  return outcomeIn(row)
}

/** The outcome in an outcome row. `applied` if there is no row. */
const outcomeIn = (row: Item | undefined): Outcome => {
  if (row?.['kind'] === 'refused')
    return { kind: 'refused', refusal: { code: String(row['code']), detail: String(row['detail']) } }
  if (row?.['kind'] === 'duplicate') return { kind: 'duplicate', of: String(row['of']) }
  return APPLIED
}
