import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../engine/ports/clock.ts'

/** The clock of the operating system. `sleep` resolves early if its signal is aborted. */
export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) =>
    delay(Math.max(0, ms), undefined, signal === undefined ? {} : { signal }).catch(() => undefined),
  yield: () => turn(),
}
