import { mkdirSync } from 'node:fs'
import { open, type Database, type RootDatabase } from 'lmdb'
import { Fault, isFault } from '../../../schemas/fault.ts'

/** Reserved address space, not disk. The file grows with what is written, and past this lmdb-js maps more. */
const MAP_SIZE = 2 ** 36
const MAX_READERS = 126

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

export interface EnvironmentOptions {
  readonly path: string
  /** True: a commit resolves when it is on disk. False: when it is visible, and the sync follows in the background. */
  readonly durable: boolean
  readonly readOnly?: boolean
  readonly maxDbs?: number
}

/**
 * `durable` turns overlappingSync off. With it on, LMDB makes a commit visible, then syncs, and tells through `flushed`; but a sync that
 * fails is only printed by lmdb-js, and `flushed` never settles. With it off, data and meta page are synced inside the commit, and a failure
 * rejects the commit itself. With it on, a meta page is marked as unsynced until its sync is done, and after a power loss LMDB opens at the
 * last synced one: nothing torn, some commits back.
 */
export const openEnvironment = ({ path, durable, readOnly = false, maxDbs = 16 }: EnvironmentOptions): RootDatabase => {
  try {
    if (!readOnly) mkdirSync(path, { recursive: true })
    return open(path, { mapSize: MAP_SIZE, maxDbs, maxReaders: MAX_READERS, overlappingSync: !durable && !readOnly, readOnly, noSubdir: false })
  } catch (error) {
    throw new Fault('data-unreadable', `The LMDB environment at ${path} cannot be opened: ${String(error)}. Check its permissions and the disk.`, { cause: error })
  }
}

export const openDatabase = <V>(root: RootDatabase, name: string, encoder: object): Database<V, LmdbKey> => {
  const options = { name, encoding: 'msgpack' as const, keyEncoder: utf8Keys, encoder }
  return present(root.openDB<V, LmdbKey>(options), name)
}

/** String keys without values. */
export const openSet = (root: RootDatabase, name: string): Database<Uint8Array, LmdbKey> => {
  const options = { name, encoding: 'binary' as const, keyEncoder: utf8Keys }
  return present(root.openDB<Uint8Array, LmdbKey>(options), name)
}

export const openBinary = (root: RootDatabase, name: string): Database<Buffer, Uint8Array> =>
  present(root.openDB<Buffer, Uint8Array>({ name, encoding: 'binary', keyEncoding: 'binary' }), name)

// The types do not say it, but a database that does not exist in a read-only environment comes back as undefined.
const present = <D>(database: D | undefined, name: string): D => {
  if (database === undefined) throw new Fault('data-unreadable', `The LMDB environment has no database ${name}. Start the server on this folder once.`)
  return database
}

const FULL = new Set([28 /* ENOSPC */, 122 /* EDQUOT */, 27 /* EFBIG */, -30792 /* MDB_MAP_FULL */])

/** What lmdb-js rejects a commit with hides the cause in a second promise, which must be taken up or it counts as unhandled. */
export const causeOf = async (error: unknown): Promise<unknown> => {
  if (!(error instanceof Error) || !('commitError' in error)) return error
  return Promise.resolve(error.commitError).then(() => error, (cause: unknown) => cause)
}

const codeOf = (error: unknown): number | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : undefined

export const isFull = (error: unknown): boolean => {
  const code = codeOf(error)
  return (code !== undefined && FULL.has(code)) || /No space left|MAP_FULL|quota exceeded/i.test(String(error))
}

export const asFault = (error: unknown, code: string, message: string): Fault =>
  isFault(error) ? error : new Fault(code, `${message} (${error instanceof Error ? error.message : String(error)})`, { retriable: true, cause: error })
