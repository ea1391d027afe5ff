import { createHash, randomBytes } from 'node:crypto'
import { linkSync, renameSync, rmSync, unlinkSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../schemas/fault.ts'

const SOCKET_PATH_LIMIT = 100

/** A path too long for a socket moves to the system's temporary folder, under a name made of it. */
export const shortSocket = (path: string, named: string = path): string =>
  path.length <= SOCKET_PATH_LIMIT ? path : join(tmpdir(), `tributary-${createHash('sha256').update(named).digest('hex').slice(0, 24)}.sock`)

/**
 * The socket is the lock: the kernel lets go of it when its process dies, however it dies. It is bound under a name of its own and
 * then linked to the known one, which only one can do; a dead one's name is moved away before it is removed, so that it is removed once.
 * Undefined while a living process holds it.
 */
export const lockSocket = async (path: string): Promise<Server | undefined> => {
  const own = `${path}.${randomBytes(3).toString('hex')}`
  const server = createServer()
  await listenOn(server, own)
  try {
    while (!claimed(own, path)) {
      if (await clearDead(path)) continue
      server.close()
      return undefined
    }
    return server
  } catch (error) {
    server.close()
    throw error
  } finally {
    rmSync(own, { force: true })
  }
}

export const unlockSocket = (server: Server, path: string): Promise<void> => {
  rmSync(path, { force: true })
  return new Promise((done) => server.close(() => done()))
}

/** The holder's ear, or undefined when nobody holds it. */
export const callSocket = (path: string): Promise<Socket | undefined> =>
  new Promise((resolve, reject) => {
    const socket = createConnection(path)
    socket.once('connect', () => {
      socket.removeAllListeners('error')
      resolve(socket)
    })
    socket.once('error', (error) => {
      const code = codeOf(error)
      // Reset: whoever was about to take the call died.
      if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ECONNRESET') resolve(undefined)
      else reject(new Fault('data-folder-unusable', `The socket ${path} cannot be reached (${error.message}). It must belong to this user.`, { cause: error }))
    })
  })

const claimed = (own: string, path: string): boolean => {
  try {
    linkSync(own, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** False when it is not dead. */
const clearDead = async (path: string): Promise<boolean> => {
  if (await isAlive(path)) return false
  const grave = `${path}.${randomBytes(3).toString('hex')}`
  try {
    renameSync(path, grave)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true
    throw error
  }
  // Between the look and the rename another may have taken it: then give it back.
  if (await isAlive(grave)) claimed(grave, path)
  unlinkSync(grave)
  return true
}

const isAlive = async (path: string): Promise<boolean> => {
  const holder = await callSocket(path)
  holder?.destroy()
  return holder !== undefined
}

const listenOn = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Fault('data-folder-unusable', `No socket can be made at ${path} (${error.message}). The data folder must be on a local disk.`, { cause: error })))
    server.listen(path, () => resolve())
  })

export const codeOf = (error: unknown): string | undefined => (error instanceof Error && 'code' in error ? String(error.code) : undefined)
