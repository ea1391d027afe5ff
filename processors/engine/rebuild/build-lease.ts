import { isFault } from '../../../schemas/fault.ts'
import type { Clock } from '../ports/clock.ts'
import type { Control } from '../generations/control.ts'
import type { BuildState, Generation } from '../generations/generation.ts'

export interface Progress {
  readonly what: 'folded' | 'written'
  readonly done: number
  readonly of: number
}

/** The lease of a running build. Each extension stores the state with which another process can resume the build. */
export interface BuildLease {
  /** Aborted if the build must stop: because the caller aborted it, or because it lost its lease. */
  readonly signal: AbortSignal
  state(): BuildState
  /** Resolves when the new state is stored. */
  change(to: Partial<BuildState>): Promise<void>
  report(progress: Progress): void
  stop(): Promise<void>
}

export interface BuildLeaseParts {
  readonly domain: { readonly name: string }
  readonly control: Pick<Control, 'renew'>
  readonly clock: Clock
  readonly holder: string
  readonly storage: { readonly place: string }
  readonly signal?: AbortSignal
  readonly progress?: (progress: Progress) => void
}

const RENEW_MS = 5_000
/** The faults that end the build. */
const STOPS = ['lease-lost', 'build-cancelled', 'build-outdated']

export const keepBuildLease = (
  { domain, control, holder, clock, storage, ...parts }: BuildLeaseParts,
  { generation, work }: Generation,
): BuildLease => {
  const [lost, done] = [new AbortController(), new AbortController()]
  let state: BuildState = work ?? {
    ends: new Map(),
    workers: 1,
    place: storage.place,
    unsent: [],
    events: 0,
    perSecond: 0,
  }
  const rateOf = createRate(clock, state.events)
  let saved: Promise<void> = Promise.resolve()
  // Waits for the previous write, so that an older state never replaces a newer one.
  const save = () =>
    (saved = saved.catch(() => undefined).then(() => control.renew(domain.name, generation, { ...state, holder })))
  const renew = async () => {
    state = { ...state, perSecond: rateOf(state.events) }
    // Other errors are ignored: the lease is valid for longer than a few attempts to extend it take.
    await save().catch((error: unknown) => (STOPS.some((code) => isFault(error, code)) ? lost.abort(error) : undefined))
  }
  const keep = async () => {
    while (!done.signal.aborted && !lost.signal.aborted) {
      await clock.sleep(RENEW_MS, done.signal)
      if (!done.signal.aborted) await renew()
    }
  }
  const keeping = keep()
  return {
    signal: AbortSignal.any([lost.signal, ...(parts.signal === undefined ? [] : [parts.signal])]),
    state: () => state,
    change: async (to) => {
      state = { ...state, ...to }
      await save()
    },
    report: (progress) => {
      if (progress.what === 'folded') state = { ...state, events: progress.done }
      parts.progress?.(progress)
    },
    stop: async () => {
      if (done.signal.aborted) return
      done.abort()
      await keeping
      await save().catch(() => undefined)
    },
  }
}

const createRate = (clock: Clock, first: number) => {
  let last = { at: clock.now(), events: first }
  return (events: number): number => {
    const now = clock.now()
    const rate = ((events - last.events) * 1000) / Math.max(1, now - last.at)
    last = { at: now, events }
    return Math.max(0, Math.round(rate))
  }
}
