import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

/** The seeds of one worker: `count` numbers that begin with `first`. The difference between two successive seeds is `step`. */
export interface SeedShare {
  /** The value of TRIBUTARY_DOMAINS. */
  readonly selection: string | undefined
  readonly first: number
  readonly step: number
  readonly count: number
}

export type SeedMessage =
  | { readonly kind: 'ran'; readonly seeds: number; readonly events: number; readonly calls: number }
  | { readonly kind: 'failed'; readonly seed: number }
  | { readonly kind: 'done' }

export interface Ran {
  readonly seeds: number
  readonly events: number
  readonly calls: number
  /** The lowest seed whose run broke a rule. */
  readonly failed?: number
}

export interface SeedsOptions extends Pick<SeedShare, 'selection'> {
  readonly first: number
  readonly seeds: number
  readonly signal: AbortSignal
  readonly progress: (ran: Ran) => void
}

/** The young generation of V8's heap, in MB. With this size, all objects of a run are garbage before V8 copies them. */
const NURSERY_MB = 192

/** Runs `seeds` seeds from `first` on, on all cores. The first failure ends all workers. */
export const runSeeds = async ({ selection, first, seeds, signal, progress }: SeedsOptions): Promise<Ran> => {
  const step = Math.min(availableParallelism(), Math.max(1, seeds))
  let ran: Ran = { seeds: 0, events: 0, calls: 0 }
  const ended = new AbortController()
  const receive = (message: SeedMessage) => {
    if (message.kind === 'ran')
      ran = {
        ...ran,
        seeds: ran.seeds + message.seeds,
        events: ran.events + message.events,
        calls: ran.calls + message.calls,
      }
    if (message.kind === 'failed') {
      ran = { ...ran, failed: Math.min(message.seed, ran.failed ?? Infinity) }
      ended.abort()
    }
    progress(ran)
  }
  const shares = Array.from({ length: step }, (_, index) => ({
    selection,
    first: first + index,
    step,
    count: Math.ceil((seeds - index) / step),
  }))
  await Promise.all(shares.map((share) => runShare(share, AbortSignal.any([signal, ended.signal]), receive)))
  return ran
}

const runShare = (share: SeedShare, signal: AbortSignal, receive: (message: SeedMessage) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./simulate-worker.js', import.meta.url), {
      workerData: share,
      resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB },
    })
    const stop = () => void worker.terminate().then(() => resolve())
    signal.addEventListener('abort', stop, { once: true })
    worker.on('message', (message: SeedMessage) => {
      receive(message)
      if (message.kind === 'done') resolve()
    })
    worker.once('error', reject)
  })
