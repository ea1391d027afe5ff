import { createHash } from 'node:crypto'
import { chmodSync, closeSync, constants, existsSync, openSync, realpathSync, rmSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../../schemas/fault.ts'

/** The maximum length of a socket path. A socket address has 104 bytes on macOS and 108 bytes on Linux, including a zero at the end. */
const ADDRESS_BYTES = 103
/** On Linux, this folder contains a short path to each folder that this process has open. It replaces a path that is too long. */
const DESCRIPTORS = '/proc/self/fd'

/** The address of a socket in a folder, valid until `close`. */
interface Address {
  readonly path: string
  close(): void
}

const addressIn = (folder: string, name: string): Address => {
  const path = join(folder, name)
  if (Buffer.byteLength(path) <= ADDRESS_BYTES) return { path, close: () => undefined }
  if (!existsSync(DESCRIPTORS)) {
    throw new Fault(
      'data-folder-unusable',
      `The path of the socket ${path} is longer than this system allows (${ADDRESS_BYTES} bytes). Set TRIBUTARY_DATA to a shorter path, for example a symbolic link to the folder.`,
    )
  }
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  return { path: `${DESCRIPTORS}/${descriptor}/${name}`, close: () => closeSync(descriptor) }
}

/** A server that listens on a socket in a folder. */
export interface Listening {
  readonly server: Server
  /** Closes the server and removes the socket. Resolves when every connection has ended. */
  close(): Promise<void>
}

/**
 * Listens on a socket in the folder, to which only this user can connect. Removes an existing socket: the caller has the lock of the folder, so
 * that socket belongs to a process that has ended.
 */
export const listenIn = async (folder: string, name: string): Promise<Listening> => {
  const address = addressIn(folder, name)
  const server = createServer()
  try {
    rmSync(join(folder, name), { force: true })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(address.path, resolve)
    })
    chmodSync(join(folder, name), 0o600)
  } catch (error) {
    server.close()
    address.close()
    throw new Fault(
      'data-folder-unusable',
      `No socket can be created at ${join(folder, name)} (${String(error)}). The data folder must be on a local disk.`,
      { cause: error },
    )
  }
  const close = (): Promise<void> => {
    const closed = new Promise<void>((done) => server.close(() => done()))
    address.close()
    return closed
  }
  return { server, close }
}

/** Connects to a socket in a folder. Returns undefined if no process listens there. */
export const connectIn = async (folder: string, name: string): Promise<Socket | undefined> => {
  if (!existsSync(folder)) return undefined
  const address = addressIn(folder, name)
  return (await connectAt(address.path).finally(() => address.close())) ?? connectToFormer(folder, name)
}

/** Connects to a process of an earlier release, which listens in the temporary folder if the path is long. Undefined if there is none. */
const connectToFormer = async (folder: string, name: string): Promise<Socket | undefined> => {
  const path = join(folder, name)
  if (path.length <= FORMER_LIMIT) return undefined
  // Earlier releases derived the name of a server's socket from the real path of the data folder, and the name of a build's socket from the path
  // that the user typed.
  const former = [realpathSync(folder), path].map((named) =>
    join(tmpdir(), `tributary-${createHash('sha256').update(named).digest('hex').slice(0, 24)}.sock`),
  )
  for (const each of former) {
    const socket = await connectAt(each)
    if (socket !== undefined) return socket
  }
  return undefined
}

const FORMER_LIMIT = 100

const connectAt = (path: string): Promise<Socket | undefined> =>
  new Promise((resolve, reject) => {
    const socket = createConnection(path)
    socket.once('connect', () => {
      socket.removeAllListeners('error')
      resolve(socket)
    })
    socket.once('error', (error) => {
      const code = codeOf(error)
      // ECONNRESET: the process that was about to accept the connection died.
      if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ECONNRESET') resolve(undefined)
      else
        reject(
          new Fault(
            'data-folder-unusable',
            `The socket ${path} cannot be reached (${error.message}). It must belong to this user.`,
            { cause: error },
          ),
        )
    })
  })

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined
