import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import type { Server, Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { isFileLocked, takeFileLock } from '../../processors/adapters/duckdb/lock.ts'
import type { FileLock } from '../../processors/adapters/duckdb/lock.ts'
import { systemClock } from '../../processors/adapters/system-clock.ts'
import { after, every, retrying, type Retry } from '../../processors/engine/timing/retry.ts'
import { Fault, messageOf } from '../../schemas/fault.ts'
import { connectIn, codeOf, listenIn } from '../ipc/unix-socket.ts'

/**
 * The format of the data folder. This number is raised when older programs can no longer read the folder.
 * 2: blocks and segments of the log have checksums over their headers.
 */
const FORMAT = 2
/** The name of the file that marks a data folder. It contains the format. */
export const MARKER = 'tributary.json'
const SOCKET = 'tributary.sock'
/** The maximum wait for a lock whose owner does not answer, in milliseconds. The owner is starting or stopping, or only tests the lock. */
const PATIENCE_MS = 5_000
const RETRY_MS = 25

/** The exclusive ownership of a data folder by this process. */
export interface FolderLock {
  /** Accepts the connections of other commands. */
  readonly server: Server
  /** The open connections, including those that were made before this process began to answer. */
  readonly connections: ReadonlySet<Socket>
  /** Closes the socket, then releases the lock. */
  release(): Promise<void>
}

/**
 * Creates the folder and its marker if they are missing. Faults: `data-folder-unusable`; `data-folder-foreign` if the folder contains other files;
 * `data-folder-newer` if a newer program wrote the folder.
 */
export const prepareFolder = (folder: string): void => {
  try {
    makeFolder(folder)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new Fault(
      'data-folder-unusable',
      `The data folder ${folder} cannot be created or written (${messageOf(error)}). Set TRIBUTARY_DATA to a folder that this user can write.`,
      { cause: error },
    )
  }
  const marker = join(folder, MARKER)
  if (!existsSync(marker)) {
    refuseForeign(folder)
    writeMarker(marker)
  }
  const format = formatIn(marker)
  if (format > FORMAT) {
    throw new Fault(
      'data-folder-newer',
      `The data folder ${folder} was written by a newer version (its format is ${format}, this version reads up to ${FORMAT}). Run that version, or set TRIBUTARY_DATA to another folder.`,
    )
  }
}

/** Names that a folder without a marker may contain: those that the program creates before the marker, and `lost+found` of a new volume. */
const EXPECTED = ['log', 'tables', 'keys', 'series', 'builds', 'locks', 'lost+found']

const refuseForeign = (folder: string): void => {
  const foreign = readdirSync(folder).find(
    (name) => !EXPECTED.includes(name) && !name.startsWith('.') && !name.startsWith(MARKER) && !name.includes('.sock'),
  )
  if (foreign === undefined) return
  throw new Fault(
    'data-folder-foreign',
    `The folder ${folder} contains ${foreign} and is not a data folder. Set TRIBUTARY_DATA to an empty folder, or to one that does not exist yet.`,
  )
}

/** For commands that only read: rejects a folder that does not exist (perhaps a misspelt name) and creates nothing. */
export const requireFolder = (folder: string): void => {
  if (isDataFolder(folder)) return
  const what = existsSync(folder) ? 'is not a data folder (it has no tributary.json)' : 'does not exist'
  throw new Fault(
    'no-data-folder',
    `The data folder ${folder} ${what}. Check TRIBUTARY_DATA, or start the pipeline once: tributary start`,
  )
}

/** Returns true if the folder has a marker. Also returns true if the folder cannot be read: opening the folder then reports the reason. */
export const isDataFolder = (folder: string): boolean => {
  try {
    accessSync(join(folder, MARKER))
    return true
  } catch (error) {
    return codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR'
  }
}

/** Creates one level at a time: Node's recursive mkdir never returns if a parent exists but accepts no entries (/proc). */
const makeFolder = (folder: string): void => {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** Replaces the marker in one step, so that a crash leaves the old marker or the new marker. */
const writeMarker = (marker: string): void => {
  writeFileSync(`${marker}.new`, `${JSON.stringify({ format: FORMAT })}\n`)
  renameSync(`${marker}.new`, marker)
}

const formatIn = (marker: string): number => {
  try {
    const { format } = JSON.parse(readFileSync(marker, 'utf8')) as { format?: unknown }
    if (typeof format === 'number' && Number.isInteger(format)) return format
  } catch {
    // The marker is not JSON. The fault below reports it.
  }
  throw new Fault(
    'data-folder-unusable',
    `${marker} is damaged. If the folder is a data folder of this program, write {"format":${FORMAT}} to that file. Otherwise set TRIBUTARY_DATA to another folder.`,
  )
}

/** The owner of the folder has the kernel lock on this file. */
const lockPath = (folder: string): string => join(folder, 'locks', 'folder')

/**
 * Connects to the server that has the folder. Returns undefined only if no process has the folder. If a server is starting and does not listen
 * yet, waits for its socket. Creates nothing. Fault: `data-folder-in-use` if the server does not answer within five seconds.
 */
export const connectToServer = async (folder: string): Promise<Socket | undefined> => {
  const found = await retrying(
    async () => (await connectIn(folder, SOCKET)) ?? ((await isFileLocked(lockPath(folder))) ? 'starting' : undefined),
    untilDeadline((result) => result === 'starting'),
  )
  if (found === 'starting') throw inUse(folder)
  return found
}

/** Returns the rule for a retry: repeat the attempt while `result` is true for the value that it returned, for at most five seconds. */
const untilDeadline = <T>(result: (found: T) => boolean): Retry<T> => ({
  clock: systemClock,
  when: { result },
  until: after(systemClock, PATIENCE_MS),
  pause: every(RETRY_MS),
})

/**
 * Takes the folder for this process, until `release` or the end of the process. The lock is in the kernel, so only one process can have a
 * folder, under any path and in any container. The socket only carries commands. While this process has the folder, its other code must not
 * open the files in `locks/` (see takeFileLock). `note` receives one line for each change to a folder that an earlier release or the user
 * created.
 * Fault: `data-folder-in-use`.
 */
export const lockFolder = async (
  folder: string,
  note: (line: string) => void = () => undefined,
): Promise<FolderLock> => {
  prepareFolder(folder)
  restrictAccess(folder, note)
  const lock = await takeLock(folder)
  try {
    upgradeMarker(folder, note)
    const { server, close } = await listenIn(folder, SOCKET)
    const connections = new Set<Socket>()
    server.on('connection', (socket) => {
      connections.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => connections.delete(socket))
    })
    const release = async (): Promise<void> => {
      const closed = close()
      for (const socket of connections) socket.destroy()
      await closed
      lock.release()
    }
    return { server, connections, release }
  } catch (error) {
    lock.release()
    throw error
  }
}

const takeLock = async (folder: string): Promise<FileLock> => {
  const lock = await retrying(
    () => tryLock(folder),
    untilDeadline((taken) => taken === undefined),
  )
  if (lock === undefined) throw inUse(folder)
  return lock
}

/** Takes the lock. Undefined if another process has the lock and does not listen: that process is starting or stopping. */
const tryLock = async (folder: string): Promise<FileLock | undefined> => {
  const lock = await takeFileLock(lockPath(folder))
  const owner = await connectIn(folder, SOCKET)
  if (owner === undefined) return lock
  owner.destroy()
  // Another process uses the folder. If this process got the lock, the other process is of an earlier release, whose lock was its socket.
  lock?.release()
  throw inUse(folder)
}

const inUse = (folder: string): Fault =>
  new Fault(
    'data-folder-in-use',
    `Another tributary process uses the data folder ${folder}. Stop that process, or set TRIBUTARY_DATA to another folder.`,
  )

/** Removes the permissions of other users on the folder. If this user may not do so, reports the problem with `note`. */
const restrictAccess = (folder: string, note: (line: string) => void): void => {
  const mode = statSync(folder).mode & 0o777
  if ((mode & 0o077) === 0 || process.platform === 'win32') return
  try {
    chmodSync(folder, 0o700)
    note(`Other users could open the data folder ${folder} (mode ${mode.toString(8)}). Its mode is now 700.`)
  } catch (error) {
    note(
      `Other users can open the data folder ${folder} (mode ${mode.toString(8)}), and this user cannot change that (${messageOf(error)}). Run as its owner: chmod 700 ${folder}`,
    )
  }
}

/** True if the kernel lists a lock of another process on this file. Only Linux has such a list. */
const isLockedElsewhere = (file: string): boolean => {
  if (!existsSync(file) || !existsSync(LOCKS)) return false
  const inode = `:${statSync(file).ino}`
  return readFileSync(LOCKS, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .some((fields) => fields[5]?.endsWith(inode) === true && fields[4] !== String(process.pid))
}
const LOCKS = '/proc/locks'

/** Writes the newest format to the marker. Fault: `data-folder-in-use` if a process of an earlier release uses the folder. */
const upgradeMarker = (folder: string, note: (line: string) => void): void => {
  const marker = join(folder, MARKER)
  const format = formatIn(marker)
  if (format === FORMAT) return
  // If the path of the folder is long, a process of an earlier release has its socket in the temporary folder. This process cannot find the socket
  // if that process uses another temporary folder. But that process has a lock on the lock file of the log.
  if (isLockedElsewhere(join(folder, 'log', 'lock.mdb'))) throw inUse(folder)
  writeMarker(marker)
  note(
    `The data folder ${folder} was upgraded from format ${format} to ${FORMAT}. Earlier releases cannot open it any more.`,
  )
}
