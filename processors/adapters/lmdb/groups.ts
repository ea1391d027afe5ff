import { Fault, isFault } from '../../../schemas/fault.ts'
import type { LogRecord, Subscriber, Subscription } from '../../engine/ports/log.ts'
import { doubling, retrying } from '../../engine/timing/retry.ts'
import { systemClock } from '../system-clock.ts'

/** The topic that the consumer groups read. */
export interface GroupTopic {
  readonly topic: string
  high(): number
  /** Returns the records from offset `from` on, at most one batch. Returns at least one record if the topic has a record at `from`. */
  take(from: number): readonly LogRecord[]
  /** Runs when a subscriber has finished a batch. */
  passed(): void
}

interface Member {
  readonly subscriber: Subscriber
  readonly stopping: AbortController
  readonly done: Promise<void>
  wake: () => void
  /** The next offset. Undefined before the partition is assigned. */
  next?: number
  /** The start of the running batch, in milliseconds of the monotonic clock. Undefined between batches. */
  batchStart?: number | undefined
}

const FIRST_PAUSE = 50
const LONGEST_PAUSE = 5_000
/** Appends do not wait for a subscriber that is more than this number of records behind, because it is still catching up. */
const FAR_BEHIND = 10_000
/** If the batch of a subscriber takes longer than this, appends do not wait for the subscriber until that batch ends. In milliseconds. */
const STUCK_MS = 1_000

/** Consumer groups within this process. The topic has one partition. The oldest member of a group owns this partition until it ends. */
export const createGroups = (topic: GroupTopic) => {
  const groups = new Map<string, Member[]>()

  const subscribe = (group: string, subscriber: Subscriber): Subscription => {
    const members = groups.get(group) ?? []
    groups.set(group, members)
    const previous = members.at(-1)
    let wake = (): void => {}
    const stopping = new AbortController()
    const isFirst = (): boolean => members[0] === member
    const run = async (): Promise<void> => {
      await Promise.race([previous?.done, aborted(stopping.signal)])
      while (!isFirst() && !stopping.signal.aborted) await Promise.race([members[0]?.done, aborted(stopping.signal)])
      if (!stopping.signal.aborted) await follow({ member, topic, isOwner: isFirst })
      members.splice(members.indexOf(member), 1)
    }
    const member: Member = {
      subscriber,
      stopping,
      done: Promise.resolve().then(run),
      get wake() {
        return wake
      },
      set wake(next) {
        wake = next
      },
    }
    members.push(member)
    return {
      stop: () => {
        stopping.abort()
        member.wake()
        return member.done
      },
    }
  }
  return {
    subscribe,
    /** To be called when new records are on disk. */
    wake: () => groups.forEach(([first]) => first?.wake()),
    /** Reports the fault to every member and ends all subscriptions. */
    fail: (fault: Fault) => {
      for (const { subscriber, stopping, wake } of [...groups.values()].flat()) {
        subscriber.failed(fault)
        stopping.abort()
        wake()
      }
    },
    /** True if every subscriber with `isAwaited` has processed this offset, is not assigned yet, is stopping, is too far behind or is stuck. */
    hasPassed: (offset: number): boolean => {
      const high = highOf(topic)
      return (
        high === undefined ||
        [...groups.values()].every(([first]) => first === undefined || !isAwaitedAt(first, offset, high))
      )
    },
    hasMembers: (group: string): boolean => (groups.get(group)?.length ?? 0) > 0,
    stop: async () => {
      await Promise.all(
        [...groups.values()].flat().map(({ stopping, wake, done }) => {
          stopping.abort()
          wake()
          return done
        }),
      )
    },
  }
}

const isAwaitedAt = (
  { subscriber, next, batchStart = Infinity, stopping }: Member,
  offset: number,
  high: number,
): boolean => {
  if (
    subscriber.isAwaited !== true ||
    stopping.signal.aborted ||
    next === undefined ||
    next > offset ||
    high - next > FAR_BEHIND
  )
    return false
  return performance.now() - batchStart < STUCK_MS
}

/** Returns the end of the topic. Undefined while the log cannot be read. The next batch then fails and is retried. */
const highOf = ({ high }: GroupTopic): number | undefined => {
  try {
    return high()
  } catch {
    return undefined
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

interface FollowPlan {
  readonly member: Member
  readonly topic: GroupTopic
  readonly isOwner: () => boolean
}

const follow = async ({ member, topic, isOwner }: FollowPlan): Promise<void> => {
  const {
    subscriber,
    stopping: { signal },
  } = member
  const lease = { partition: 0, isCurrent: isOwner }
  const assign = async (): Promise<number | undefined> => {
    const from = await retryUntilStopped(member, async () =>
      requireExisting(topic, await subscriber.assigned({ partition: 0, low: 0, high: topic.high() })),
    )
    return from === 'checkpoint-moved' ? assign() : from
  }
  let next = await assign()
  if (next === undefined) return
  while (!signal.aborted) {
    const isAtEnd = (): boolean => (next as number) >= (highOf(topic) ?? Infinity)
    if (isAtEnd()) {
      await new Promise<void>((resolve) => {
        member.wake = resolve
        if (signal.aborted || !isAtEnd()) resolve()
      })
      continue
    }
    const from: number = next
    Object.assign(member, { next, batchStart: performance.now() })
    const after: number | 'checkpoint-moved' | undefined = await retryUntilStopped(member, async () => {
      const records = topic.take(from)
      await subscriber.batch(records, lease)
      return from + records.length
    })
    next = after === 'checkpoint-moved' ? await assign() : after
    if (next === undefined) break
    Object.assign(member, { next, batchStart: undefined })
    if (after !== 'checkpoint-moved') topic.passed()
  }
  subscriber.revoked(0)
}

const requireExisting = ({ topic, high }: GroupTopic, from: number): number => {
  if (from <= high()) return from
  throw new Fault(
    'log-truncated',
    `${topic} ends at offset ${high()}, before offset ${from} that was already read. ` +
      'Restore the log folder, or rebuild from the records that it contains.',
  )
}

/**
 * Runs the work until it succeeds, and reports each failure to the subscriber. Resolves to the result of the work, to undefined if the member is
 * stopped first, or to `checkpoint-moved` if the work failed with this fault.
 */
const retryUntilStopped = async <T>(
  { subscriber, stopping: { signal } }: Member,
  work: () => Promise<T>,
): Promise<T | 'checkpoint-moved' | undefined> => {
  const attempt = () =>
    work().catch((error: unknown): 'checkpoint-moved' => {
      subscriber.failed(error)
      if (isFault(error, 'checkpoint-moved')) return 'checkpoint-moved'
      throw error
    })
  if (signal.aborted) return undefined
  return retrying<T | 'checkpoint-moved'>(attempt, {
    clock: systemClock,
    when: { error: () => true },
    signal,
    pause: doubling(FIRST_PAUSE, LONGEST_PAUSE),
  }).catch(() => undefined)
}
