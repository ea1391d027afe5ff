import { existsSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { TableSpec } from '../../../projections/table.ts'
import { tableMissing } from '../../engine/store-faults.ts'
import type { Stores } from '../../engine/store.ts'
import { dataFile } from './environment.ts'
import { openGeneration, type LmdbStore } from './generation.ts'

export type { LmdbStore } from './generation.ts'

export interface LmdbStores extends Stores {
  open(spec: TableSpec, generation: number): Promise<LmdbStore>
  create(spec: TableSpec, generation: number): Promise<LmdbStore>
}

export interface LmdbStoresOptions {
  readonly folder: string
  /** Tables that the log cannot bring back: their commits resolve on disk. */
  readonly durable?: (spec: TableSpec) => boolean
  /** This is one of several that write side by side, each its own keys, as the workers of a build do: the name under which it keeps its checkpoints. */
  readonly share?: string
  /** Tables that nobody needs after this process: nothing waits for the disk. */
  readonly fleeting?: boolean
}

const besideTheLog = ({ name }: TableSpec): boolean => name.startsWith('tributary-')

/** Each generation of each table is an environment of its own, so that a build in another process never holds up live commits. */
export const lmdbStores = ({ folder, durable = besideTheLog, share, fleeting }: LmdbStoresOptions): LmdbStores => {
  const opened = new Map<string, { readonly store: LmdbStore; users: number }>()
  const pathOf = (spec: TableSpec, generation: number): string => join(folder, spec.name, `g${generation}`)

  const leave = async (path: string): Promise<void> => {
    const entry = opened.get(path)
    if (entry === undefined || --entry.users > 0) return
    opened.delete(path)
    await entry.store.close()
  }
  const close = async (path: string): Promise<void> => {
    const entry = opened.get(path)
    opened.delete(path)
    await entry?.store.close()
  }
  const open = (spec: TableSpec, generation: number): LmdbStore => {
      const path = pathOf(spec, generation)
      const entry = opened.get(path) ?? { store: openGeneration({ path, spec, durable: durable(spec), ...(share === undefined ? {} : { share }), ...(fleeting && { fleeting }) }), users: 0 }
      entry.users++
      opened.set(path, entry)
      let left: Promise<void> | undefined
      return { ...entry.store, close: () => (left ??= leave(path)) }
  }
  const isThere = (spec: TableSpec, generation: number): boolean => existsSync(dataFile(pathOf(spec, generation)))
  return {
    open: async (spec, generation) => {
      if (!isThere(spec, generation)) throw tableMissing(`generation ${generation} of ${spec.name} (${pathOf(spec, generation)})`)
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
      if (!isThere(spec, generation)) return undefined
      return { items: (await opened.get(path)?.store.count()) ?? null, bytes: await bytesIn(path) }
    },
    close: async () => {
      await Promise.all([...opened.keys()].map(close))
    },
  }
}

const bytesIn = async (path: string): Promise<number> => {
  const sizes = (await readdir(path)).map(async name => (await stat(join(path, name)).catch(() => undefined))?.size ?? 0)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
