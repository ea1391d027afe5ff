import type { EachBatchPayload } from 'kafkajs'
import type { Lease, Subscriber, Watermarks } from '../../engine/log.ts'
import { retrying } from '../../engine/retry.ts'
import { isFault } from '../../../schemas/fault.ts'
import { beating, dueRecords } from './due.ts'
import { hasType, offsetsRefused, trimmed, truncated } from './faults.ts'
import type { Membership } from './membership.ts'
import { backoff, type Settings } from './options.ts'
import type { KeptTopic } from './topic.ts'

/** One partition while it is ours. It knows which offset comes next, and takes nothing else. */
export interface Hold {
  readonly partition: number
  take(payload: EachBatchPayload): Promise<void>
  /** A fetch brought nothing but markers of transactions, up to `last`. */
  passOver(last: number): Promise<void>
  /** The next offset. Undefined if the hold is not idle, or cannot take records. */
  idleAt(): number | undefined
  /** Compares with watermarks that were asked for when it stood idle at `from`. */
  check(from: number, marks: Watermarks): Promise<void>
  /** The offset to commit, where the group's lags behind what was taken. */
  uncommitted(): number | undefined
  /** Reports that the offset was refused, and starts again from the watermarks. */
  refuse(error: unknown): void
  /** Not ours any more: says so, and takes nothing from now on. */
  lose(): void
  /** Resolves when what is under way is over. */
  settled(): Promise<void>
  /** Lets a batch that is under way end, and is then lost. */
  finish(): Promise<void>
}

export interface HoldPlan {
  readonly partition: number
  readonly topic: KeptTopic
  readonly subscriber: Subscriber
  readonly settings: Settings
  readonly membership: Membership
  readonly fetching: { pause(partition: number): void; resume(partition: number): void; seek(partition: number, offset: number): void }
  /** An earlier hold of this partition may have a batch under way. */
  readonly before: Promise<void>
  readonly moved?: ((next: number) => void) | undefined
}

/** What a hold knows. `next` is unset until the subscriber has said where to begin. */
interface State extends HoldPlan {
  readonly lost: AbortController
  readonly lease: Lease
  doing: 'nothing' | 'batch' | 'resting'
  next?: number | undefined
  committed?: number | undefined
  /** Where a fetch came back with a gap before it; seen again, the gap is the log's own. */
  gap?: number | undefined
  failures: number
  /** Commits are refused, and that was told. */
  refused: boolean
  announced: boolean
  work: Promise<void>
  committing?: Promise<void> | undefined
}

const CONFIRMATIONS = 3
/** Faults after which the partition begins anew with `assigned`. */
const BEGINS_ANEW = ['topic-recreated', 'topic-missing', 'log-trimmed', 'log-truncated', 'checkpoint-moved']

export function holdPartition(plan: HoldPlan): Hold {
  const { partition, membership, before } = plan
  const lost = new AbortController()
  const lease: Lease = { partition, held: () => !lost.signal.aborted && membership.alive() }
  const state: State = { ...plan, lost, lease, doing: 'nothing', failures: 0, refused: false, announced: false, work: before }
  state.work = before.then(() => begin(state))
  const ready = (): number | undefined => (current(state) && state.doing === 'nothing' ? state.next : undefined)
  return {
    partition,
    async take(payload) {
      const from = ready()
      if (from === undefined) return
      // Perhaps another's by now: nothing is begun until the coordinator has answered again.
      if (!lease.held()) return state.settings.clock.sleep(state.settings.timing.heartbeat / 2, lost.signal)
      await during(state, from, () => takeBatch(state, payload, from))
    },
    async passOver(last) {
      const from = ready()
      if (from !== undefined && last >= from) await during(state, from, () => passMarkers(state, from, last))
    },
    idleAt: ready,
    async check(from, marks) {
      const next = ready()
      if (next === undefined) return
      if (marks.low > next) refuse(state, trimmed(state.topic.name, next, marks))
      else if (marks.high < from) await confirmEnd(state, from).catch((error: unknown) => refuse(state, error))
    },
    uncommitted: () => (lease.held() && !state.committing && ready() !== state.committed ? ready() : undefined),
    refuse: (error) => refuse(state, error),
    lose: () => lose(state),
    settled: () => state.work,
    async finish() {
      if (state.doing === 'batch') await state.work
      await state.committing
      lose(state)
      await state.work
    },
  }
}

const current = ({ lost }: State): boolean => !lost.signal.aborted

function lose(state: State): void {
  if (!current(state)) return
  state.lost.abort()
  if (state.announced) state.subscriber.revoked(state.partition)
}

async function begin(state: State): Promise<void> {
  const { partition, topic, subscriber, settings: { clock, timing }, lost } = state
  const attempt = async (): Promise<void> => {
    if (!current(state)) return
    const marks = await topic.marks(partition)
    await topic.verify()
    if (!current(state)) return
    state.announced = true
    const from = await subscriber.assigned(marks)
    if (!current(state)) return
    if (from < marks.low) throw trimmed(topic.name, from, marks)
    if (from > marks.high) await confirmEnd(state, from)
    state.next = state.committed = from
    state.gap = undefined
    restart(state, from)
  }
  const pause = (retries: number): number => backoff(timing, retries + state.failures)
  // Rejects only if the partition was lost meanwhile. Then no caller needs the error.
  await retrying(attempt, { clock, when: { error: () => true }, signal: lost.signal, pause, failed: (error) => subscriber.failed(error) }).catch(() => undefined)
}

