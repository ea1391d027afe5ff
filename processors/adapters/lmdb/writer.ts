import type { RootDatabase } from 'lmdb'
import type { Stored } from '../../../projections/item.ts'
import type { TableSpec } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import { createAbsence, type Absence } from './absence.ts'
import { asFault, causeOf, hasRoomFor, openEnvironment } from './environment.ts'
import { createIndexer, openTables, type Tables } from './items.ts'

export interface GenerationParts {
  readonly path: string
  readonly spec: TableSpec
  readonly among: 'one writer' | 'several writers'
}

export interface Changes {
  /** By key; null is a removal. */
  readonly items: Iterable<readonly [string, Stored | null]>
  /** About how much it takes. */
  readonly bytes: number
  readonly checkpoints: ReadonlyMap<number, number>
}

/** A generation's environment, and the one way to write to it: all or nothing, in one transaction. */
export interface Writer {
  tables(): Tables
  /** True only if LMDB does not hold the item, known without asking it. */
  lacks(id: string): boolean
  /** Visible and on disk when it resolves. Fault: `store-unavailable`, and then nothing of it is there. */
  write(changes: Changes): Promise<void>
  close(): Promise<void>
}

const FORMAT = 1

export const openWriter = (parts: GenerationParts): Writer => {
  const { path, spec } = parts
  let opened = openAt(parts)
  let closing: Promise<void> | undefined
  const absence = opened.tables.items.getKeysCount({ limit: 1 }) === 0 ? createAbsence() : undefined
  return {
    tables: () => opened.tables,
    lacks: id => absence !== undefined && absence.lacks(id),
    write: async changes => {
      if (closing !== undefined) throw new Fault('store-closed', `The table at ${path} was closed. Open it again to write to it.`)
      const { root, tables } = opened
      if (!hasRoomFor(path, changes.bytes)) {
        throw new Fault('store-unavailable', `The disk of ${path} is full; nothing was written, and it is tried again. Free space.`, { retriable: true })
      }
      try {
        await root.batch(() => put({ tables, spec, absence }, changes))
      } catch (error) {
        // LMDB may stand in an error of its own now (a meta page it could not write): opened anew, it begins at what is on disk.
        const cause = await causeOf(error)
        await root.close().catch(() => undefined)
        opened = openAt(parts)
        throw asFault(cause, 'store-unavailable', `The table at ${path} could not be written; it is tried again. Check the disk`)
      }
    },
    close: () => closing ??= opened.root.close(),
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

const put = ({ tables, spec, absence }: { tables: Tables; spec: TableSpec; absence: Absence | undefined }, { items, checkpoints }: Changes): void => {
  const index = createIndexer(tables, spec)
  for (const [id, item] of items) {
    if (item === null) void tables.items.remove(id)
    else {
      absence?.add(id)
      void tables.items.put(id, item)
    }
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
