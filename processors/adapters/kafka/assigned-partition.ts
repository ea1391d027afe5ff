import type { EachBatchPayload } from 'kafkajs'
import type { Assignment, Subscriber, Watermarks } from '../../engine/ports/log.ts'
import { retrying } from '../../engine/timing/retry.ts'
import { isFault } from '../../../schemas/fault.ts'
import { dueRecords, withHeartbeats } from './due.ts'
import { hasType, offsetsRefused, trimmed, truncated } from './faults.ts'
import type { Membership } from './membership.ts'
import { backoff, type Settings } from './options.ts'
import type { OpenTopic } from './topic.ts'

/** Consumes one assigned partition, without gaps: it accepts only records that begin at its next offset. */
export interface AssignedPartition {
  readonly partition: number
  /** Passes the records of a fetch to the subscriber, beginning at the next offset. */
  consume(payload: EachBatchPayload): Promise<void>
  /** Skips the offsets up to `last`. To be called if a fetch contained only transaction markers, which are offsets without records. */
  skipMarkers(last: number): Promise<void>
  /** The next offset. Undefined while a batch runs, during a pause, or before the subscriber returned the first offset. */
  idleOffset(): number | undefined
  /** Checks that the log still contains the next offset. `from` is the value of `idleOffset` at the time when the caller requested the watermarks. */
  check(from: number, watermarks: Watermarks): Promise<void>
  /** The next offset, if the group has not committed it yet and no batch or commit runs. Otherwise undefined. */
  uncommittedOffset(): number | undefined
  /** Reports the error, then calls the subscriber's `assigned` again and continues at the offset that it returns. */
  restart(error: unknown): void
  /** To be called when the partition is no longer assigned. Reports this to the subscriber and accepts no further records. */
  revoke(): void
  /** Resolves when the running batch has ended. */
  settled(): Promise<void>
  /** Waits for the running batch, then revokes the partition. */
  finish(): Promise<void>
}

export interface AssignedPartitionPlan {
  readonly partition: number
  readonly topic: OpenTopic
  readonly subscriber: Subscriber
  readonly settings: Settings
  readonly membership: Membership
  readonly fetching: {
    pause(partition: number): void
    resume(partition: number): void
    seek(partition: number, offset: number): void
  }
  /** Resolves when the last batch of an earlier assignment of this partition has ended. */
  readonly previousWork: Promise<void>
  readonly onAdvance?: ((next: number) => void) | undefined
}

interface State extends AssignedPartitionPlan {
  readonly revoked: AbortController
  readonly assignment: Assignment
  activity: 'idle' | 'batch' | 'pause'
  /** Unset until the subscriber has returned the first offset. */
  next?: number | undefined
  committed?: number | undefined
  /** The first offset of a fetch that began after `next`. If the next fetch begins at the same offset, the log has no records in between. */
  gap?: number | undefined
  failures: number
  /** True if the last commit was refused and the subscriber got the fault. */
  isCommitRefused: boolean
  hasCalledAssigned: boolean
  work: Promise<void>
  committing?: Promise<void> | undefined
}

const CONFIRMATIONS = 3
/** After one of these faults, the subscriber's `assigned` is called again, and the consumption continues at the offset that it returns. */
const RESTART_FAULTS = ['topic-recreated', 'topic-missing', 'log-trimmed', 'log-truncated', 'checkpoint-moved']

