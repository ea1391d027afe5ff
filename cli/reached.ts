import type { Clock } from '../processors/engine/clock.ts'
import type { Log } from '../processors/engine/log.ts'
import { endsOf, missingTo } from '../processors/engine/positions.ts'
import type { Store } from '../processors/engine/store.ts'

export interface ReachedParts {
  readonly log: Pick<Log, 'watermarks'>
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** What stands still for so long is followed by nobody, and so stays as it is. */
const STILL_MS = 3_000
const POLL_MS = 20

/** Waits until all passed where the log ends now, or stand still; gives which did. */
export const untilReached = async (stores: readonly Pick<Store, 'checkpoints'>[], { log, clock, signal }: ReachedParts): Promise<readonly boolean[]> => {
  const ends = await endsOf(log)
  let [last, movedAt] = ['', clock.now()]
  for (;;) {
    const reached = await Promise.all(stores.map((store) => store.checkpoints()))
    const passed = reached.map((positions) => missingTo(ends, positions) === 0)
    if (passed.every((each) => each)) return passed
    signal.throwIfAborted()
    const now = JSON.stringify(reached.map((positions) => [...positions]))
    if (now !== last) [last, movedAt] = [now, clock.now()]
    if (clock.now() - movedAt >= STILL_MS) return passed
    await clock.sleep(POLL_MS, signal)
  }
}
