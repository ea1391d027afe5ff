import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { isFileLocked, takeFileLock } from '../processors/adapters/duckdb/lock.ts'
import type { FileLock } from '../processors/adapters/duckdb/lock.ts'
import { systemClock } from '../processors/adapters/system-clock.ts'
import { after, every, retrying, type Retry } from '../processors/engine/retry.ts'
import { Fault, messageOf } from '../schemas/fault.ts'
import { callIn, codeOf, listenIn } from './unix-socket.ts'

/**
 * The version of everything that the folder contains. It is raised when older programs can no longer read the folder.
 * 2: blocks and segments of the log have checksums over their headers.
 */
const FORMAT = 2
/** Marks a data folder. */
export const MARKER = 'tributary.json'
const SOCKET = 'tributary.sock'
/** For how long a process waits for a lock whose owner does not answer: the owner is starting or stopping, or only tested the lock. */
const PATIENCE_MS = 5_000
const RETRY_MS = 25

export interface Held {
  /** Connections from other commands. */
  readonly server: Server
  /** The open connections, including those that were made before this process began to answer. */
  readonly callers: ReadonlySet<Socket>
  /** Closes the socket, then releases the lock. */
  release(): Promise<void>
}

/** Creates the folder if it is missing. Rejects a folder that cannot be used. */
export const prepareFolder = (folder: string): void => {
  try {
    makeFolder(folder)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new Fault('data-folder-unusable', `The data folder ${folder} cannot be created or written (${messageOf(error)}). Set TRIBUTARY_DATA to a folder that this user can write.`, { cause: error })
  }
  const marker = join(folder, MARKER)
  if (!existsSync(marker)) {
    refuseForeign(folder)
    writeMarker(marker)
  }
  const format = formatIn(marker)
  if (format > FORMAT) {
    throw new Fault('data-folder-newer', `The data folder ${folder} was written by a newer version (its format is ${format}, this version reads up to ${FORMAT}). Run that version, or set TRIBUTARY_DATA to another folder.`)
  }
}

/** Names that the program may have created before it wrote the marker, and the one that a new volume contains. */
const EXPECTED = ['log', 'tables', 'keys', 'series', 'builds', 'locks', 'lost+found']

const refuseForeign = (folder: string): void => {
  const foreign = readdirSync(folder).find((name) => !EXPECTED.includes(name) && !name.startsWith('.') && !name.startsWith(MARKER) && !name.includes('.sock'))
  if (foreign === undefined) return
  throw new Fault('data-folder-foreign', `The folder ${folder} contains ${foreign} and is not a data folder. Set TRIBUTARY_DATA to an empty folder, or to one that does not exist yet.`)
}

/** For commands that only read: rejects a folder that does not exist (perhaps a misspelt name) and creates nothing. */
export const requireFolder = (folder: string): void => {
  if (isDataFolder(folder)) return
  const what = existsSync(folder) ? 'is no data folder (it has no tributary.json)' : 'does not exist'
  throw new Fault('no-data-folder', `The data folder ${folder} ${what}; check TRIBUTARY_DATA, or start the pipeline once.`)
}

/** Returns true if the folder has a marker. Also returns true if the folder cannot be read: opening it then reports why. */
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

/** Replaces the marker whole, so that a crash leaves the old one or the new one. */
const writeMarker = (marker: string): void => {
  writeFileSync(`${marker}.new`, `${JSON.stringify({ format: FORMAT })}\n`)
  renameSync(`${marker}.new`, marker)
}

const formatIn = (marker: string): number => {
  try {
    const { format } = JSON.parse(readFileSync(marker, 'utf8')) as { format?: unknown }
    if (typeof format === 'number' && Number.isInteger(format)) return format
  } catch {
    // Not JSON: reported below.
  }
  throw new Fault('data-folder-unusable', `${marker} is damaged: it should read {"format":${FORMAT}}. If the folder is a data folder of this program, write that; otherwise set TRIBUTARY_DATA to another one.`)
}

/** The file whose kernel lock belongs to the folder's one owner. */
const lockPath = (folder: string): string => join(folder, 'locks', 'folder')

/**
 * Connects to the process that holds the folder. Returns undefined only if no process holds it: while an owner starts and does not listen yet, it waits
 * for the owner's socket. Creates nothing. Fault: `data-folder-in-use` if the owner does not answer within five seconds.
 */
