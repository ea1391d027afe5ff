import { isFault } from '../../schemas/fault.ts'
import type { Clock } from './clock.ts'
import type { BuildState, Control, Generation } from './control.ts'

export interface Progress {
  readonly what: 'folded' | 'written'
  readonly done: number
  readonly of: number
}

/** Keeps the lease while a build goes on, and with it what another needs to go on with it. */
export interface Kept {
  /** Aborted when the build should stop, or is no longer its holder's. */
  readonly signal: AbortSignal
  state(): BuildState
  /** Written before anything is built with it. */
  change(to: Partial<BuildState>): Promise<void>
  tell(progress: Progress): void
  stop(): Promise<void>
}

export interface KeepParts {
  readonly domain: { readonly name: string }
  readonly control: Pick<Control, 'renew'>
  readonly clock: Clock
  readonly holder: string
  readonly workshop: { readonly place: string }
  readonly signal?: AbortSignal
  readonly progress?: (progress: Progress) => void
}

const RENEW_MS = 5_000
/** There is nothing more to keep. */
const STOPS = ['lease-lost', 'build-cancelled', 'build-outdated']

export const keepState = ({ domain, control, holder, clock, workshop, ...parts }: KeepParts, { generation, work }: Generation): Kept => {
  const [lost, done] = [new AbortController(), new AbortController()]
  let state: BuildState = work ?? { ends: new Map(), workers: 1, place: workshop.place, owed: [], events: 0, perSecond: 0 }
  const rateOf = createRate(clock, state.events)
  let saved: Promise<void> = Promise.resolve()
  // One after the other: of two at once the older could be written last, and take back what the newer one said.
  const save = () => (saved = saved.catch(() => undefined).then(() => control.renew(domain.name, generation, { ...state, holder })))
  const renew = async () => {
    state = { ...state, perSecond: rateOf(state.events) }
    // Not heard for once is no loss: the lease lasts longer than a few tries.
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
    tell: (progress) => {
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
