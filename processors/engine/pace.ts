import type { Clock } from './clock.ts'

/** Asked before each write, with how much it writes; resolves when its turn has come. */
export type Pace = (writes: number) => Promise<void>

export interface PaceParts {
  readonly clock: Clock
  readonly perSecond: number
  readonly signal?: AbortSignal
}

/** So many writes a second, evenly: a build leaves those who serve their share. */
export const createPace = ({ clock, perSecond, signal }: PaceParts): Pace => {
  let free = clock.now()
  return async (writes) => {
    const now = clock.now()
    const wait = free - now
    free = Math.max(free, now) + (writes / perSecond) * 1000
    if (wait > 0) await clock.sleep(wait, signal)
  }
}
