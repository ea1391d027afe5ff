import type { AskHandlers } from '../../../projections/ask.ts'
import type { Clock } from '../ports/clock.ts'
import { doubling } from '../timing/retry.ts'

/** The asks that this process does not call before a time. In memory only: after a restart, the fetcher tries them again. */
export interface PostponedAsks {
  /** Returns the time before which the ask cannot be called. Undefined: it can be called now. */
  until(id: string): number | undefined
  /** Resolves to the time before which no ask of the kind can be called. Undefined: they can be called now. */
  untilOfKind(kind: string): Promise<number | undefined>
  postpone(id: string, until: number): void
  /** Postpones the ask after a failure: 5 seconds, doubled at each failure up to an hour. */
  postponeFailed(id: string): void
  /** Forgets an ask that was answered. */
  forget(id: string): void
}

const FIRST_MS = 5_000
const LAST_MS = 3_600_000

export interface PostponedAsksParts {
  readonly clock: Pick<Clock, 'now'>
  readonly handlers: AskHandlers
  readonly failed: (error: unknown) => void
}

export const createPostponedAsks = ({ clock, handlers, failed }: PostponedAsksParts): PostponedAsks => {
  const times = new Map<string, { readonly until: number; readonly failures: number }>()
  const kinds = new Map<string, number>()
  const pause = doubling(FIRST_MS, LAST_MS)
  const isOver = (until: number | undefined): boolean => until === undefined || until <= clock.now()
  let prunedAt = clock.now()
  /** Forgets asks that were withdrawn: nothing has tried them for an hour after their time. */
  const prune = () => {
    if (clock.now() - prunedAt < LAST_MS) return
    prunedAt = clock.now()
    for (const [id, { until }] of times) if (until + LAST_MS <= prunedAt) times.delete(id)
  }
  return {
    until: (id) => {
      const until = times.get(id)?.until
      return isOver(until) ? undefined : until
    },
    untilOfKind: async (kind) => {
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
    postpone: (id, until) => {
      prune()
      times.set(id, { until, failures: times.get(id)?.failures ?? 0 })
    },
    postponeFailed: (id) => {
      prune()
      const failures = times.get(id)?.failures ?? 0
      times.set(id, { until: clock.now() + pause(failures), failures: failures + 1 })
    },
    forget: (id) => void times.delete(id),
  }
}
