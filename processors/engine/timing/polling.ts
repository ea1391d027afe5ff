import { isRetriable } from '../../../schemas/fault.ts'
import type { Clock } from '../ports/clock.ts'
import { retrying } from './retry.ts'

export interface PollingParts {
  readonly clock: Clock
  readonly pollMs: number
  readonly failed: (error: unknown) => void
}

export interface Polling {
  /** Starts the next round at once, or when the running round has ended. */
  wake(): void
  /** Starts no further round. Resolves when the running round has ended. */
  stop(): Promise<void>
}

/** The reason that is passed to `abort`. Without a reason, each abort would create an error with a stack, which takes time. */
const WOKEN = 'woken'

/**
 * Calls `round` at once, and again `pollMs` milliseconds after each round. Repeats a round after a retriable error. Reports other errors to
 * `failed` and goes on with the next round.
 */
export const startPolling = (
  { clock, pollMs, failed }: PollingParts,
  round: (signal: AbortSignal) => Promise<void>,
): Polling => {
  const stopping = new AbortController()
  let nap = new AbortController()
  const loop = async () => {
    while (!stopping.signal.aborted) {
      await retrying(() => round(stopping.signal), {
        clock,
        when: { error: isRetriable },
        signal: stopping.signal,
        failed,
      }).catch(failed)
      if (stopping.signal.aborted) return
      await clock.sleep(pollMs, nap.signal)
      nap = new AbortController()
    }
  }
  const running = loop()
  return {
    wake: () => nap.abort(WOKEN),
    stop: async () => {
      stopping.abort()
      nap.abort(WOKEN)
      await running
    },
  }
}
