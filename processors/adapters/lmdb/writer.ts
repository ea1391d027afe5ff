import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { asBinary, type Database, type RootDatabase } from 'lmdb'
import type { Stored } from '../../../projections/item.ts'
import type { TableSpec } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import { tableMissing } from '../../engine/rows/store-faults.ts'
import { createCopies } from '../copies.ts'
import { asFault, causeOf, dataFile, hasRoomFor, openEnvironment, type LmdbKey } from './environment.ts'
import { createIndexer, openTables, type Tables } from './items.ts'
import { advance } from './pending.ts'
import { removeUnfinishedScrubs, rewriteEnvironment } from './scrub.ts'

export interface GenerationParts {
  readonly path: string
  readonly spec: TableSpec
  /** The name of this writer, if there are several parallel writers. The checkpoints of the writer are stored under this name. */
  readonly share?: string
  /** True if the data is not needed after this process ends. Commits then do not wait for the disk. Default: false. */
  readonly temporary?: boolean
}

export interface Changes {
  /** The changed items by key. Null is a removal. A `Uint8Array` is an item that is already encoded, and that no index contains. */
  readonly items: Iterable<readonly [string, Stored | Uint8Array | null]>
  /** The estimated number of bytes on disk. */
  readonly bytes: number
  readonly checkpoints: ReadonlyMap<number, number>
}

/** The environment of a generation. Every write is one transaction, all or nothing. */
export interface Writer {
  tables(): Tables
  /** Resolves when the changes are visible and on disk. If the promise rejects with `store-unavailable`, nothing was written. */
  write(changes: Changes): Promise<void>
  /** Removes overwritten and removed content from the disk. Reads continue meanwhile, and writes wait. */
  scrub(): Promise<void>
  /** Copies a consistent snapshot of the environment into an empty folder. */
  copy(folder: string): Promise<void>
  close(): Promise<void>
}

const FORMAT = 1
const RELEASE_MS = 20

export const openWriter = (parts: GenerationParts): Writer => {
  const { path } = parts
  let opened = openAt(parts)
  let closing: Promise<void> | undefined
  let scrubbing: Promise<void> | undefined
  const copies = createCopies()
  const scrub = async (): Promise<void> => {
    const { root } = opened
    opened = openTablesOf(await rewriteEnvironment(root, path), parts)
    // New reads use the new environment. During this pause the running reads of the old environment end, before it is closed.
    await delay(RELEASE_MS)
    await copies.ended()
    await root.close()
  }
  /** Settles when no write is running. */
  let written: Promise<unknown> = Promise.resolve()
  const write = async (changes: Changes): Promise<void> => {
    if (closing !== undefined)
      throw new Fault('store-closed', `The table at ${path} was closed. Open it again to write to it.`)
    await scrubbing
    const { root, tables } = opened
    // If the file was deleted, LMDB would write to the deleted file without an error.
    if (!existsSync(dataFile(path))) throw tableMissing(path)
    if (!hasRoomFor(path, changes.bytes)) {
      throw new Fault('store-unavailable', `The disk of ${path} is full. Nothing was written. Free space.`, {
        retriable: true,
      })
    }
    try {
      await root.batch(() => put({ tables, parts }, changes))
    } catch (error) {
      // LMDB can be in an error state now, for example after it failed to write a meta page. Opening the file again returns to the state on disk.
      const cause = await causeOf(error)
      await copies.ended()
      await root.close().catch(() => undefined)
      opened = openAt(parts)
      throw asFault(cause, 'store-unavailable', `The table at ${path} could not be written. Check the disk`)
    }
  }
  return {
    tables: () => opened.tables,
    write: (changes) => {
      const writing = write(changes)
      written = Promise.allSettled([written, writing])
      return writing
    },
    scrub: () =>
      (scrubbing ??= scrub().finally(() => {
        scrubbing = undefined
      })),
    copy: async (folder) => {
      await scrubbing
      await copies.add(opened.root.backup(folder, false))
    },
    // LMDB ends the process if an environment is closed during a write.
    close: () => (closing ??= Promise.allSettled([scrubbing, written, copies.ended()]).then(() => opened.root.close())),
  }
}

interface OpenEnvironment {
  readonly root: RootDatabase
  readonly tables: Tables
}

const openTablesOf = (root: RootDatabase, { spec, share }: GenerationParts): OpenEnvironment => ({
  root,
  tables: openTables(root, spec, share === undefined ? 'one writer' : 'several writers'),
})

const openAt = (parts: GenerationParts): OpenEnvironment => {
  const { path, share, temporary = false } = parts
  if (share === undefined) removeUnfinishedScrubs(path)
  const { root, tables } = openTablesOf(openEnvironment({ path, temporary }), parts)
  const format = tables.meta.get('format')
  if (format === undefined) tables.meta.putSync('format', FORMAT)
  else if (typeof format !== 'number' || format > FORMAT) {
    void root.close()
    throw new Fault(
      'data-newer-version',
      `The table at ${path} has format ${String(format)}. This program reads formats up to ${FORMAT}. Use the newer program.`,
    )
  }
  return { root, tables }
}

const put = ({ tables, parts }: { tables: Tables; parts: GenerationParts }, { items, checkpoints }: Changes): void => {
  const index = createIndexer(tables, parts.spec)
  for (const [id, item] of items) {
    if (item === null) void tables.items.remove(id)
    else if (item instanceof Uint8Array) void (tables.items as Database<object, LmdbKey>).put(id, asBinary(item))
    else void tables.items.put(id, item)
    index(id, item === null || item instanceof Uint8Array ? undefined : item)
  }
  for (const [partition, offset] of checkpoints) void tables.meta.put(`${checkpointPrefix(parts)}${partition}`, offset)
  tables.saveShapes()
}

const checkpointPrefix = ({ share }: Pick<GenerationParts, 'share'>): string =>
  share === undefined ? 'checkpoint:' : `share:${share}:`

/**
 * Returns one checkpoint per partition: the later one of the table's checkpoint and this writer's own checkpoint. So a new parallel writer (`share`)
 * begins at the checkpoints of the table.
 */
export const checkpointsIn = ({ meta }: Tables, parts: Pick<GenerationParts, 'share'>): Map<number, number> => {
  const found = new Map<number, number>()
  for (const prefix of new Set([checkpointPrefix({}), checkpointPrefix(parts)])) {
    for (const { key, value } of meta.getRange({ start: prefix, end: `${prefix.slice(0, -1)};` }))
      advance(found, Number(String(key).slice(prefix.length)), Number(value))
  }
  return found
}
