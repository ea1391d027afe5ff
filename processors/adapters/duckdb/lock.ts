import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from '@duckdb/node-bindings'
import { Fault, messageOf } from '../../../schemas/fault.ts'
import { syncPath } from '../sync-path.ts'

/** An exclusive lock on a file. The kernel releases it when the process ends, in whatever way it ends. */
export interface FileLock {
  release(): void
}

/**
 * The locks of this process, by device and inode. The kernel's locks (fcntl) belong to a process: a second open in the same process succeeds, and its
 * close releases the lock. So this table refuses the second open. It also keeps a reference to each database: the garbage collector would close it.
 */
const held = new Map<string, Database | undefined>()

/** A lock file contains no data. */
const LIMITS = { threads: '1', memory_limit: '16MB' }

/**
 * Takes the exclusive lock of the file at `path`, which is created if it is missing and never removed: if it were removed, one process could lock the old
 * file and another one the new file. Returns undefined if another process, or this one, has the lock. Never waits.
 *
 * The file is an empty DuckDB database. DuckDB takes an exclusive fcntl lock on each file that it opens for writing, and Node offers no file lock of its own.
 * In this process no other code may open the file: closing any descriptor of it releases the lock. So a copy of the folder must leave `locks/` out.
 */
export const takeFileLock = async (path: string): Promise<FileLock | undefined> => {
  const duckdb = await loadDuckdb()
  if (!existsSync(path)) await createLockFile(path, duckdb)
  const { dev, ino } = statSync(path, { bigint: true })
  const id = `${dev}:${ino}`
  if (held.has(id)) return undefined
  held.set(id, undefined)
  try {
    const database = await duckdb.open(path)
    held.set(id, database)
    return {
      release: () => {
        if (held.get(id) !== database) return
        duckdb.close(database)
        held.delete(id)
      },
    }
  } catch (error) {
    held.delete(id)
    if (isConflict(messageOf(error))) return undefined
    throw unusable(path, error)
  }
}

interface Duckdb {
  open(file: string): Promise<Database>
  close(database: Database): void
}

/** The bindings alone: every start and most commands take the lock, and `@duckdb/node-api` takes three times as long to load. */
const loadDuckdb = async (): Promise<Duckdb> => {
  const { default: bindings } = await import('@duckdb/node-bindings')
  const config = bindings.create_config()
  for (const [name, value] of Object.entries(LIMITS)) bindings.set_config(config, name, value)
  return { open: (file) => bindings.open(file, config), close: (database) => bindings.close_sync(database) }
}

/** Returns true if a process has the lock now. Creates nothing. */
export const isFileLocked = async (path: string): Promise<boolean> => {
  if (!existsSync(path)) return false
  const lock = await takeFileLock(path)
  lock?.release()
  return lock === undefined
}

/** DuckDB rejects a file that a crash left half written. So the file is written under a name of its own and then linked: `path` is absent or complete. */
const createLockFile = async (path: string, { open, close }: Duckdb): Promise<void> => {
  const draft = `${path}.${randomBytes(4).toString('hex')}`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    close(await open(draft))
    syncPath(draft)
    linkSync(draft, path)
  } catch (error) {
    // Another process was first.
    if (!existsSync(path)) throw unusable(path, error)
  } finally {
    rmSync(draft, { force: true })
  }
}

const isConflict = (message: string): boolean => message.includes('Could not set lock on file') && !/not supported|No locks available/i.test(message)

const unusable = (path: string, error: unknown): Fault =>
  new Fault('data-folder-unusable', `The lock file ${path} cannot be used (${messageOf(error)}). The data folder must be writable and on a local disk. If the file is damaged, stop every process that uses the folder, remove the file and start again.`, { cause: error })