function restart(state: State, from: number): void {
  if (!current(state)) return
  state.fetching.seek(state.partition, from)
  state.fetching.resume(state.partition)
}

/** A new leader may not know for a moment how far the log is acknowledged; so it is asked more than once. */
async function confirmEnd(state: State, from: number): Promise<void> {
  const { partition, topic, settings: { clock, timing }, lost } = state
  const marks = await retrying(() => topic.marks(partition), { clock, when: { result: ({ high }) => high < from }, until: (retries) => retries >= CONFIRMATIONS, signal: lost.signal, pause: (retries) => backoff(timing, retries) })
  if (marks.high < from && current(state)) throw truncated(topic.name, from, marks)
}

/** Runs one thing at a time; what it throws is reported, and tried again in the way that fits it. */
async function during(state: State, from: number, run: () => Promise<void>): Promise<void> {
  state.doing = 'batch'
  state.work = run().then(() => { state.doing = 'nothing' }, (error: unknown) => {
    state.doing = 'nothing'
    if (!current(state)) return
    if (isFault(error) && BEGINS_ANEW.includes(error.code)) refuse(state, error)
    else void rest(state, from, error)
  })
  await state.work
}

function refuse(state: State, error: unknown): void {
  if (!current(state) || state.next === undefined) return
  const { partition, subscriber, fetching, settings: { clock, timing }, lost } = state
  const before = state.doing === 'batch' ? state.work : Promise.resolve()
  const pause = backoff(timing, state.failures++)
  state.next = undefined
  fetching.pause(partition)
  subscriber.failed(error)
  state.work = before.then(() => clock.sleep(pause, lost.signal)).then(() => begin(state))
}

/** The same records come again after a while; the other partitions go on. */
async function rest(state: State, from: number, error: unknown): Promise<void> {
  const { partition, subscriber, fetching, settings: { clock, timing }, lost } = state
  fetching.pause(partition)
  state.doing = 'resting'
  subscriber.failed(error)
  await clock.sleep(backoff(timing, state.failures++), lost.signal)
  state.doing = 'nothing'
  restart(state, from)
}

async function takeBatch(state: State, payload: EachBatchPayload, from: number): Promise<void> {
  const { topic, subscriber, fetching, partition, lease, membership, settings } = state
  const { batch } = payload
  if (Number(batch.highWatermark) < from) await confirmEnd(state, from)
  const found = dueRecords(batch.messages, partition, from)
  if (found.first !== from && found.first !== state.gap) {
    await doubt(state, from, found.first)
    if (current(state)) fetching.seek(partition, from)
    return
  }
  // Asked after the fetch, it proves that these records are of the topic kept.
  await topic.verify()
  if (!current(state)) return
  await beating(() => subscriber.batch(found.records, lease), { payload, membership, settings })
  // Neither resolved nor committed: whoever holds it now gets them again.
  if (!lease.held() || state.next !== from) return
  payload.resolveOffset(String(found.last))
  moveTo(state, Math.max(Number(batch.lastOffset()), found.last) + 1)
  state.committing ??= commitSoon(state, payload)
}

/** Records that begin later than due: were those between cut off, or did the log never hold any? */
async function doubt(state: State, from: number, first: number | undefined): Promise<void> {
  if (first === undefined) return
  const marks = await state.topic.marks(state.partition)
  if (marks.low > from) throw trimmed(state.topic.name, from, marks)
  state.gap = first
}

async function passMarkers(state: State, from: number, last: number): Promise<void> {
  const marks = await state.topic.marks(state.partition)
  if (marks.low > from) throw trimmed(state.topic.name, from, marks)
  if (current(state)) moveTo(state, last + 1)
}

function moveTo(state: State, next: number): void {
  state.next = next
  state.failures = 0
  state.moved?.(next)
}

/** Commits the offset for lag tools, next to the following batch, one commit at a time. Reports the first of several failures in a row; the next call commits again. */
async function commitSoon(state: State, { commitOffsetsIfNecessary }: EachBatchPayload): Promise<void> {
  const { topic, partition, lease, membership, subscriber } = state
  try {
    while (lease.held() && state.next !== undefined && state.next !== state.committed) {
      const offset = state.next
      await commitOffsetsIfNecessary({ topics: [{ topic: topic.name, partitions: [{ partition, offset: String(offset) }] }] })
      state.committed = offset
      state.refused = false
    }
  } catch (error) {
    membership.failed(error)
    // While members come and go it is refused as it should be.
    if (state.refused || !lease.held() || hasType(error, ['REBALANCE_IN_PROGRESS'])) return
    state.refused = true
    subscriber.failed(offsetsRefused(topic.name, partition, error))
  } finally {
    state.committing = undefined
  }
}
