import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../engine/clock.ts'

/** Real time. */
export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined),
  turn: () => turn(),
}