export function consumePartition(plan: AssignedPartitionPlan): AssignedPartition {
  const { partition, membership, previousWork } = plan
  const { clock, timing } = plan.settings
  const revoked = new AbortController()
  const assignment: Assignment = { partition, isCurrent: () => !revoked.signal.aborted && membership.isAlive() }
  const state: State = {
    ...plan,
    revoked,
    assignment,
    activity: 'idle',
    failures: 0,
    isCommitRefused: false,
    hasCalledAssigned: false,
    work: previousWork,
  }
  state.work = previousWork.then(() => begin(state))
  const idleOffset = (): number | undefined => (isAssigned(state) && state.activity === 'idle' ? state.next : undefined)
  return {
    partition,
    async consume(payload) {
      const from = idleOffset()
      if (from === undefined) return
      // Another consumer may own the partition, so no batch begins until the coordinator has answered again.
      if (!assignment.isCurrent()) return clock.sleep(timing.heartbeat / 2, revoked.signal)
      await runExclusively(state, from, () => consumeBatch(state, payload, from))
    },
    async skipMarkers(last) {
      const from = idleOffset()
      if (from !== undefined && last >= from) await runExclusively(state, from, () => skipMarkers(state, from, last))
    },
    idleOffset,
    async check(from, watermarks) {
      const next = idleOffset()
      if (next === undefined) return
      if (watermarks.low > next) restart(state, trimmed(state.topic.name, next, watermarks))
      else if (watermarks.high < from) await confirmEnd(state, from).catch((error: unknown) => restart(state, error))
    },
    uncommittedOffset: () =>
      assignment.isCurrent() && !state.committing && idleOffset() !== state.committed ? idleOffset() : undefined,
    restart: (error) => restart(state, error),
    revoke: () => revoke(state),
    settled: () => state.work,
    async finish() {
      if (state.activity === 'batch') await state.work
      await state.committing
      revoke(state)
      await state.work
    },
  }
}

const isAssigned = ({ revoked }: State): boolean => !revoked.signal.aborted

function revoke(state: State): void {
  if (!isAssigned(state)) return
  state.revoked.abort()
  if (state.hasCalledAssigned) state.subscriber.revoked(state.partition)
}

/** Requests the first offset from the subscriber and starts to fetch there. Retries until it succeeds or the partition is revoked. */
async function begin(state: State): Promise<void> {
  const { partition, topic, subscriber, settings, revoked } = state
  const { clock, timing } = settings
  const attempt = async (): Promise<void> => {
    if (!isAssigned(state)) return
    const watermarks = await topic.watermarksOf(partition)
    await topic.verify()
    if (!isAssigned(state)) return
    state.hasCalledAssigned = true
    const from = await subscriber.assigned(watermarks)
    if (!isAssigned(state)) return
    if (from < watermarks.low) throw trimmed(topic.name, from, watermarks)
    if (from > watermarks.high) await confirmEnd(state, from)
    state.next = state.committed = from
    state.gap = undefined
    fetchFrom(state, from)
  }
  const pause = (retries: number): number => backoff(timing, retries + state.failures)
  // Rejects only if the partition was revoked meanwhile. Then no caller needs the error.
  await retrying(attempt, {
    clock,
    when: { error: () => true },
    signal: revoked.signal,
    pause,
    failed: (error) => subscriber.failed(error),
  }).catch(() => undefined)
}

function fetchFrom(state: State, from: number): void {
  if (!isAssigned(state)) return
  state.fetching.seek(state.partition, from)
  state.fetching.resume(state.partition)
}

/** Throws `log-truncated` if the log ends before `from`. A new leader can return an old end for a moment, so the end is requested several times. */
async function confirmEnd(state: State, from: number): Promise<void> {
  const { partition, topic, settings, revoked } = state
  const { clock, timing } = settings
  const watermarks = await retrying(() => topic.watermarksOf(partition), {
    clock,
    when: { result: ({ high }) => high < from },
    until: (retries) => retries >= CONFIRMATIONS,
    signal: revoked.signal,
    pause: (retries) => backoff(timing, retries),
  })
  if (watermarks.high < from && isAssigned(state)) throw truncated(topic.name, from, watermarks)
}

/**
 * Runs the work while no other batch of the partition runs. If the work fails, reports the error. Then restarts (after `RESTART_FAULTS`), or fetches
 * from `from` again.
 */
async function runExclusively(state: State, from: number, run: () => Promise<void>): Promise<void> {
  state.activity = 'batch'
  state.work = run().then(
    () => {
      state.activity = 'idle'
    },
    (error: unknown) => {
      state.activity = 'idle'
      if (!isAssigned(state)) return
      if (isFault(error) && RESTART_FAULTS.includes(error.code)) restart(state, error)
      else void pauseAndRetry(state, from, error)
    },
  )
  await state.work
}

