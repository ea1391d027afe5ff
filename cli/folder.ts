import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { Fault, messageOf } from '../schemas/fault.ts'
import { callSocket, codeOf, lockSocket, shortSocket, unlockSocket } from './lock.ts'

/** Raised when what lies in the folder can no longer be read by older programs. */
const FORMAT = 1

export interface Held {
  /** Connections from other commands. */
  readonly server: Server
  /** Who is connected now: those that called before anybody answered wait among them. */
  readonly callers: ReadonlySet<Socket>
  readonly path: string
  release(): Promise<void>
}

/** Makes the folder if need be, and refuses one that cannot be used. */
export const prepareFolder = (folder: string): void => {
  try {
    makeFolder(folder)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new Fault('data-folder-unusable', `The data folder ${folder} cannot be made or written (${messageOf(error)}). Set TRIBUTARY_DATA to a folder this user may write.`, { cause: error })
  }
  const marker = join(folder, 'tributary.json')
  if (!existsSync(marker)) refuseForeign(folder)
  const format = existsSync(marker) ? formatIn(marker) : writeMarker(marker)
  if (format > FORMAT) {
    throw new Fault('data-folder-newer', `The data folder ${folder} was written by a newer version (format ${format}, this one knows ${FORMAT}). Run that version, or set TRIBUTARY_DATA to another folder.`)
  }
}

/** What the program may have begun before it was marked, and what a new volume has. */
const EXPECTED = ['log', 'tables', 'keys', 'series', 'builds', 'lost+found']

const refuseForeign = (folder: string): void => {
  const foreign = readdirSync(folder).find((name) => !EXPECTED.includes(name) && !name.startsWith('.') && !name.includes('.sock'))
  if (foreign === undefined) return
  throw new Fault('data-folder-foreign', `The folder ${folder} holds what is not ours (${foreign}), and was never a data folder. Set TRIBUTARY_DATA to an empty folder, or to one that is yet to be made.`)
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

/** Where the holder of a folder listens. */
export const socketPath = (folder: string): string =>
  shortSocket(join(folder, 'tributary.sock'), existsSync(folder) ? realpathSync(folder) : folder)

/** The holder's ear, or undefined when nobody holds the folder. */
export const callHolder = (folder: string): Promise<Socket | undefined> => callSocket(socketPath(folder))

/** Holds the folder until it is released or this process ends, however it ends. */
export const holdFolder = async (folder: string): Promise<Held> => {
  prepareFolder(folder)
  const path = socketPath(folder)
  const server = await lockSocket(path)
  if (server === undefined) {
    throw new Fault('data-folder-in-use', `The data folder ${folder} is held by another tributary process. Stop that one, or set TRIBUTARY_DATA to another folder.`)
  }
  const callers = new Set<Socket>()
  server.on('connection', (socket) => {
    callers.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => callers.delete(socket))
  })
  const release = (): Promise<void> => {
    const unlocked = unlockSocket(server, path)
    for (const socket of callers) socket.destroy()
    return unlocked
  }
  return { server, callers, path, release }
}
