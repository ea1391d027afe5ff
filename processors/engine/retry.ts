import { Fault } from '../../schemas/fault.ts'
import type { Clock } from './clock.ts'

export interface Retry {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Told of every failed try, so that a stuck pipeline says why. */
  readonly failed: (error: unknown) => void
  readonly firstMs?: number
  readonly lastMs?: number
}

export const isRetriable = (error: unknown): boolean => error instanceof Fault && error.retriable

/** The one retry loop: retriable faults are tried again with doubling pauses until the signal aborts; others pass through. */
export const retrying = async <T>(attempt: () => Promise<T>, { clock, signal, failed, firstMs = 50, lastMs = 5_000 }: Retry): Promise<T> => {
  for (let pause = firstMs; ; pause = Math.min(pause * 2, lastMs)) {
    try {
      return await attempt()
    } catch (error) {
      if (!isRetriable(error) || signal.aborted) throw error
      failed(error)
      await clock.sleep(pause, signal)
      if (signal.aborted) throw error
    }
  }
}
