import { Fault, isFault } from '../../../schemas/fault.ts'
import type { LogRecord, Subscriber, Subscription } from '../../engine/log.ts'
import { doubling, retrying } from '../../engine/retry.ts'
import { systemClock } from '../system-clock.ts'

/** What a group needs to know of the topic it follows. */
export interface Followed {
  readonly topic: string
  high(): number
  /** Records from an offset on, bounded; at least one where there is one. */
  take(from: number): readonly LogRecord[]
  /** A subscriber has finished a batch. */
  passed(): void
}

interface Member {
  readonly subscriber: Subscriber
  readonly stopping: AbortController
  readonly done: Promise<void>
  wake: () => void
  /** The next offset; undefined before it is assigned. */
  at?: number
  /** When the batch under way began, in milliseconds of the monotonic clock; undefined between batches. */
  since?: number | undefined
}

const FIRST_PAUSE = 50
const LONGEST_PAUSE = 5_000
/** A subscriber further behind is catching up. No append waits for it. */
const FAR_BEHIND = 10_000
/** A subscriber whose batch takes longer is stuck. No append waits for it until that batch ends. */
const STUCK_MS = 1_000

/** Groups within this process: the one partition belongs to the member that came first, then to the next. */
export const createGroups = (followed: Followed) => {
  const groups = new Map<string, Member[]>()

  const subscribe = (group: string, subscriber: Subscriber): Subscription => {
    const members = groups.get(group) ?? []
    groups.set(group, members)
    const before = members.at(-1)
    let wake = (): void => {}
    const stopping = new AbortController()
    const isFirst = (): boolean => members[0] === member
    const run = async (): Promise<void> => {
      await Promise.race([before?.done, aborted(stopping.signal)])
      while (!isFirst() && !stopping.signal.aborted) await Promise.race([members[0]?.done, aborted(stopping.signal)])
      if (!stopping.signal.aborted) await follow({ member, followed, held: isFirst })
      members.splice(members.indexOf(member), 1)
    }
    const member: Member = { subscriber, stopping, done: Promise.resolve().then(run), get wake() { return wake }, set wake(next) { wake = next } }
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
    /** New records are on disk. */
    wake: () => groups.forEach(([first]) => first?.wake()),
    /** Reports the fault to every member, and ends what they follow. */
    fail: (fault: Fault) => {
      for (const { subscriber, stopping, wake } of [...groups.values()].flat()) {
        subscriber.failed(fault)
        stopping.abort()
        wake()
      }
    },
    /** True if every subscriber that callers wait for has passed this offset, or is too far behind, or stuck. */
    hasPassed: (offset: number): boolean => {
      const high = highOf(followed)
      return high === undefined || [...groups.values()].every(([first]) => first === undefined || !isAwaitedAt(first, offset, high))
    },
    hasMembers: (group: string): boolean => (groups.get(group)?.length ?? 0) > 0,
    stop: async () => {
      await Promise.all([...groups.values()].flat().map(({ stopping, wake, done }) => {
        stopping.abort()
        wake()
        return done
      }))
    },
  }
}

const isAwaitedAt = ({ subscriber, at, since = Infinity, stopping }: Member, offset: number, high: number): boolean => {
  if (subscriber.isAwaited !== true || stopping.signal.aborted || at === undefined || at > offset || high - at > FAR_BEHIND) return false
  return performance.now() - since < STUCK_MS
}

/** Undefined while the log cannot be read: the next batch then fails, and is tried again. */
const highOf = ({ high }: Followed): number | undefined => {
  try {
    return high()
  } catch {
    return undefined
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted ? Promise.resolve() : new Promise(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))

interface Following {
  readonly member: Member
  readonly followed: Followed
  readonly held: () => boolean
}

const follow = async ({ member, followed, held }: Following): Promise<void> => {
  const { subscriber, stopping: { signal } } = member
  const lease = { partition: 0, held }
  const assign = async (): Promise<number | undefined> => {
    const from = await untilItWorks(member, async () => begin(followed, await subscriber.assigned({ partition: 0, low: 0, high: followed.high() })))
    return from === 'moved' ? assign() : from
  }
  let at = await assign()
  if (at === undefined) return
  while (!signal.aborted) {
    const isAtEnd = (): boolean => (at as number) >= (highOf(followed) ?? Infinity)
    if (isAtEnd()) {
      await new Promise<void>(resolve => {
        member.wake = resolve
        if (signal.aborted || !isAtEnd()) resolve()
      })
      continue
    }
    const from: number = at
    Object.assign(member, { at, since: performance.now() })
    const after: number | 'moved' | undefined = await untilItWorks(member, async () => {
      const records = followed.take(from)
      await subscriber.batch(records, lease)
      return from + records.length
    })
    at = after === 'moved' ? await assign() : after
    if (at === undefined) break
    Object.assign(member, { at, since: undefined })
    if (after !== 'moved') followed.passed()
  }
  subscriber.revoked(0)
}

const begin = ({ topic, high }: Followed, from: number): number => {
  if (from <= high()) return from
  throw new Fault('log-truncated', `${topic} ends at ${high()}, before position ${from} that was already reached. ` +
    'Restore the log folder, or rebuild from what it holds.')
}

/** Undefined when the member was stopped before it worked; `moved` if the partition is to be assigned anew. */
const untilItWorks = async <T>({ subscriber, stopping: { signal } }: Member, work: () => Promise<T>): Promise<T | 'moved' | undefined> => {
  const attempt = () => work().catch((error: unknown): 'moved' => {
    subscriber.failed(error)
    if (isFault(error, 'checkpoint-moved')) return 'moved'
    throw error
  })
  if (signal.aborted) return undefined
  return retrying<T | 'moved'>(attempt, { clock: systemClock, when: { error: () => true }, signal, pause: doubling(FIRST_PAUSE, LONGEST_PAUSE) }).catch(() => undefined)
}
