import type { Clock } from '../engine/ports/clock.ts'

/** Waits for the work, at most `ms` milliseconds. Resolves to true if the work ended in time, otherwise to false. Rejects if the work rejects. */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const over = new AbortController()
  try {
    return await Promise.race([work.then(() => true), clock.sleep(ms, over.signal).then(() => false)])
  } finally {
    over.abort()
  }
}
