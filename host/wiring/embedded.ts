import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LmdbLogs } from '../../processors/adapters/lmdb/log.ts'
import type { LmdbStores, LmdbStoresOptions } from '../../processors/adapters/lmdb/store.ts'
import type { Series } from '../../processors/engine/ports/series.ts'
import type { BuildTarget } from '../../processors/engine/rebuild/build-target.ts'
import type { Domain } from '../../projections/projection.ts'
import { openEmbeddedSeries } from './series.ts'

export interface Scratch {
  readonly store: BuildTarget
  /** Undefined if the domain has no series. */
  readonly series: Series | undefined
  remove(): Promise<void>
}

/** Opens a temporary local store in a new folder. `fill` can write to the folder before the store is opened. */
export const makeScratch = async (
  { table, series: points }: Pick<Domain, 'table' | 'series'>,
  fill?: (folder: string) => Promise<void>,
): Promise<Scratch> => {
  const { lmdbStores } = await import('../../processors/adapters/lmdb/store.ts')
  const folder = await mkdtemp(join(tmpdir(), 'tributary-scratch-'))
  await fill?.(folder)
  const stores = lmdbStores({ folder, temporary: true })
  const store = await stores.create(table, 1)
  const series = points && (await openEmbeddedSeries(folder)).open(points, 1)
  const remove = async (): Promise<void> => {
    await series?.close()
    await stores.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { store, series, remove }
}

/** Opens the embedded tables in a folder. Only one process at a time may have the same table open. */
export const openTables = async (
  folder: string,
  options: Omit<LmdbStoresOptions, 'folder'> = {},
): Promise<LmdbStores> => {
  const { lmdbStores } = await import('../../processors/adapters/lmdb/store.ts')
  return lmdbStores({ folder, ...options })
}

/** Opens the embedded log. Mode `read`: for a process that runs next to the process that writes the log. */
export const openEmbeddedLogs = async (data: string, mode: 'write' | 'read'): Promise<LmdbLogs> => {
  const { lmdbLogs } = await import('../../processors/adapters/lmdb/log.ts')
  return lmdbLogs({ folder: join(data, 'log'), readOnly: mode === 'read' })
}
