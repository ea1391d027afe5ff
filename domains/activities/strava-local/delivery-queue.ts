import type { LocalClock } from './clock.ts'

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
  let ready: T[] = []
  let waiting: { readonly task: T; readonly at: number }[] = []
  const settling: (() => void)[] = []
  let active = 0
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  const runOne = async (task: T): Promise<void> => {
    active++
    const result = await run(task)
    active--
    if (result !== 'ended') waiting.push({ task, at: result.again })
    pump()
  }
  const scheduleNext = (): void => {
    clearTimeout(timer)
    if (!clock.isRunning() || waiting.length === 0) return
    const next = Math.min(...waiting.map(({ at }) => at))
    timer = setTimeout(pump, Math.max(1, next - clock.now())).unref()
  }
  const pump = (): void => {
    if (isStopped) return
    const now = clock.now()
    const due = waiting.filter(({ at }) => at <= now)
    if (due.length > 0) {
      waiting = waiting.filter(({ at }) => at > now)
      ready.push(...due.sort((a, b) => a.at - b.at).map(({ task }) => task))
    }
    const free = Math.max(0, concurrency() - active)
    const next = ready.slice(0, free)
    if (next.length > 0) ready = ready.slice(free)
    for (const task of next) void runOne(task)
    scheduleNext()
    if (active === 0 && ready.length === 0) for (const resolve of settling.splice(0)) resolve()
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
    size: () => ready.length + waiting.length + active,
    stop: () => {
      isStopped = true
      clearTimeout(timer)
      for (const resolve of settling.splice(0)) resolve()
    },
  }
}
