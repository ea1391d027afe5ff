import type { Clock } from '../../../processors/engine/ports/clock.ts'

/** A clock whose time passes only when the test calls `pass`. */
export interface VirtualClock extends Clock {
  pass(ms: number): Promise<void>
}

export const virtualClock = (start = 1_000_000): VirtualClock => {
  let now = start
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>()
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const sleeper = {
          at: now + ms,
          wake: () => {
            sleepers.delete(sleeper)
            signal?.removeEventListener('abort', sleeper.wake)
            resolve()
          },
        }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', sleeper.wake, { once: true })
      }),
    pass: async (ms) => {
      await settle()
      const until = now + ms
      for (;;) {
        const [next] = [...sleepers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)
        if (next === undefined) break
        now = Math.max(now, next.at)
        next.wake()
        await settle()
      }
      now = until
      await settle()
    },
  }
}
