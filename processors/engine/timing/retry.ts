import type { Clock } from '../ports/clock.ts'

export interface Retry<T> {
  readonly clock: Pick<Clock, 'sleep'>
  /** Each returns true for an error or a result after which the attempt must be repeated. Default: false. */
  readonly when: { readonly error?: (error: unknown) => boolean; readonly result?: (result: T) => boolean }
  /** Returns true if the attempts must end. Receives the number of retries so far. Default: never. */
  readonly until?: (retries: number) => boolean
  /** Ends the attempts if it is aborted, also in the middle of a pause. */
  readonly signal?: AbortSignal | undefined
  /** The pause before the next attempt in milliseconds. Default: 50, doubled each time up to 5,000. */
  readonly pause?: (retries: number) => number
  /** Receives each error after which the attempt is repeated. */
  readonly failed?: (error: unknown) => void
}

/** For `until`: ends the attempts `ms` milliseconds after this call. */
export const after = (clock: Pick<Clock, 'now'>, ms: number): (() => boolean) => {
  const end = clock.now() + ms
  return () => clock.now() >= end
}

/** For `pause`: `ms` milliseconds each time. */
export const every = (ms: number) => (): number => ms
/** For `pause`: begins with `firstMs` and doubles each time, up to `lastMs`. */
export const doubling =
  (firstMs: number, lastMs: number) =>
  (retries: number): number =>
    Math.min(lastMs, firstMs * 2 ** retries)

/**
 * Repeats the attempt while `when` requires it and neither `until` nor the signal ends the attempts. Returns the result or throws the error
 * of the last attempt.
 */
export const retrying = async <T>(
  attempt: () => Promise<T>,
  { clock, when, until, signal, pause = doubling(50, 5_000), failed }: Retry<T>,
): Promise<T> => {
  const isStopped = (): boolean => signal?.aborted === true
  for (let retries = 0; ; retries += 1) {
    const [last] = await Promise.allSettled([attempt()])
    const isWanted = last.status === 'fulfilled' ? when.result?.(last.value) : when.error?.(last.reason)
    if (isWanted === true && until?.(retries) !== true && !isStopped()) {
      if (last.status === 'rejected') failed?.(last.reason)
      await clock.sleep(pause(retries), signal)
      if (!isStopped()) continue
    }
    if (last.status === 'fulfilled') return last.value
    throw last.reason
  }
}