export const callHolder = async (folder: string): Promise<Socket | undefined> => {
  const called = await retrying(async () => (await callIn(folder, SOCKET)) ?? ((await isFileLocked(lockPath(folder))) ? 'starting' : undefined), patiently((found) => found === 'starting'))
  if (called === 'starting') throw inUse(folder)
  return called
}

/** Tries again for five seconds. */
const patiently = <T>(result: (found: T) => boolean): Retry<T> => ({ clock: systemClock, when: { result }, until: after(systemClock, PATIENCE_MS), pause: every(RETRY_MS) })

/**
 * Holds the folder until it is released or this process ends, however it ends: the kernel has the lock, so only one process can hold a folder, whatever
 * its path, its network or its temporary folder. The socket only carries commands. While the folder is held, no other code of this process may open the
 * files in `locks/` (see takeFileLock). `note` receives one line for each change to a folder that an earlier release or the user created.
 * Fault: `data-folder-in-use`.
 */
export const holdFolder = async (folder: string, note: (line: string) => void = () => undefined): Promise<Held> => {
  prepareFolder(folder)
  narrow(folder, note)
  const lock = await lockFolder(folder)
  try {
    upgradeMarker(folder, note)
    const { server, close } = await listenIn(folder, SOCKET)
    const callers = new Set<Socket>()
    server.on('connection', (socket) => {
      callers.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => callers.delete(socket))
    })
    const release = async (): Promise<void> => {
      const closed = close()
      for (const socket of callers) socket.destroy()
      await closed
      lock.release()
    }
    return { server, callers, release }
  } catch (error) {
    lock.release()
    throw error
  }
}

const lockFolder = async (folder: string): Promise<FileLock> => {
  const lock = await retrying(() => lockOnce(folder), patiently((taken) => taken === undefined))
  if (lock === undefined) throw inUse(folder)
  return lock
}

/** Undefined if another process has the lock and does not listen: it starts or ends. */
const lockOnce = async (folder: string): Promise<FileLock | undefined> => {
  const lock = await takeFileLock(lockPath(folder))
  const owner = await callIn(folder, SOCKET)
  if (owner === undefined) return lock
  owner.destroy()
  // With the lock taken, an owner that answers is a process of an earlier release, whose lock was its socket.
  lock?.release()
  throw inUse(folder)
}

const inUse = (folder: string): Fault =>
  new Fault('data-folder-in-use', `Another tributary process holds the data folder ${folder}. Stop that process, or set TRIBUTARY_DATA to another folder.`)

/** Takes the permissions of other users away. A folder that belongs to another user stays as it is. */
const narrow = (folder: string, note: (line: string) => void): void => {
  const mode = statSync(folder).mode & 0o777
  if ((mode & 0o077) === 0 || process.platform === 'win32') return
  try {
    chmodSync(folder, 0o700)
    note(`Other users could open the data folder ${folder} (mode ${mode.toString(8)}). Its mode is now 700.`)
  } catch (error) {
    note(`Other users can open the data folder ${folder} (mode ${mode.toString(8)}), and this user cannot change that (${messageOf(error)}). Run as its owner: chmod 700 ${folder}`)
  }
}

/** True if the kernel lists a lock of another process on this file. Only Linux has such a list. */
const isLockedElsewhere = (file: string): boolean => {
  if (!existsSync(file) || !existsSync(LOCKS)) return false
  const inode = `:${statSync(file).ino}`
  return readFileSync(LOCKS, 'utf8').split('\n').map((line) => line.trim().split(/\s+/)).some((fields) => fields[5]?.endsWith(inode) === true && fields[4] !== String(process.pid))
}
const LOCKS = '/proc/locks'

const upgradeMarker = (folder: string, note: (line: string) => void): void => {
  const marker = join(folder, MARKER)
  const format = formatIn(marker)
  if (format === FORMAT) return
  // A process of an earlier release with a long path and another temporary folder does not answer here. It has the lock file of its log open.
  if (isLockedElsewhere(join(folder, 'log', 'lock.mdb'))) throw inUse(folder)
  writeMarker(marker)
  note(`The data folder ${folder} was upgraded from format ${format} to ${FORMAT}. Releases before this one cannot open it any more.`)
}
