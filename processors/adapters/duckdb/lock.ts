import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from '@duckdb/node-bindings'
import { Fault, messageOf } from '../../../schemas/fault.ts'
import { syncPath } from '../sync-path.ts'

/** An exclusive lock on a file. The kernel releases the lock when the process ends, even if the process is killed. */
export interface FileLock {
  release(): void
}

/**
 * The locks of this process, by device and inode of the file. The kernel's locks (fcntl) belong to a process: the same process could open the file
 * a second time, and closing that second file would release the lock. So `takeFileLock` looks into this map first. A value is undefined while its
 * file is being opened. The map also keeps each database referenced, because the garbage collector would close an unreferenced database.
 */
const ownLocks = new Map<string, Database | undefined>()

/** The smallest limits that DuckDB accepts. They are enough, because a lock file contains no data. */
const LIMITS = { threads: '1', memory_limit: '16MB' }

/**
 * Takes the exclusive lock of the file at `path`. Creates the file if it is missing. Returns undefined if another process, or this one, has the lock.
 * Never waits. Never removes the file: otherwise one process could lock the old file and another one the new file.
 *
 * The file is an empty DuckDB database. DuckDB takes an exclusive fcntl lock on each file that it opens for writing, and Node has no file locks.
 * In this process no other code may open the file, because closing any descriptor of it releases the lock. Copying a file opens and closes it, so a
 * copy of the folder must omit `locks/`.
 */
export const takeFileLock = async (path: string): Promise<FileLock | undefined> => {
  const duckdb = await loadDuckdb()
  if (!existsSync(path)) await createLockFile(path, duckdb)
  const { dev, ino } = statSync(path, { bigint: true })
  const id = `${dev}:${ino}`
  if (ownLocks.has(id)) return undefined
  ownLocks.set(id, undefined)
  try {
    const database = await duckdb.open(path)
    ownLocks.set(id, database)
    return {
      release: () => {
        if (ownLocks.get(id) !== database) return
        duckdb.close(database)
        ownLocks.delete(id)
      },
    }
  } catch (error) {
    ownLocks.delete(id)
    if (isConflict(messageOf(error))) return undefined
    throw unusable(path, error)
  }
}

interface Duckdb {
  open(file: string): Promise<Database>
  close(database: Database): void
}

/** Loads only the bindings of DuckDB. `@duckdb/node-api` takes three times as long to load, and every start and most commands take the lock. */
const loadDuckdb = async (): Promise<Duckdb> => {
  const { default: bindings } = await import('@duckdb/node-bindings')
  const config = bindings.create_config()
  for (const [name, value] of Object.entries(LIMITS)) bindings.set_config(config, name, value)
  return { open: (file) => bindings.open(file, config), close: (database) => bindings.close_sync(database) }
}

/** True if a process has the lock now. Creates no file. */
export const isFileLocked = async (path: string): Promise<boolean> => {
  if (!existsSync(path)) return false
  const lock = await takeFileLock(path)
  lock?.release()
  return lock === undefined
}

/** Writes the file under another name and then links it to `path`. So a crash leaves no incomplete file at `path`, which DuckDB would reject. */
const createLockFile = async (path: string, { open, close }: Duckdb): Promise<void> => {
  const draft = `${path}.${randomBytes(4).toString('hex')}`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    close(await open(draft))
    syncPath(draft)
    linkSync(draft, path)
  } catch (error) {
    // If another process has created the file meanwhile, that file is used.
    if (!existsSync(path)) throw unusable(path, error)
  } finally {
    rmSync(draft, { force: true })
  }
}

const isConflict = (message: string): boolean =>
  message.includes('Could not set lock on file') && !/not supported|No locks available/i.test(message)

const unusable = (path: string, error: unknown): Fault =>
  new Fault(
    'data-folder-unusable',
    `The lock file ${path} cannot be used (${messageOf(error)}). The data folder must be writable and on a local disk. If the file is damaged, stop every process that uses the folder, remove the file and start again.`,
    { cause: error },
  )
