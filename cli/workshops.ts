import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { takeFileLock } from '../processors/adapters/duckdb/lock.ts'
import type { LmdbStores } from '../processors/adapters/lmdb/store.ts'
import type { Lock } from '../processors/engine/claim.ts'
import { totalOf } from '../processors/engine/positions.ts'
import type { BuildWork, Workshop } from '../processors/engine/rebuild.ts'
import type { SeriesStores } from '../processors/engine/series.ts'
import type { Stores } from '../processors/engine/store.ts'
import type { Domain } from '../projections/projection.ts'
import { buildShared, workersFor } from './build-workers.ts'
import { dropSeries, workshopSeries } from './series.ts'
import { callIn } from './unix-socket.ts'

/** Generations of embedded tables are built where they lie. */
export const embeddedWorkshop = (data: string, domain: Domain, { tables, series }: { readonly tables: LmdbStores; readonly series: SeriesStores }): Workshop => ({
  // Wherever the folder is: its control table lies in it, and so does the lock.
  place: 'the data folder',
  lock: lockIn(data, domain),
  open: (generation) => tables.create(domain.table, generation),
  ...workshopSeries(domain, series),
  // A file of points has one writer.
  workers: domain.series === undefined ? workersFor : () => 1,
  share: (work) => buildShared({ data }, domain, work),
  discard: async (generation) => {
    await dropSeries(domain, series, generation)
    await tables.drop(domain.table, generation)
  },
})

/** What several workers fold before one goes on. */
export type SharedWork = Pick<BuildWork, 'log' | 'codec' | 'ends' | 'progress' | 'signal'>

/** Folds into the tables of a folder, where the log is embedded and long enough to share the work. */
export const sharedFold = (data: string, domain: Domain, work: SharedWork | undefined): ((tables: string) => Promise<void>) | undefined => {
  const workers = work === undefined || domain.series !== undefined ? 1 : workersFor(totalOf(work.ends))
  if (work === undefined || workers === 1) return undefined
  return async (tables) => void (await buildShared({ data, tables }, domain, { ...work, generation: 1, owed: [], workers }))
}

/** Generations of tables elsewhere are built in the data folder of this machine, and copied when they are done. */
export const servicesWorkshop = (data: string, domain: Domain, { stores, series }: { readonly stores: Stores; readonly series: SeriesStores }): Workshop => {
  const folder = join(data, 'builds')
  const local = async (): Promise<LmdbStores> => (await import('../processors/adapters/lmdb/store.ts')).lmdbStores({ folder })
  const clear = (generation: number): Promise<void> => rm(join(folder, domain.table.name, `g${generation}`), { recursive: true, force: true })
  return {
    clear,
    ...workshopSeries(domain, series),
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

/** Undefined if another process builds the generation in this folder. */
const lockIn = (data: string, { name }: Domain) => async (generation: number): Promise<Lock | undefined> => {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const build = `build-${name}-g${generation}`
  const lock = await takeFileLock(join(data, 'locks', build))
  if (lock === undefined) return undefined
  // A process of an earlier release listens on this socket while it builds.
  const former = await callIn(data, `${build}.sock`)
  if (former !== undefined) {
    former.destroy()
    lock.release()
    return undefined
  }
  return { release: () => Promise.resolve(lock.release()) }
}
