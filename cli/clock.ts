import type { Clock } from '../processors/engine/clock.ts'

export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve()
      const woken = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', woken)
        resolve()
      }
      const timer = setTimeout(woken, ms)
      signal?.addEventListener('abort', woken, { once: true })
    }),
}
