import { createHash, randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, linkSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Fault } from '../schemas/fault.ts'

/** Raised when what lies in the folder can no longer be read by older programs. */
const FORMAT = 1
const SOCKET_PATH_LIMIT = 100

export interface Held {
  /** Connections from other commands; the first reader of `server` handles them. */
  readonly server: Server
  readonly path: string
  release(): Promise<void>
}

/** Makes the folder if need be, and refuses one that cannot be used. */
export const prepareFolder = (folder: string): void => {
  try {
    makeFolder(folder)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new Fault('data-folder-unusable', `The data folder ${folder} cannot be made or written (${reasonOf(error)}). Set TRIBUTARY_DATA to a folder this user may write.`, { cause: error })
  }
  const marker = join(folder, 'tributary.json')
  const format = existsSync(marker) ? formatIn(marker) : writeMarker(marker)
  if (format > FORMAT) {
    throw new Fault('data-folder-newer', `The data folder ${folder} was written by a newer version (format ${format}, this one knows ${FORMAT}). Run that version, or set TRIBUTARY_DATA to another folder.`)
  }
}

/** For commands that look at what is there: a misspelt folder is told, not made. */
export const requireFolder = (folder: string): void => {
  if (isDataFolder(folder)) return
  const what = existsSync(folder) ? 'is no data folder (it has no tributary.json)' : 'does not exist'
  throw new Fault('no-data-folder', `The data folder ${folder} ${what}; check TRIBUTARY_DATA, or start the pipeline once.`)
}

/** Whether the program was here before. One that cannot be looked into counts as one: opening it tells why it cannot be used. */
export const isDataFolder = (folder: string): boolean => {
  try {
    accessSync(join(folder, 'tributary.json'))
    return true
  } catch (error) {
    return codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR'
  }
}

/** One by one, since Node's recursive mkdir never returns where a parent is there and yet takes nothing in (/proc). */
const makeFolder = (folder: string): void => {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

const writeMarker = (marker: string): number => {
  writeFileSync(marker, `${JSON.stringify({ format: FORMAT })}\n`)
  return FORMAT
}

const formatIn = (marker: string): number => {
  try {
    const { format } = JSON.parse(readFileSync(marker, 'utf8')) as { format?: unknown }
    if (typeof format === 'number' && Number.isInteger(format)) return format
  } catch {
    // Falls through: damaged is damaged, however.
  }
  throw new Fault('data-folder-unusable', `${marker} is damaged: it should read {"format":${FORMAT}}. If the folder is a data folder of this program, write that; otherwise set TRIBUTARY_DATA to another one.`)
}

/** Where the holder of a folder listens. A path too long for a socket moves to the system's temporary folder, under a name made of it. */
export const socketPath = (folder: string): string => {
  const inside = join(folder, 'tributary.sock')
  if (inside.length <= SOCKET_PATH_LIMIT) return inside
  const real = existsSync(folder) ? realpathSync(folder) : folder
  return join(tmpdir(), `tributary-${createHash('sha256').update(real).digest('hex').slice(0, 24)}.sock`)
}

/** The holder's ear, or undefined when nobody holds the folder. */
export const callHolder = (folder: string): Promise<Socket | undefined> => connect(socketPath(folder))

/**
 * The socket is the lock: the kernel lets go of it when its process dies, however it dies. It is bound under a name of its own and
 * then linked to the known one, which only one can do; a dead one's name is moved away before it is removed, so that it is removed once.
 */
export const holdFolder = async (folder: string): Promise<Held> => {
  prepareFolder(folder)
  const path = socketPath(folder)
  const own = `${path}.${randomBytes(3).toString('hex')}`
  const server = createServer()
  await listenOn(server, own)
  try {
    while (!claimed(own, path)) await clearDead(path, folder)
  } catch (error) {
    server.close()
    throw error
  } finally {
    rmSync(own, { force: true })
  }
  const callers = new Set<Socket>()
  server.on('connection', (socket) => {
    callers.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => callers.delete(socket))
  })
  const release = (): Promise<void> => {
    rmSync(path, { force: true })
    for (const socket of callers) socket.destroy()
    return new Promise((done) => server.close(() => done()))
  }
  return { server, path, release }
}

const claimed = (own: string, path: string): boolean => {
  try {
    linkSync(own, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

const clearDead = async (path: string, folder: string): Promise<void> => {
  await refuseIfAlive(path, folder)
  const grave = `${path}.${randomBytes(3).toString('hex')}`
  try {
    renameSync(path, grave)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    throw error
  }
  // Between the look and the rename another may have taken it: then give it back.
  const alive = await connect(grave)
  alive?.destroy()
  if (alive !== undefined) claimed(grave, path)
  unlinkSync(grave)
}

const refuseIfAlive = async (path: string, folder: string): Promise<void> => {
  const holder = await connect(path)
  if (holder === undefined) return
  holder.destroy()
  throw new Fault('data-folder-in-use', `The data folder ${folder} is held by another tributary process. Stop that one, or set TRIBUTARY_DATA to another folder.`)
}

const connect = (path: string): Promise<Socket | undefined> =>
  new Promise((resolve, reject) => {
    const socket = createConnection(path)
    socket.once('connect', () => {
      socket.removeAllListeners('error')
      resolve(socket)
    })
    socket.once('error', (error) => {
      const code = codeOf(error)
      if (code === 'ENOENT' || code === 'ECONNREFUSED') resolve(undefined)
      else reject(new Fault('data-folder-unusable', `The socket ${path} cannot be reached (${reasonOf(error)}). It must belong to this user.`, { cause: error }))
    })
  })

const listenOn = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Fault('data-folder-unusable', `No socket can be made at ${path} (${reasonOf(error)}). The data folder must be on a local disk.`, { cause: error })))
    server.listen(path, () => resolve())
  })

const codeOf = (error: unknown): string | undefined => (error instanceof Error && 'code' in error ? String(error.code) : undefined)
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
