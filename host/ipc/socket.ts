import type { Server, Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { Fault, isFault, messageOf } from '../../schemas/fault.ts'
import type { OperationOutput } from './operations.ts'

/** Answers one request from the local socket. `name` and `args` are not checked yet. */
export type AnswerRequest = (name: string, args: unknown, output: OperationOutput<unknown>) => Promise<unknown>

/** One line of an answer. The last line is `done` or `fault`. */
type Line<Row, Result> =
  | { readonly row: Row }
  | { readonly progress: string }
  | { readonly done: Result }
  | { readonly fault: { readonly code: string; readonly message: string } }

const MAX_REQUEST_BYTES = 1024 * 1024

/**
 * Answers one request per connection. Requests and answers are lines of JSON. A caller that closes the connection cancels its request.
 * `connections`: the connections that were opened before this call, while the server started.
 */
export const serveSocket = (
  { server, connections }: { readonly server: Server; readonly connections: ReadonlySet<Socket> },
  answer: AnswerRequest,
): void => {
  const serve = (socket: Socket): void => {
    const closed = new AbortController()
    socket.on('close', () => closed.abort())
    socket.on('error', () => closed.abort())
    readRequest(socket, (request) => void answerOn(socket, { request, answer, signal: closed.signal }))
  }
  for (const socket of connections) serve(socket)
  server.on('connection', serve)
}

const readRequest = (socket: Socket, received: (request: string) => void): void => {
  let text = ''
  socket.setEncoding('utf8')
  const onData = (part: string): void => {
    text += part
    const end = text.indexOf('\n')
    if (end < 0 && text.length <= MAX_REQUEST_BYTES) return
    socket.off('data', onData)
    if (end < 0)
      socket.end(
        `${toText({ fault: { code: 'bad-usage', message: `A command and its arguments must be at most ${MAX_REQUEST_BYTES} characters.` } })}\n`,
      )
    else received(text.slice(0, end))
  }
  socket.on('data', onData)
}

const answerOn = async (
  socket: Socket,
  { request, answer, signal }: { request: string; answer: AnswerRequest; signal: AbortSignal },
): Promise<void> => {
  const write = (line: Line<unknown, unknown>): Promise<void> | void => {
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
    const done = await answer(name, args, {
      row: (row) => write({ row }),
      progress: (progress) => void write({ progress }),
      signal,
    })
    await write({ done: done ?? null })
  } catch (error) {
    await write({ fault: { code: isFault(error) ? error.code : 'internal', message: messageOf(error) } })
  }
  socket.end()
}

/** JSON, with BigInts as `{"$bigint": digits}` and Maps as `{"$map": pairs}`. */
const toText = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'bigint'
      ? { $bigint: member.toString() }
      : member instanceof Map
        ? { $map: [...member] }
        : member,
  )

const revive = (_: string, member: unknown): unknown => {
  if (typeof member !== 'object' || member === null) return member
  if ('$bigint' in member && /^-?\d+$/.test(String(member.$bigint))) return BigInt(String(member.$bigint))
  return '$map' in member && Array.isArray(member.$map) ? new Map<unknown, unknown>(member.$map) : member
}

/** Parses a line of an answer. Only a server of this program listens on the socket, so the line is not checked. */
const parseLine = <Row, Result>(text: string): Line<Row, Result> => JSON.parse(text, revive)

const parseRequest = (text: string): { name: string; args: unknown } => {
  const request: unknown = JSON.parse(text, revive)
  if (typeof request === 'object' && request !== null && 'name' in request && typeof request.name === 'string') {
    return { name: request.name, args: 'args' in request ? request.args : undefined }
  }
  throw new Fault('bad-request', 'A request on the local socket is one line {"name": …, "args": …}.')
}

/** One request to the server. */
export interface Request {
  readonly name: string
  readonly args: unknown
}

/**
 * Sends one request and returns the result. The connection serves this request only. If the signal aborts, closes the connection and rejects
 * with the signal's reason. Fault: `server-gone` if the server ends before it has answered.
 */
export const sendRequest = <Row, Result>(
  socket: Socket,
  request: Request,
  output: OperationOutput<Row>,
): Promise<Result> =>
  new Promise((resolve, reject) => {
    const hangUp = (): void => void socket.destroy()
    output.signal.addEventListener('abort', hangUp, { once: true })
    let rest = ''
    socket.setEncoding('utf8')
    socket.on('data', (part: string) => {
      const lines = (rest + part).split('\n')
      rest = lines.pop() ?? ''
      for (const text of lines) {
        const line = parseLine<Row, Result>(text)
        if ('row' in line) void output.row(line.row)
        else if ('progress' in line) output.progress(line.progress)
        else if ('done' in line) resolve(line.done)
        else reject(new Fault(line.fault.code, line.fault.message))
      }
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      output.signal.removeEventListener('abort', hangUp)
      // If the result has arrived, this rejection has no effect.
      reject(output.signal.aborted ? (output.signal.reason as Error) : serverGone())
    })
    socket.write(`${toText(request)}\n`)
  })

/** Sends one request and yields its rows. The server waits while the caller takes no rows. */
export async function* streamRows<Row>(socket: Socket, request: Request): AsyncIterable<Row> {
  socket.on('error', () => undefined)
  socket.write(`${toText(request)}\n`)
  for await (const text of createInterface({ input: socket, crlfDelay: Infinity })) {
    const line = parseLine<Row, unknown>(text)
    if ('row' in line) yield line.row
    else if ('fault' in line) throw new Fault(line.fault.code, line.fault.message)
    else if ('done' in line) return
  }
  throw serverGone()
}

const serverGone = (): Fault =>
  new Fault(
    'server-gone',
    'The running server ended before it had answered. See its log, start it again, and repeat the command.',
    { retriable: true },
  )
