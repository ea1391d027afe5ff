import { existsSync, mkdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { open, type Database, type RootDatabase } from 'lmdb'
import { Fault, isFault, messageOf } from '../../../schemas/fault.ts'
import { requireCompleteFile } from './complete-file.ts'

/** Reserved address space in bytes, not disk space. The file grows with its content. If the file grows above this size, lmdb-js maps more. */
const MAP_SIZE = 2 ** 36
const SETTINGS = {
  mapSize: MAP_SIZE,
  maxDbs: 32,
  noSubdir: false,
  overlappingSync: false,
  eventTurnBatching: false,
  // Limits the free pages in memory, because each commit searches all of them. With the default of 50,000, a commit after a bulk write of 400,000
  // items took 28 ms of CPU.
  maxFreeSpaceToLoad: 1_000,
  maxFreeSpaceToRetain: 2_000,
}

export type LmdbKey = string | Uint8Array

/** Encodes LMDB keys as the UTF-8 bytes of the string, so LMDB sorts them like DynamoDB. */
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
  /** True if the data is not needed after this process ends. Commits then do not wait for the disk. Default: false. */
  readonly temporary?: boolean
}

/**
 * Opens an environment. Unless it is `temporary`, its commits resolve when they are on disk.
 *
 * `overlappingSync` is off, so a thread of LMDB syncs pages and meta page inside the commit, and every failure rejects that commit. If it were on,
 * LMDB would make a commit visible before the sync and resolve `flushed` after the sync. If that sync failed, lmdb-js would only print the error,
 * and `flushed` and a later `close` would never settle.
 * `eventTurnBatching` is off, because it would create a second promise for each batch. If the commit failed, no caller could catch that promise.
 */
export const openEnvironment = ({ path, readOnly = false, temporary = false }: EnvironmentOptions): RootDatabase => {
  try {
    if (!readOnly) mkdirSync(path, { recursive: true })
    if (!readOnly && !existsSync(dataFile(path)) && !hasRoomFor(path, 0))
      throw new Fault('disk-full', `The disk of ${path} is full. Free space, then start again.`)
    requireCompleteFile(dataFile(path))
    return open(path, { ...SETTINGS, readOnly, noSync: temporary })
  } catch (error) {
    throw asFault(
      error,
      'data-unreadable',
      `The LMDB environment at ${path} cannot be opened. Check its permissions and the disk`,
    )
  }
}

export const openDatabase = <V>(root: RootDatabase, name: string, encoder: object): Database<V, LmdbKey> => {
  const options = { name, encoding: 'msgpack' as const, keyEncoder: utf8Keys, encoder }
  return openOrThrow(name, () => root.openDB<V, LmdbKey>(options))
}

/** A database with string keys and values of bytes. The values can be empty. */
export const openSet = (root: RootDatabase, name: string): Database<Uint8Array, LmdbKey> => {
  const options = { name, encoding: 'binary' as const, keyEncoder: utf8Keys }
  return openOrThrow(name, () => root.openDB<Uint8Array, LmdbKey>(options))
}

export const openBinary = (root: RootDatabase, name: string): Database<Buffer, Uint8Array> =>
  openOrThrow(name, () => root.openDB<Buffer, Uint8Array>({ name, encoding: 'binary', keyEncoding: 'binary' }))

const openOrThrow = <D>(name: string, open: () => D | undefined): D => {
  try {
    const database = open()
    // Unlike its type, `openDB` returns undefined if the environment is read-only and does not have the database.
    if (database === undefined)
      throw new Fault(
        'data-unreadable',
        `The LMDB environment has no database ${name}. Start the server on this folder once.`,
      )
    return database
  } catch (error) {
    throw asFault(
      error,
      'data-unreadable',
      `The database ${name} cannot be opened: its pages do not match. Check the disk, and restore the data folder from a backup`,
    )
  }
}

/** The number of bytes that must stay free on a disk. */
const RESERVE = 8 * 1024 * 1024

/**
 * True if the disk has room for this number of bytes and a reserve. If a write fails, lmdb-js 3.5.6 prints a message into a buffer that is too
 * small, and the process ends. So the caller checks before each write. The reserve covers other files that grow meanwhile.
 */
export const hasRoomFor = (path: string, bytes: number): boolean => {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize >= bytes + RESERVE
}

/**
 * Returns the cause of a failed commit, or the error itself if it contains no cause. lmdb-js puts the cause into a second promise. If this function
 * did not catch that promise, Node would report an unhandled rejection.
 */
export const causeOf = async (error: unknown): Promise<unknown> => {
  if (!(error instanceof Error) || !('commitError' in error)) return error
  return Promise.resolve(error.commitError).then(
    () => error,
    (cause: unknown) => cause,
  )
}

/** The error itself if it is a fault, otherwise a retriable fault with this code and message and the error as its cause. */
export const asFault = (error: unknown, code: string, message: string): Fault =>
  isFault(error) ? error : new Fault(code, `${message} (${messageOf(error)})`, { retriable: true, cause: error })
