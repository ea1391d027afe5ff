import { existsSync, mkdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { open, type Database, type RootDatabase } from 'lmdb'
import { Fault, isFault, messageOf } from '../../../schemas/fault.ts'
import { requireWhole } from './whole.ts'

/** Reserved address space, not disk. The file grows with what is written, and past this lmdb-js maps more. */
const MAP_SIZE = 2 ** 36
const SETTINGS = {
  mapSize: MAP_SIZE,
  maxDbs: 32,
  noSubdir: false,
  overlappingSync: false,
  eventTurnBatching: false,
  // Each commit looks through the free pages it has loaded: after a bulk write of 400,000 items that was 28 ms of CPU a commit by default (50,000).
  maxFreeSpaceToLoad: 1_000,
  maxFreeSpaceToRetain: 2_000,
}

export type LmdbKey = string | Uint8Array

/** Keys in LMDB are the UTF-8 bytes of the string, so they sort as DynamoDB sorts them. */
export const utf8Keys = {
  writeKey: (key: LmdbKey, target: Buffer, start: number): number => {
    if (typeof key === 'string') return start + target.write(key, start, 'utf8')
    target.set(key, start)
    return start + key.length
  },
  readKey: (source: Buffer, start: number, end: number): string => source.toString('utf8', start, end),
}

/** The file of the environment in a folder. */
export const dataFile = (path: string): string => join(path, 'data.mdb')

export interface EnvironmentOptions {
  readonly path: string
  readonly readOnly?: boolean
  /** Nobody needs it after this process: nothing waits for the disk. */
  readonly fleeting?: boolean
}

/**
 * A commit resolves when it is on disk: overlappingSync is off. With it on, LMDB makes a commit visible, then syncs, and tells through
 * `flushed`; but a sync that fails is only printed by lmdb-js, and `flushed` (and a later `close`) never settles. With it off, pages and meta
 * page are synced inside the commit, on a thread of LMDB's own, and whatever fails rejects that commit.
 * eventTurnBatching is off because it makes a second promise for each batch, which nobody can catch when the commit fails.
 */
export const openEnvironment = ({ path, readOnly = false, fleeting = false }: EnvironmentOptions): RootDatabase => {
  try {
    if (!readOnly) mkdirSync(path, { recursive: true })
    if (!readOnly && !existsSync(dataFile(path)) && !hasRoomFor(path, 0)) throw new Fault('disk-full', `The disk of ${path} is full. Free space and start again.`)
    requireWhole(dataFile(path))
    return open(path, { ...SETTINGS, readOnly, noSync: fleeting })
  } catch (error) {
    throw asFault(error, 'data-unreadable', `The LMDB environment at ${path} cannot be opened. Check its permissions and the disk`)
  }
}

export const openDatabase = <V>(root: RootDatabase, name: string, encoder: object): Database<V, LmdbKey> => {
  const options = { name, encoding: 'msgpack' as const, keyEncoder: utf8Keys, encoder }
  return opened(name, () => root.openDB<V, LmdbKey>(options))
}

/** String keys with bytes, or without values. */
export const openSet = (root: RootDatabase, name: string): Database<Uint8Array, LmdbKey> => {
  const options = { name, encoding: 'binary' as const, keyEncoder: utf8Keys }
  return opened(name, () => root.openDB<Uint8Array, LmdbKey>(options))
}

export const openBinary = (root: RootDatabase, name: string): Database<Buffer, Uint8Array> =>
  opened(name, () => root.openDB<Buffer, Uint8Array>({ name, encoding: 'binary', keyEncoding: 'binary' }))

const opened = <D>(name: string, open: () => D | undefined): D => {
  try {
    const database = open()
    // The types do not say it, but a database that does not exist in a read-only environment comes back as undefined.
    if (database === undefined) throw new Fault('data-unreadable', `The LMDB environment has no database ${name}. Start the server on this folder once.`)
    return database
  } catch (error) {
    throw asFault(error, 'data-unreadable', `The database ${name} cannot be opened: its pages do not fit each other. Check the disk, and restore the data folder from a backup`)
  }
}

/** What is left free on a disk. */
const RESERVE = 8 * 1024 * 1024

/**
 * A write that the disk refuses makes lmdb-js 3.5.6 print a message into a buffer that is too small for it, which ends the process. So room is
 * looked for before, with a reserve for what else grows meanwhile.
 */
export const hasRoomFor = (path: string, bytes: number): boolean => {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize >= bytes + RESERVE
}

/** What lmdb-js rejects a commit with hides the cause in a second promise, which must be taken up or it counts as unhandled. */
export const causeOf = async (error: unknown): Promise<unknown> => {
  if (!(error instanceof Error) || !('commitError' in error)) return error
  return Promise.resolve(error.commitError).then(() => error, (cause: unknown) => cause)
}

export const asFault = (error: unknown, code: string, message: string): Fault =>
  isFault(error) ? error : new Fault(code, `${message} (${messageOf(error)})`, { retriable: true, cause: error })
