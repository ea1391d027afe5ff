import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { asBinary, type Database, type RootDatabase } from 'lmdb'
import type { Stored } from '../../../projections/item.ts'
import type { TableSpec } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import { tableMissing } from '../../engine/store-faults.ts'
import { createCopies } from '../copies.ts'
import { asFault, causeOf, dataFile, hasRoomFor, openEnvironment, type LmdbKey } from './environment.ts'
import { createIndexer, openTables, type Tables } from './items.ts'
import { advance } from './pending.ts'
import { removeScrubs, scrubbed } from './scrub.ts'

export interface GenerationParts {
  readonly path: string
  readonly spec: TableSpec
  /** The name of one of several parallel writers. Its checkpoints are stored under this name. */
  readonly share?: string
  /** Nobody needs it after this process: nothing waits for the disk. */
  readonly fleeting?: boolean
}

export interface Changes {
  /** By key; null is a removal, bytes are an item that was packed and lies in no index. */
  readonly items: Iterable<readonly [string, Stored | Uint8Array | null]>
  /** About how much it takes. */
  readonly bytes: number
  readonly checkpoints: ReadonlyMap<number, number>
}

/** A generation's environment, and the one way to write to it: all or nothing, in one transaction. */
export interface Writer {
  tables(): Tables
  /** Visible and on disk when it resolves. Fault: `store-unavailable`, and then nothing of it is there. */
  write(changes: Changes): Promise<void>
  /** Leaves nothing on disk of what was overwritten or removed. Reads go on meanwhile, and writes wait. */
  scrub(): Promise<void>
  /** Writes what is on disk into an empty folder, as of one transaction. */
  copy(folder: string): Promise<void>
  close(): Promise<void>
}

const FORMAT = 1
const LET_GO_MS = 20

export const openWriter = (parts: GenerationParts): Writer => {
  const { path } = parts
  let opened = openAt(parts)
  let closing: Promise<void> | undefined
  let scrubbing: Promise<void> | undefined
  const copies = createCopies()
  const scrub = async (): Promise<void> => {
    const { root } = opened
    opened = openedOn(await scrubbed(root, path), parts)
    // From here on nobody reads from the old one; what was read from it in this turn is let go of first.
    await delay(LET_GO_MS)
    await copies.ended()
    await root.close()
  }
  /** Settles when nothing is being written. */
  let written: Promise<unknown> = Promise.resolve()
  const write = async (changes: Changes): Promise<void> => {
    if (closing !== undefined) throw new Fault('store-closed', `The table at ${path} was closed. Open it again to write to it.`)
    await scrubbing
    const { root, tables } = opened
    // LMDB would go on writing to a file without a name.
    if (!existsSync(dataFile(path))) throw tableMissing(path)
    if (!hasRoomFor(path, changes.bytes)) {
      throw new Fault('store-unavailable', `The disk of ${path} is full; nothing was written. Free space.`, { retriable: true })
    }
    try {
      await root.batch(() => put({ tables, parts }, changes))
    } catch (error) {
      // LMDB may stand in an error of its own now (a meta page it could not write): opened anew, it begins at what is on disk.
      const cause = await causeOf(error)
      await copies.ended()
      await root.close().catch(() => undefined)
      opened = openAt(parts)
      throw asFault(cause, 'store-unavailable', `The table at ${path} could not be written. Check the disk`)
    }
  }
  return {
    tables: () => opened.tables,
    write: changes => {
      const writing = write(changes)
      written = Promise.allSettled([written, writing])
      return writing
    },
    scrub: () => scrubbing ??= scrub().finally(() => {
      scrubbing = undefined
    }),
    copy: async folder => {
      await scrubbing
      await copies.add(opened.root.backup(folder, false))
    },
    // Closed under a write, LMDB ends the process.
    close: () => closing ??= Promise.allSettled([scrubbing, written, copies.ended()]).then(() => opened.root.close()),
  }
}

interface Opened {
  readonly root: RootDatabase
  readonly tables: Tables
}

const openedOn = (root: RootDatabase, { spec, share }: GenerationParts): Opened => ({ root, tables: openTables(root, spec, share === undefined ? 'one writer' : 'several writers') })

const openAt = (parts: GenerationParts): Opened => {
  const { path, share, fleeting = false } = parts
  if (share === undefined) removeScrubs(path)
  const { root, tables } = openedOn(openEnvironment({ path, fleeting }), parts)
  const format = tables.meta.get('format')
  if (format === undefined) tables.meta.putSync('format', FORMAT)
  else if (typeof format !== 'number' || format > FORMAT) {
    void root.close()
    throw new Fault('data-newer-version', `The table at ${path} has format ${String(format)}; this program knows up to ${FORMAT}. Use the newer program.`)
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

const checkpointPrefix = ({ share }: Pick<GenerationParts, 'share'>): string => (share === undefined ? 'checkpoint:' : `share:${share}:`)

/** A share that has none of its own yet begins where all of them do. */
export const checkpointsIn = ({ meta }: Tables, parts: Pick<GenerationParts, 'share'>): Map<number, number> => {
  const found = new Map<number, number>()
  for (const prefix of new Set([checkpointPrefix({}), checkpointPrefix(parts)])) {
    for (const { key, value } of meta.getRange({ start: prefix, end: `${prefix.slice(0, -1)};` })) advance(found, Number(String(key).slice(prefix.length)), Number(value))
  }
  return found
}
