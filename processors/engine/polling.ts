import type { Clock } from './clock.ts'
import { isRetriable, retrying } from './retry.ts'

export interface PollingParts {
  readonly clock: Clock
  readonly pollMs: number
  readonly failed: (error: unknown) => void
}

export interface Polling {
  /** Something may be waiting: look now. */
  wake(): void
  /** Resolves when the round under way has ended. */
  stop(): Promise<void>
}

/** Without a reason of its own, every nap that is cut short would make an error with a stack. */
const WOKEN = 'woken'

/** The one loop of those who look now and then whether there is something to do. */
export const startPolling = ({ clock, pollMs, failed }: PollingParts, round: (signal: AbortSignal) => Promise<void>): Polling => {
  const stopping = new AbortController()
  let nap = new AbortController()
  const loop = async () => {
    while (!stopping.signal.aborted) {
      await retrying(() => round(stopping.signal), { clock, when: { error: isRetriable }, signal: stopping.signal, failed }).catch(failed)
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
