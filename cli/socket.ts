import type { Server, Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { Fault, isFault, messageOf } from '../schemas/fault.ts'

/** What a command says while it works: rows are its data, progress is for people. */
export interface Says {
  /** Resolves when there is room for more. */
  row(row: unknown): Promise<void> | void
  progress(text: string): void
  /** Aborted when whoever asked is gone. */
  readonly signal: AbortSignal
}

/** One verb beside a running server: `name` and `args` as sent, the answer as its caller gets it. */
export type Perform = (name: string, args: unknown, says: Says) => Promise<unknown>

type Line =
  | { readonly row: unknown }
  | { readonly progress: string }
  | { readonly done: unknown }
  | { readonly fault: { readonly code: string; readonly message: string } }

const MAX_REQUEST_BYTES = 1024 * 1024

/** One request a connection, one JSON a line; hanging up cancels. Whoever called before, while the server started, is answered too. */
export const serveSocket = ({ server, callers }: { readonly server: Server; readonly callers: ReadonlySet<Socket> }, perform: Perform): void => {
  const serve = (socket: Socket): void => {
    const gone = new AbortController()
    socket.on('close', () => gone.abort())
    socket.on('error', () => gone.abort())
    readRequest(socket, (request) => void answer(socket, { request, perform, signal: gone.signal }))
  }
  for (const socket of callers) serve(socket)
  server.on('connection', serve)
}

const readRequest = (socket: Socket, heard: (request: string) => void): void => {
  let text = ''
  socket.setEncoding('utf8')
  const listen = (part: string): void => {
    text += part
    const end = text.indexOf('\n')
    if (end < 0 && text.length <= MAX_REQUEST_BYTES) return
    socket.off('data', listen)
    if (end < 0) socket.end(`${toText({ fault: { code: 'bad-usage', message: `A command and its arguments must be at most ${MAX_REQUEST_BYTES} characters.` } })}\n`)
    else heard(text.slice(0, end))
  }
  socket.on('data', listen)
}

const answer = async (socket: Socket, { request, perform, signal }: { request: string; perform: Perform; signal: AbortSignal }): Promise<void> => {
  const say = (line: Line): Promise<void> | void => {
    if (socket.destroyed || socket.write(`${toText(line)}\n`)) return
    return new Promise((resolve) => {
      const settle = (): void => {
        socket.off('drain', settle).off('close', settle)
        resolve()
      }
      socket.once('drain', settle).once('close', settle)
    })
  }
  try {
    const { name, args } = parseRequest(request)
    const done = await perform(name, args, { row: (row) => say({ row }), progress: (progress) => void say({ progress }), signal })
    await say({ done: done ?? null })
  } catch (error) {
    await say({ fault: { code: isFault(error) ? error.code : 'internal', message: messageOf(error) } })
  }
  socket.end()
}

/** JSON, with BigInts as `{"$bigint": digits}` and Maps as `{"$map": pairs}`. */
const toText = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? { $bigint: member.toString() } : member instanceof Map ? { $map: [...member] } : member))

const fromText = (text: string): unknown =>
  JSON.parse(text, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null) return member
    if ('$bigint' in member && /^-?\d+$/.test(String(member.$bigint))) return BigInt(String(member.$bigint))
    return '$map' in member && Array.isArray(member.$map) ? new Map(member.$map as [unknown, unknown][]) : member
  })

const parseRequest = (text: string): { name: string; args: unknown } => {
  const request: unknown = fromText(text)
  if (typeof request === 'object' && request !== null && 'name' in request && typeof request.name === 'string') {
    return { name: request.name, args: 'args' in request ? request.args : undefined }
  }
  throw new Fault('bad-request', 'A request on the local socket is one line {"name": …, "args": …}.')
}

/** The other end: asks a running server to perform, and says what it says. */
export const askOver = (socket: Socket): Perform => (name, args, says) =>
  new Promise((resolve, reject) => {
    const hangUp = (): void => void socket.destroy()
    says.signal.addEventListener('abort', hangUp, { once: true })
    let rest = ''
    socket.setEncoding('utf8')
    socket.on('data', (part: string) => {
      const lines = (rest + part).split('\n')
      rest = lines.pop() ?? ''
      for (const text of lines) hear(fromText(text) as Line, { says, resolve, reject })
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      says.signal.removeEventListener('abort', hangUp)
      // After an answer this settles nothing; before one, the server went away in the middle.
      if (says.signal.aborted) resolve(undefined)
      else reject(serverGone())
    })
    socket.write(`${toText({ name, args })}\n`)
  })

/** The rows of an operation as they come; the server waits while nobody takes them. */
export async function* streamOver(socket: Socket, name: string, args: unknown): AsyncIterable<unknown> {
  socket.on('error', () => undefined)
  socket.write(`${toText({ name, args })}\n`)
  for await (const text of createInterface({ input: socket, crlfDelay: Infinity })) {
    const line = fromText(text) as Line
    if ('row' in line) yield line.row
    else if ('fault' in line) throw new Fault(line.fault.code, line.fault.message)
    else if ('done' in line) return
  }
  throw serverGone()
}

const serverGone = (): Fault =>
  new Fault('server-gone', 'The running server ended before it had answered. See its log, start it again, and repeat the command.', { retriable: true })

const hear = (line: Line, { says, resolve, reject }: { says: Says; resolve: (value: unknown) => void; reject: (fault: Fault) => void }): void => {
  if ('row' in line) void says.row(line.row)
  else if ('progress' in line) says.progress(line.progress)
  else if ('done' in line) resolve(line.done)
  else reject(new Fault(line.fault.code, line.fault.message))
}
