import type { AskHandlers } from '../../../projections/ask.ts'
import type { Clock } from '../ports/clock.ts'
import { doubling } from '../timing/retry.ts'

/** The asks that this process does not call before a time. In memory only: after a restart, the fetcher tries them again. */
export interface HeldAsks {
  /** Returns the time before which the ask cannot be called. Undefined: it can be called now. */
  heldUntil(id: string): number | undefined
  /** Resolves to the time before which no ask of the kind can be called. Undefined: they can be called now. */
  kindHeldUntil(kind: string): Promise<number | undefined>
  hold(id: string, until: number): void
  /** Holds the ask back after a failure: 5 seconds, doubled at each failure up to an hour. */
  holdFailed(id: string): void
  /** Forgets an ask that was answered. */
  forget(id: string): void
}

const FIRST_MS = 5_000
const LAST_MS = 3_600_000

export interface HeldAsksParts {
  readonly clock: Pick<Clock, 'now'>
  readonly handlers: AskHandlers
  readonly failed: (error: unknown) => void
}

export const createHeldAsks = ({ clock, handlers, failed }: HeldAsksParts): HeldAsks => {
  const held = new Map<string, { readonly until: number; readonly failures: number }>()
  const kinds = new Map<string, number>()
  const pause = doubling(FIRST_MS, LAST_MS)
  const isOver = (until: number | undefined): boolean => until === undefined || until <= clock.now()
  let prunedAt = clock.now()
  /** Forgets asks that were withdrawn: nothing has tried them for an hour after their time. */
  const prune = () => {
    if (clock.now() - prunedAt < LAST_MS) return
    prunedAt = clock.now()
    for (const [id, { until }] of held) if (until + LAST_MS <= prunedAt) held.delete(id)
  }
  return {
    heldUntil: (id) => {
      const until = held.get(id)?.until
      return isOver(until) ? undefined : until
    },
    kindHeldUntil: async (kind) => {
      if (isOver(kinds.get(kind))) {
        const until = await handlers[kind]?.heldUntil?.().catch((error: unknown) => {
          failed(error)
          return clock.now() + FIRST_MS
        })
        if (until === undefined) kinds.delete(kind)
        else kinds.set(kind, until)
      }
      return isOver(kinds.get(kind)) ? undefined : kinds.get(kind)
    },
    hold: (id, until) => {
      prune()
      held.set(id, { until, failures: held.get(id)?.failures ?? 0 })
    },
    holdFailed: (id) => {
      prune()
      const failures = held.get(id)?.failures ?? 0
      held.set(id, { until: clock.now() + pause(failures), failures: failures + 1 })
    },
    forget: (id) => void held.delete(id),
  }
}
