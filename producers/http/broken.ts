import type { Socket } from 'node:net'
import { Problem, problemBody } from './problem.ts'

/** Answers a request that cannot be parsed or arrives too slowly, and closes the connection. */
export const answerBroken = (error: Error & { readonly code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, code, detail } = ANSWERS[error.code ?? ''] ?? UNREADABLE
  const body = JSON.stringify(problemBody(new Problem(status, code, detail)))
  const head = [
    `HTTP/1.1 ${status} ${status}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  // A client that continues to send would keep the connection open, so the connection is cut after a second.
  const cut = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(cut))
}

/** Time for the client to read the answer. */
const LINGER_MS = 1_000

interface Answer {
  readonly status: number
  readonly code: 'bad-request' | 'request-timeout' | 'headers-too-large'
  readonly detail: string
}

const UNREADABLE: Answer = {
  status: 400,
  code: 'bad-request',
  detail: 'The request cannot be parsed. Check its first line, headers and body.',
}

/** The answers, by the error code of Node. For other codes the answer is `UNREADABLE`. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'request-timeout',
    detail: 'The request took too long to arrive. Send its headers and its whole body without pauses.',
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'headers-too-large',
    detail: 'The headers are larger than 16 KiB. Send smaller headers.',
  },
}
