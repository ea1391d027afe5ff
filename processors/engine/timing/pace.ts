import type { Clock } from '../ports/clock.ts'
import type { Pace } from '../ports/store.ts'

export interface PaceParts {
  readonly clock: Clock
  readonly perSecond: number
  readonly signal?: AbortSignal
}

/** Spreads writes evenly over time, at most `perSecond` writes per second, so that a build leaves capacity to the serving generation. */
export const createPace = ({ clock, perSecond, signal }: PaceParts): Pace => {
  let free = clock.now()
  return async (writes) => {
    const now = clock.now()
    const wait = free - now
    free = Math.max(free, now) + (writes / perSecond) * 1000
    if (wait > 0) await clock.sleep(wait, signal)
  }
}
