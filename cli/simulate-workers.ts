import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

/** One worker's seeds: `count` of them, `step` apart. */
export interface SeedsShare {
  readonly first: number
  readonly step: number
  readonly count: number
}

export type SeedsSaid =
  | { readonly kind: 'ran'; readonly seeds: number; readonly events: number; readonly calls: number }
  | { readonly kind: 'failed'; readonly seed: number }
  | { readonly kind: 'done' }

export interface Ran {
  readonly seeds: number
  readonly events: number
  readonly calls: number
  /** The lowest seed that broke a rule. */
  readonly failed?: number
}

export interface SeedsOptions {
  readonly first: number
  readonly seeds: number
  readonly signal: AbortSignal
  readonly progress: (ran: Ran) => void
}

/** A larger nursery: what a run makes is dead when it ends. */
const NURSERY_MB = 192

/** As many seeds as asked for, shared among the cores; the first that fails ends all. */
export const runSeeds = async ({ first, seeds, signal, progress }: SeedsOptions): Promise<Ran> => {
  const step = Math.min(availableParallelism(), Math.max(1, seeds))
  let ran: Ran = { seeds: 0, events: 0, calls: 0 }
  const ended = new AbortController()
  const hear = (said: SeedsSaid) => {
    if (said.kind === 'ran') ran = { ...ran, seeds: ran.seeds + said.seeds, events: ran.events + said.events, calls: ran.calls + said.calls }
    if (said.kind === 'failed') {
      ran = { ...ran, failed: Math.min(said.seed, ran.failed ?? Infinity) }
      ended.abort()
    }
    progress(ran)
  }
  const shares = Array.from({ length: step }, (_, index) => ({ first: first + index, step, count: Math.ceil((seeds - index) / step) }))
  await Promise.all(shares.map((share) => runShare(share, AbortSignal.any([signal, ended.signal]), hear)))
  return ran
}

const runShare = (share: SeedsShare, signal: AbortSignal, hear: (said: SeedsSaid) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./simulate-worker.js', import.meta.url), { workerData: share, resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB } })
    const stop = () => void worker.terminate().then(() => resolve())
    signal.addEventListener('abort', stop, { once: true })
    worker.on('message', (said: SeedsSaid) => {
      hear(said)
      if (said.kind === 'done') resolve()
    })
    worker.once('error', reject)
  })
