import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { takeFileLock } from '../../processors/adapters/duckdb/lock.ts'
import type { LmdbStores } from '../../processors/adapters/lmdb/store.ts'
import type { Lock } from '../../processors/engine/generations/claim.ts'
import { totalOf } from '../../processors/engine/generations/positions.ts'
import type { BuildWork, BuildStorage } from '../../processors/engine/rebuild/rebuild.ts'
import type { SeriesStores } from '../../processors/engine/ports/series.ts'
import type { Stores } from '../../processors/engine/ports/store.ts'
import type { Domain } from '../../projections/projection.ts'
import type { Config } from '../config/config.ts'
import { buildShared, workersFor } from './build-workers.ts'
import { dropSeries, buildStorageSeries } from './series.ts'
import { connectIn } from '../ipc/unix-socket.ts'

/** The part of the configuration that a worker needs to open the data folder and the domains of the process that started the worker. */
type WorkerConfig = Pick<Config, 'data'> & { readonly domains: Pick<Config['domains'], 'selection'> }

/** Returns the storage for builds of embedded generations. A build writes directly to the tables in the data folder. */
export const embeddedBuildStorage = (
  { data, domains: { selection } }: WorkerConfig,
  domain: Domain,
  { tables, series }: { readonly tables: LmdbStores; readonly series: SeriesStores },
): BuildStorage => ({
  // This text must be the same for every process that uses the folder. Two paths can lead to the same folder, so the text does not contain the path.
  place: 'the data folder',
  lock: lockIn(data, domain),
  open: (generation) => tables.create(domain.table, generation),
  ...buildStorageSeries(domain, series),
  // Only one writer can open a file of points, so one worker builds a domain with a series.
  workers: domain.series === undefined ? workersFor : () => 1,
  share: (work) => buildShared({ data, selection }, domain, work),
  discard: async (generation) => {
    await dropSeries(domain, series, generation)
    await tables.drop(domain.table, generation)
  },
})

/** The part of a log that several workers fold into tables before the calling process continues with these tables. */
export type SharedWork = Pick<BuildWork, 'log' | 'codec' | 'ends' | 'progress' | 'signal'>

/**
 * Returns a function that folds `work` into the tables of a folder with several workers. Returns undefined if one worker must fold alone:
 * without `work`, for a domain with a series, and for a short log.
 */
export const sharedFold = (
  { data, domains: { selection } }: WorkerConfig,
  domain: Domain,
  work: SharedWork | undefined,
): ((tables: string) => Promise<void>) | undefined => {
  const workers = work === undefined || domain.series !== undefined ? 1 : workersFor(totalOf(work.ends))
  if (work === undefined || workers === 1) return undefined
  return async (tables) =>
    void (await buildShared({ data, tables, selection }, domain, { ...work, generation: 1, unsent: [], workers }))
}

/** Returns the storage for builds in the data folder of this machine. At the end of a build, the items are copied to the table in DynamoDB. */
export const servicesBuildStorage = (
  data: string,
  domain: Domain,
  { stores, series }: { readonly stores: Stores; readonly series: SeriesStores },
): BuildStorage => {
  const folder = join(data, 'builds')
  const local = async (): Promise<LmdbStores> =>
    (await import('../../processors/adapters/lmdb/store.ts')).lmdbStores({ folder })
  const clear = (generation: number): Promise<void> =>
    rm(join(folder, domain.table.name, `g${generation}`), { recursive: true, force: true })
  return {
    clear,
    ...buildStorageSeries(domain, series),
    place: `${hostname()}:${data}`,
    lock: lockIn(data, domain),
    open: async (generation) => (await local()).create(domain.table, generation),
    copyTo: (generation) => stores.create(domain.table, generation),
    discard: async (generation) => {
      await clear(generation)
      await dropSeries(domain, series, generation)
      await stores.drop(domain.table, generation)
    },
  }
}

/** Takes the lock for the build of a generation in this folder. Undefined if another process builds this generation here. */
const lockIn =
  (data: string, { name }: Domain) =>
  async (generation: number): Promise<Lock | undefined> => {
    mkdirSync(data, { recursive: true, mode: 0o700 })
    const build = `build-${name}-g${generation}`
    const lock = await takeFileLock(join(data, 'locks', build))
    if (lock === undefined) return undefined
    // A process of an earlier release has no such lock. It listens on this socket while it builds.
    const former = await connectIn(data, `${build}.sock`)
    if (former !== undefined) {
      former.destroy()
      lock.release()
      return undefined
    }
    return { release: () => Promise.resolve(lock.release()) }
  }
