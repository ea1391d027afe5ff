import type { Key, Stored } from '../../../projections/item.ts'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'
import { changeRow } from '../rows/change-row.ts'
import { TRIES } from './keys.ts'

/**
 * A batch that a process begins to fold. This record is stored before the batch is folded, so that the next process finds the batch if this
 * process crashes.
 */
export interface DeliveryAttempt {
  /** The first and the last offset of the batch. */
  readonly at: number
  readonly through: number
  /** True if the event at `at` is folded alone. */
  readonly alone: boolean
  /** The names of the processes that began the batch and did not finish it. */
  readonly by: readonly string[]
}

/** The attempts of one generation, stored in the control table. */
export interface DeliveryAttempts {
  load(name: string): Promise<DeliveryAttempt | undefined>
  /** Changes an attempt as `changeRow` does: `next` returns the new attempt, null to remove the attempt, or undefined to leave it. */
  change(name: string, next: (was: DeliveryAttempt | undefined) => DeliveryAttempt | null | undefined): Promise<void>
  /** The name of this run of this process. After a restart the process has another name. */
  readonly processName: string
}

interface AttemptsOf {
  readonly domain: string
  readonly generation: number
  readonly processName: string
}

export const createDeliveryAttempts = (
  store: Store,
  { domain, generation, processName }: AttemptsOf,
): DeliveryAttempts => {
  const keyOf = (name: string): Key => ({ PK: `${TRIES}${domain}#g${generation}`, SK: name })
  const load: DeliveryAttempts['load'] = async (name) => toAttempt((await store.load([keyOf(name)]))[0])
  const change: DeliveryAttempts['change'] = async (name, next) => {
    await changeRow(store, keyOf(name), (was) => {
      const attempt = next(toAttempt(was))
      return attempt && { ...keyOf(name), ...attempt }
    })
  }
  return { load, change, processName }
}

const toAttempt = (item: Stored | undefined): DeliveryAttempt | undefined =>
  item && {
    at: item['at'] as number,
    through: item['through'] as number,
    alone: item['alone'] === true,
    by: item['by'] as readonly string[],
  }

/** The number of processes that may crash while they fold a batch, before its events are folded one by one. */
export const MAX_ATTEMPTS = 2
/** The number of processes that may crash while they fold one event alone, before the event is recorded as the cause. */
const MAX_ATTEMPTS_ALONE = 3
/**
 * A process that still runs this long after it began a batch has not crashed in the batch: it is only slow, for example because it waits
 * for the store.
 */
const ALIVE_MS = 5_000

export interface AttemptParts {
  readonly attempts: DeliveryAttempts
  readonly clock: Clock
}

/** An event that is folded alone. `name` is the name under which its attempt is stored. */
export interface SuspectEvent {
  readonly name: string
  readonly at: number
  readonly through: number
}

/**
 * Stores an attempt for one event and runs `work`. If `MAX_ATTEMPTS_ALONE` other processes crashed in this event, resolves to `crashes`
 * without a further attempt.
 */
export const attemptAlone = async (
  { attempts, clock }: AttemptParts,
  { name, at, through }: SuspectEvent,
  work: () => Promise<void>,
): Promise<'done' | 'crashes'> => {
  const { processName } = attempts
  const isThis = (was: DeliveryAttempt | undefined): was is DeliveryAttempt =>
    was !== undefined && was.alone && was.at === at
  const countCrashed = async (): Promise<number> => {
    const was = await attempts.load(name)
    return isThis(was) ? was.by.filter((process) => process !== processName).length : 0
  }
  if ((await countCrashed()) >= MAX_ATTEMPTS_ALONE) {
    // After this pause, processes that are only slow have removed their names. The names that are left are of crashed processes.
    await clock.sleep(2 * ALIVE_MS)
    if ((await countCrashed()) >= MAX_ATTEMPTS_ALONE) return 'crashes'
  }
  await attempts.change(name, (was) => ({
    at,
    through,
    alone: true,
    by: [...(isThis(was) ? was.by.filter((process) => process !== processName) : []), processName],
  }))
  const removeName = () =>
    attempts.change(name, (was) =>
      isThis(was) && was.by.includes(processName)
        ? { ...was, by: was.by.filter((process) => process !== processName) }
        : undefined,
    )
  const ended = new AbortController()
  void clock
    .sleep(ALIVE_MS, ended.signal)
    .then(() => (ended.signal.aborted ? undefined : removeName()))
    .catch(() => undefined)
  try {
    await work()
    return 'done'
  } catch (error) {
    await removeName()
    throw error
  } finally {
    ended.abort()
  }
}
