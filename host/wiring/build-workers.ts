import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { LmdbStores } from '../../processors/adapters/lmdb/store.ts'
import { build, type Built } from '../../processors/engine/rebuild/build.ts'
import type { Verdict } from '../../processors/engine/poison/verdicts.ts'
import type { BuildWork } from '../../processors/engine/rebuild/rebuild.ts'
import type { Domain } from '../../projections/projection.ts'
import { openTables } from './embedded.ts'
import type { UnsentEvents } from '../../processors/engine/generations/generation.ts'

/** The part of a build that one worker folds: the share number `index` of `of` shares. `ends`: partition and end offset. */
export interface BuildShare extends BuildPlace {
  readonly domain: string
  readonly generation: number
  readonly ends: readonly (readonly [number, number])[]
  readonly unsent: readonly UnsentEvents[]
  readonly marks: readonly Verdict[]
  readonly index: number
  readonly of: number
  readonly workingSet?: number
  readonly writesPerSecond?: number
}

export type BuildMessage =
  | { readonly kind: 'progress'; readonly events: number }
  | { readonly kind: 'stopped' }
  | ({ readonly kind: 'done' } & Built)

/** The folders and the domains that the workers of a build open. */
export interface BuildPlace {
  /** The folder that contains the embedded log and the keys. */
  readonly data: string
  /** The folder of the tables. Default: the folder `tables` in `data`. */
  readonly tables?: string
  /** The value of `TRIBUTARY_DOMAINS`. */
  readonly selection?: string | undefined
}

/**
 * Opens the tables of a build. Tables outside the data folder are temporary: only this command uses them.
 * `share`: names one of several writers, which stores its checkpoints under this name. Default: there is one writer.
 */
export const openBuildTables = ({ data, tables }: BuildPlace, share?: string): Promise<LmdbStores> =>
  openTables(tables ?? join(data, 'tables'), {
    temporary: tables !== undefined,
    ...(share === undefined ? {} : { share }),
  })

/** The minimum number of events for several workers. With fewer events, the start of the workers takes more time than they save. */
const WORTH_SHARING = 100_000
const MOST_WORKERS = 4
/** The number of events of each partition that one writer folds before the workers start. */
const PRIMING = 2_000
/** The young generation of V8's heap, in MB. With this size, most objects of a fold are garbage before V8 copies them a second time. */
const NURSERY_MB = 48

/** The number of workers: at most one per core, and one for a short log. */
export const workersFor = (events: number): number =>
  events < WORTH_SHARING ? 1 : Math.min(availableParallelism(), MOST_WORKERS)

/**
 * Builds an embedded generation with several workers. Each worker folds its share of the keys. If one worker fails, the others are stopped.
 * Settles when no worker writes any more, so the next build of the generation can begin.
 */
export const buildShared = async (
  place: BuildPlace,
  domain: Domain,
  work: BuildWork & { readonly workers: number },
): Promise<Built> => {
  const { generation, ends, unsent, workers, workingSet, writesPerSecond } = work
  const marks = (await work.log.verdicts?.()) ?? []
  const primed = await prime(place, domain, work)
  const done = Array.from({ length: workers }, () => 0)
  const common = {
    data: place.data,
    selection: place.selection,
    domain: domain.name,
    generation,
    ends: [...ends],
    unsent,
    marks,
    of: workers,
    ...(place.tables === undefined ? {} : { tables: place.tables }),
    ...(workingSet === undefined ? {} : { workingSet }),
    ...(writesPerSecond === undefined ? {} : { writesPerSecond: writesPerSecond / workers }),
  }
  const shares = done.map((_, index) => ({ ...common, index }))
  const built = await runAll(
    work.signal,
    shares.map(
      (share) => (signal) =>
        runShare(share, signal, (events) => {
          done[share.index] = events
          // Every worker reads the whole log, so the progress of the build is the progress of the slowest worker.
          work.progress(Math.min(...done))
        }),
    ),
  )
  const tables = await openBuildTables(place)
  await (await tables.create(domain.table, generation)).write([], [], ends)
  await tables.close()
  return {
    events: primed.events + Math.max(...built.map(({ events }) => events)),
    parked: built.flatMap(({ parked }) => parked),
    rejected: 0,
    omitted: built.reduce((sum, { omitted }) => sum + omitted, primed.omitted),
  }
}

/**
 * Folds the first events with one writer. A table numbers each combination of attribute names that its items have, and several writers at once
 * cannot assign these numbers. After the first events, most combinations have their number. Returns the result of this part.
 */
const prime = async (
  place: BuildPlace,
  domain: Domain,
  { log, codec, generation, ends, unsent, signal }: BuildWork,
): Promise<Built> => {
  const tables = await openBuildTables(place)
  const target = await tables.create(domain.table, generation)
  const first = new Map([...ends].map(([partition, end]) => [partition, Math.min(end, PRIMING)]))
  return build({
    domain,
    log,
    codec,
    target,
    unsent,
    ends: first,
    ...(signal === undefined ? {} : { signal }),
  }).finally(() => tables.close())
}

/** Runs all works. If one fails, aborts the others, and rejects with the first failure when all have settled. */
const runAll = async <T>(
  signal: AbortSignal | undefined,
  works: readonly ((signal: AbortSignal) => Promise<T>)[],
): Promise<readonly T[]> => {
  const failing = new AbortController()
  const stopping = signal === undefined ? failing.signal : AbortSignal.any([signal, failing.signal])
  const running = works.map((work) =>
    work(stopping).catch((error: unknown) => {
      failing.abort(error)
      throw error
    }),
  )
  await Promise.allSettled(running)
  failing.signal.throwIfAborted()
  return Promise.all(running)
}

const runShare = (share: BuildShare, signal: AbortSignal, progress: (events: number) => void): Promise<Built> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./build-worker.js', import.meta.url), {
      workerData: share,
      resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB },
    })
    // The worker finishes its current write before it stops.
    const stop = () => worker.postMessage('stop')
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    worker.on('message', (message: BuildMessage) => {
      if (message.kind === 'progress') return progress(message.events)
      signal.removeEventListener('abort', stop)
      if (message.kind === 'done') resolve(message)
      else reject(signal.reason as Error)
    })
    let failure: unknown
    worker.once('error', (error) => (failure = error))
    // A worker that fails emits `error` before its thread ends, so this waits for the end. After `done` or `stopped` the rejection has no effect.
    worker.once('exit', (code) =>
      reject(failure ?? new Error(`A worker of the build ended with code ${code} before it finished.`)),
    )
  })
