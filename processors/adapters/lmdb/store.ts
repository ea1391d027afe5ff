import { existsSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isProgramTable, type TableSpec } from '../../../projections/table.ts'
import { tableMissing } from '../../engine/rows/store-faults.ts'
import type { Stores } from '../../engine/ports/store.ts'
import { dataFile } from './environment.ts'
import { openGeneration, type LmdbStore } from './generation.ts'

export type { LmdbStore } from './generation.ts'

export interface LmdbStores extends Stores {
  open(spec: TableSpec, generation: number): Promise<LmdbStore>
  create(spec: TableSpec, generation: number): Promise<LmdbStore>
}

export interface LmdbStoresOptions {
  readonly folder: string
  /** True for a table that cannot be rebuilt from a log. Commits to it resolve when they are on disk. Default: the tables named `tributary-…`. */
  readonly durable?: (spec: TableSpec) => boolean
  /**
   * The name of this writer, if several writers write different keys in parallel, such as the workers of a build. Each writer has its own
   * checkpoints. Default: this is the only writer.
   */
  readonly share?: string
  /** True if the data is not needed after this process ends. Commits then do not wait for the disk. Default: false. */
  readonly temporary?: boolean
}

/** Each generation of each table has its own environment, so a build in another process never delays live commits. */
export const lmdbStores = ({ folder, durable = isProgramTable, share, temporary }: LmdbStoresOptions): LmdbStores => {
  const openStores = new Map<string, { readonly store: LmdbStore; users: number }>()
  const pathOf = (spec: TableSpec, generation: number): string => join(folder, spec.name, `g${generation}`)

  const release = async (path: string): Promise<void> => {
    const entry = openStores.get(path)
    if (entry === undefined || --entry.users > 0) return
    openStores.delete(path)
    await entry.store.close()
  }
  const close = async (path: string): Promise<void> => {
    const entry = openStores.get(path)
    openStores.delete(path)
    await entry?.store.close()
  }
  const open = (spec: TableSpec, generation: number): LmdbStore => {
    const path = pathOf(spec, generation)
    const entry = openStores.get(path) ?? {
      store: openGeneration({
        path,
        spec,
        durable: durable(spec),
        ...(share === undefined ? {} : { share }),
        ...(temporary && { temporary }),
      }),
      users: 0,
    }
    entry.users++
    openStores.set(path, entry)
    let released: Promise<void> | undefined
    return { ...entry.store, close: () => (released ??= release(path)) }
  }
  const exists = (spec: TableSpec, generation: number): boolean => existsSync(dataFile(pathOf(spec, generation)))
  return {
    open: async (spec, generation) => {
      if (!exists(spec, generation))
        throw tableMissing(`generation ${generation} of ${spec.name} (${pathOf(spec, generation)})`)
      return open(spec, generation)
    },
    create: async (spec, generation) => open(spec, generation),
    drop: async (spec, generation) => {
      const path = pathOf(spec, generation)
      await close(path)
      if (existsSync(path)) await rm(path, { recursive: true })
    },
    measure: async (spec, generation) => {
      const path = pathOf(spec, generation)
      if (!exists(spec, generation)) return undefined
      return { items: (await openStores.get(path)?.store.count()) ?? null, bytes: await bytesIn(path) }
    },
    close: async () => {
      await Promise.all([...openStores.keys()].map(close))
    },
  }
}

const bytesIn = async (path: string): Promise<number> => {
  const sizes = (await readdir(path)).map(
    async (name) => (await stat(join(path, name)).catch(() => undefined))?.size ?? 0,
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
