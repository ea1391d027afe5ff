import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { LmdbStores } from '../processors/adapters/lmdb/store.ts'
import { build, type Built, type Owed } from '../processors/engine/build.ts'
import type { Mark } from '../processors/engine/marks.ts'
import type { BuildWork } from '../processors/engine/rebuild.ts'
import type { Domain } from '../projections/projection.ts'
import { openTables } from './adapters.ts'

/** One worker's part of a build. */
export interface Share extends Place {
  readonly domain: string
  readonly generation: number
  readonly ends: readonly (readonly [number, number])[]
  readonly owed: readonly Owed[]
  readonly marks: readonly Mark[]
  readonly index: number
  readonly of: number
  readonly workingSet?: number
  readonly writesPerSecond?: number
}

export type Said =
  | { readonly kind: 'progress'; readonly events: number }
  | { readonly kind: 'stopped' }
  | ({ readonly kind: 'done' } & Built)

/** The folder that holds the embedded log and the keys, and the one of the tables where it is another. */
export interface Place {
  readonly data: string
  readonly tables?: string
}

/** Tables elsewhere than in the data folder are for this command alone. */
export const tablesAt = ({ data, tables }: Place, share?: string): Promise<LmdbStores> =>
  openTables(tables ?? join(data, 'tables'), { fleeting: tables !== undefined, ...(share === undefined ? {} : { share }) })

/** Below this a worker's start costs more than it saves. */
const WORTH_SHARING = 100_000
const MOST_WORKERS = 4
const PRIMING = 2_000
/** A larger nursery: most of what a fold makes is flushed before it would be moved a second time. */
const NURSERY_MB = 48

/** As many workers as there are cores, where that is worth it. */
export const workersFor = (events: number): number => (events < WORTH_SHARING ? 1 : Math.min(availableParallelism(), MOST_WORKERS))

/**
 * Builds an embedded generation with several workers, each folding its share of the keys. If one of them fails, the others are stopped. Settles when none of
 * them writes any more: the next build of the generation may begin then.
 */
export const buildShared = async (place: Place, domain: Domain, work: BuildWork & { readonly workers: number }): Promise<Built> => {
  const { generation, ends, owed, workers, workingSet, writesPerSecond } = work
  const marks = (await work.log.marks?.()) ?? []
  const primed = await prime(place, domain, work)
  const done = Array.from({ length: workers }, () => 0)
  const common = {
    data: place.data, domain: domain.name, generation, ends: [...ends], owed, marks, of: workers,
    ...(place.tables === undefined ? {} : { tables: place.tables }),
    ...(workingSet === undefined ? {} : { workingSet }),
    ...(writesPerSecond === undefined ? {} : { writesPerSecond: writesPerSecond / workers }),
  }
  const shares = done.map((_, index) => ({ ...common, index }))
  const built = await runAll(work.signal, shares.map((share) => (signal) => runShare(share, signal, (events) => {
    done[share.index] = events
    // Every worker reads the whole log; the slowest tells how far the build is.
    work.progress(Math.min(...done))
  })))
  const tables = await tablesAt(place)
  await (await tables.create(domain.table, generation)).write([], [], ends)
  await tables.close()
  return { events: primed + Math.max(...built.map(({ events }) => events)), parked: built.flatMap(({ parked }) => parked), rejected: 0 }
}

/** The first events by one writer alone: they teach the table the shapes of its items, which workers side by side cannot number. */
const prime = async (place: Place, domain: Domain, { log, codec, generation, ends, owed, signal }: BuildWork): Promise<number> => {
  const tables = await tablesAt(place)
  const target = await tables.create(domain.table, generation)
  const first = new Map([...ends].map(([partition, end]) => [partition, Math.min(end, PRIMING)]))
  const { events } = await build({ domain, log, codec, target, owed, ends: first, ...(signal === undefined ? {} : { signal }) }).finally(() => tables.close())
  return events
}

/** Rejects with the first failure, when all have settled. */
const runAll = async <T>(signal: AbortSignal | undefined, works: readonly ((signal: AbortSignal) => Promise<T>)[]): Promise<readonly T[]> => {
  const failing = new AbortController()
  const stopping = signal === undefined ? failing.signal : AbortSignal.any([signal, failing.signal])
  const running = works.map((work) => work(stopping).catch((error: unknown) => {
    failing.abort(error)
    throw error
  }))
  await Promise.allSettled(running)
  failing.signal.throwIfAborted()
  return Promise.all(running)
}

const runShare = (share: Share, signal: AbortSignal, progress: (events: number) => void): Promise<Built> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./build-worker.js', import.meta.url), { workerData: share, resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB } })
    // Asked, not ended: what it is writing is written to its end.
    const stop = () => worker.postMessage('stop')
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    worker.on('message', (said: Said) => {
      if (said.kind === 'progress') return progress(said.events)
      signal.removeEventListener('abort', stop)
      if (said.kind === 'done') resolve(said)
      else reject(signal.reason as Error)
    })
    let failure: unknown
    worker.once('error', (error) => (failure = error))
    // A worker that fails emits `error` before its thread has ended. After `done` or `stopped` this rejection has no effect.
    worker.once('exit', (code) => reject(failure ?? new Error(`A worker of the build ended with code ${code} before it had finished.`)))
  })
