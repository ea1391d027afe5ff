import type { RootDatabase } from 'lmdb'
import type { Stored } from '../../../projections/item.ts'
import type { TableSpec } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import { asFault, causeOf, openEnvironment } from './environment.ts'
import { createIndexer, openTables, type Tables } from './items.ts'

export interface GenerationParts {
  readonly path: string
  readonly spec: TableSpec
  readonly among: 'one writer' | 'several writers'
}

export interface Changes {
  /** By key; null is a removal. */
  readonly items: Iterable<readonly [string, Stored | null]>
  readonly checkpoints: ReadonlyMap<number, number>
}

/** A generation's environment, and the one way to write to it: all or nothing, in one transaction. */
export interface Writer {
  tables(): Tables
  /** Visible and on disk when it resolves. Fault: `store-unavailable`, and then nothing of it is there. */
  write(changes: Changes): Promise<void>
  close(): Promise<void>
}

const FORMAT = 1

export const openWriter = (parts: GenerationParts): Writer => {
  const { path, spec } = parts
  let opened = openAt(parts)
  return {
    tables: () => opened.tables,
    write: async changes => {
      const { root, tables } = opened
      try {
        await root.batch(() => put(tables, spec, changes))
      } catch (error) {
        // LMDB may stand in an error of its own now (a meta page it could not write): opened anew, it begins at what is on disk.
        const cause = await causeOf(error)
        await root.close().catch(() => undefined)
        opened = openAt(parts)
        throw asFault(cause, 'store-unavailable', `The table at ${path} could not be written; it is tried again. Free disk space if it is full`)
      }
    },
    close: () => opened.root.close(),
  }
}

const openAt = ({ path, spec, among }: GenerationParts): { root: RootDatabase; tables: Tables } => {
  const root = openEnvironment({ path })
  const tables = openTables(root, spec, among)
  const format = tables.meta.get('format')
  if (format === undefined) tables.meta.putSync('format', FORMAT)
  else if (typeof format !== 'number' || format > FORMAT) {
    void root.close()
    throw new Fault('data-newer-version', `The table at ${path} has format ${String(format)}; this program knows up to ${FORMAT}. Use the newer program.`)
  }
  return { root, tables }
}

const put = (tables: Tables, spec: TableSpec, { items, checkpoints }: Changes): void => {
  const index = createIndexer(tables, spec)
  for (const [id, item] of items) {
    if (item === null) void tables.items.remove(id)
    else void tables.items.put(id, item)
    index(id, item ?? undefined)
  }
  for (const [partition, offset] of checkpoints) void tables.meta.put(`checkpoint:${partition}`, offset)
  tables.saveShapes()
}

export const checkpointsIn = ({ meta }: Tables): Map<number, number> => {
  const found = new Map<number, number>()
  for (const { key, value } of meta.getRange({ start: 'checkpoint:', end: 'checkpoint;' })) found.set(Number(String(key).slice(11)), Number(value))
  return found
}