function restart(state: State, error: unknown): void {
  if (!isAssigned(state) || state.next === undefined) return
  const { partition, subscriber, fetching, settings, revoked } = state
  const { clock, timing } = settings
  const runningBatch = state.activity === 'batch' ? state.work : Promise.resolve()
  const pause = backoff(timing, state.failures++)
  state.next = undefined
  fetching.pause(partition)
  subscriber.failed(error)
  state.work = runningBatch.then(() => clock.sleep(pause, revoked.signal)).then(() => begin(state))
}

/** Fetches the same records again after a pause. Other partitions continue meanwhile. */
async function pauseAndRetry(state: State, from: number, error: unknown): Promise<void> {
  const { partition, subscriber, fetching, settings, revoked } = state
  const { clock, timing } = settings
  fetching.pause(partition)
  state.activity = 'pause'
  subscriber.failed(error)
  await clock.sleep(backoff(timing, state.failures++), revoked.signal)
  state.activity = 'idle'
  fetchFrom(state, from)
}

async function consumeBatch(state: State, payload: EachBatchPayload, from: number): Promise<void> {
  const { topic, subscriber, fetching, partition, assignment, membership, settings } = state
  const { batch } = payload
  if (Number(batch.highWatermark) < from) await confirmEnd(state, from)
  const found = dueRecords(batch.messages, partition, from)
  if (found.first !== from && found.first !== state.gap) {
    await checkGap(state, from, found.first)
    if (isAssigned(state)) fetching.seek(partition, from)
    return
  }
  // The check follows the fetch, so it proves that the records belong to this topic and not to a new topic of the same name.
  await topic.verify()
  if (!isAssigned(state)) return
  await withHeartbeats(() => subscriber.batch(found.records, assignment), { payload, membership, settings })
  // If the partition was lost meanwhile, the offset is neither resolved nor committed, so the next owner gets the same records.
  if (!assignment.isCurrent() || state.next !== from) return
  payload.resolveOffset(String(found.last))
  advanceTo(state, Math.max(Number(batch.lastOffset()), found.last) + 1)
  state.committing ??= commitOffset(state, payload)
}

/** Throws `log-trimmed` if the records between `from` and `first` were removed. Otherwise stores `first` in `gap` for the check of the next fetch. */
async function checkGap(state: State, from: number, first: number | undefined): Promise<void> {
  if (first === undefined) return
  const watermarks = await state.topic.watermarksOf(state.partition)
  if (watermarks.low > from) throw trimmed(state.topic.name, from, watermarks)
  state.gap = first
}

async function skipMarkers(state: State, from: number, last: number): Promise<void> {
  const watermarks = await state.topic.watermarksOf(state.partition)
  if (watermarks.low > from) throw trimmed(state.topic.name, from, watermarks)
  if (isAssigned(state)) advanceTo(state, last + 1)
}

function advanceTo(state: State, next: number): void {
  state.next = next
  state.failures = 0
  state.onAdvance?.(next)
}

/**
 * Commits the offset, which only tools outside of the program read, for example to show the lag. Runs during the next batch, one commit at a time.
 * After a failure, the next call commits again. Reports only the first of several failures in a row.
 */
async function commitOffset(state: State, { commitOffsetsIfNecessary }: EachBatchPayload): Promise<void> {
  const { topic, partition, assignment, membership, subscriber } = state
  try {
    while (assignment.isCurrent() && state.next !== undefined && state.next !== state.committed) {
      const offset = state.next
      await commitOffsetsIfNecessary({
        topics: [{ topic: topic.name, partitions: [{ partition, offset: String(offset) }] }],
      })
      state.committed = offset
      state.isCommitRefused = false
    }
  } catch (error) {
    membership.failed(error)
    // The coordinator refuses every commit during a rebalance, so such a refusal is not reported.
    if (state.isCommitRefused || !assignment.isCurrent() || hasType(error, ['REBALANCE_IN_PROGRESS'])) return
    state.isCommitRefused = true
    subscriber.failed(offsetsRefused(topic.name, partition, error))
  } finally {
    state.committing = undefined
  }
}
