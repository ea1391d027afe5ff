import type { LocalClock } from './clock.ts'

/** Started tasks are removed from the list in groups of this size, because removing one has the cost of the whole list. */
const COMPACT_AT = 10_000

/** Runs tasks with a limit of tasks at the same time, and repeats failed tasks after a time of the service's clock. */
export interface DeliveryQueue<T> {
  add(task: T): void
  /** Resolves when no task runs or can start now. Tasks that wait for a later time do not count. */
  settled(): Promise<void>
  /** Tasks that have not ended. */
  size(): number
  stop(): void
}

/** The result of one run: the task has ended, or runs again at a time. */
export type RunResult = { readonly again: number } | 'ended'

export const createDeliveryQueue = <T>(
  clock: LocalClock,
  concurrency: () => number,
  run: (task: T) => Promise<RunResult>,
): DeliveryQueue<T> => {
  const ready: T[] = []
  /** The tasks of `ready` before this index have started. */
  let started = 0
  /** In the order of `at`. */
  const waiting: { readonly task: T; readonly at: number }[] = []
  const settling: (() => void)[] = []
  let active = 0
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  const wait = (task: T, at: number): void => {
    const index = waiting.findLastIndex((other) => other.at <= at)
    waiting.splice(index + 1, 0, { task, at })
  }
  const runOne = async (task: T): Promise<void> => {
    active++
    const result = await run(task)
    active--
    if (result !== 'ended') wait(task, result.again)
    pump()
  }
  const scheduleNext = (): void => {
    clearTimeout(timer)
    const next = waiting[0]
    if (clock.isRunning() && next !== undefined) timer = setTimeout(pump, Math.max(1, next.at - clock.now())).unref()
  }
  const pump = (): void => {
    if (isStopped) return
    const now = clock.now()
    const notDue = waiting.findIndex(({ at }) => at > now)
    const due = waiting.splice(0, notDue === -1 ? waiting.length : notDue)
    for (const { task } of due) ready.push(task)
    while (active < concurrency() && started < ready.length) {
      const task = ready[started++]
      if (task !== undefined) void runOne(task)
    }
    if (started === ready.length || started > COMPACT_AT) {
      ready.splice(0, started)
      started = 0
    }
    scheduleNext()
    if (active === 0 && started === ready.length) for (const resolve of settling.splice(0)) resolve()
  }
  clock.onChange(pump)

  return {
    add: (task) => {
      ready.push(task)
      pump()
    },
    settled: () =>
      new Promise((resolve) => {
        settling.push(resolve)
        pump()
      }),
    size: () => ready.length - started + waiting.length + active,
    stop: () => {
      isStopped = true
      clearTimeout(timer)
      for (const resolve of settling.splice(0)) resolve()
    },
  }
}
