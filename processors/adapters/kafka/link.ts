import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Settings } from './options.ts'
import { authenticate } from './sasl.ts'
import { int16, int32, string } from './wire.ts'

/** One connection to one broker, for the requests that Kafka's client does not know. */
export interface Link {
  /** Resolves with what follows the correlation id. */
  ask(request: { key: number; version: number; body: Buffer; flexible: boolean }): Promise<Buffer>
  open(): boolean
  close(): void
}

interface Waiting { resolve(answer: Buffer): void; reject(error: Error): void; timer: NodeJS.Timeout }

const MAX_ANSWER_BYTES = 64 << 20

export async function openLink(address: string, settings: Settings): Promise<Link> {
  const link = linkOver(await connected(address, settings), settings, () => settings.peers.hung(address))
  try {
    if (settings.sasl) await authenticate(link, settings.sasl)
    return link
  } catch (error) {
    link.close()
    throw error
  }
}

function connected(address: string, { ssl, timing }: Settings): Promise<Socket> {
  const colon = address.lastIndexOf(':')
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '')
  const port = Number(address.slice(colon + 1))
  return new Promise((resolve, reject) => {
    const name = isIP(host) ? {} : { servername: host }
    const socket = ssl ? connectTls({ host, port, ...name, ...(ssl === true ? {} : ssl) }) : connectTcp({ host, port })
    const timer = setTimeout(() => socket.destroy(new Error(`${address} did not answer in ${timing.request} ms`)), timing.request)
    socket.once(ssl ? 'secureConnect' : 'connect', () => { clearTimeout(timer); resolve(socket) })
    socket.once('error', (error) => { clearTimeout(timer); reject(error) })
  })
}

function linkOver(socket: Socket, { clientId, timing }: Settings, onHang: () => void): Link {
  const waiting = new Map<number, Waiting>()
  let correlation = 0
  let received = Buffer.alloc(0)
  let open = true
  const end = (error: Error): void => {
    open = false
    socket.destroy()
    for (const { reject, timer } of waiting.values()) { clearTimeout(timer); reject(error) }
    waiting.clear()
  }
  socket.on('error', end)
  socket.on('close', () => end(new Error('the broker closed the connection')))
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
      const length = received.readInt32BE(0)
      if (length < 4 || length > MAX_ANSWER_BYTES) return end(new Error('the broker answered with something that is not Kafka'))
      const answer = received.subarray(4, 4 + length)
      received = received.subarray(4 + length)
      const entry = waiting.get(answer.readInt32BE(0))
      waiting.delete(answer.readInt32BE(0))
      clearTimeout(entry?.timer)
      entry?.resolve(answer.subarray(4))
    }
  })
  socket.setNoDelay(true)
  socket.unref()
  return {
    ask: ({ key, version, body, flexible }) => new Promise((resolve, reject) => {
      if (!open) return reject(new Error('the connection is closed'))
      const id = ++correlation & 0x7fffffff
      const timer = setTimeout(() => { onHang(); end(new Error(`no answer in ${timing.request} ms`)) }, timing.request)
      waiting.set(id, { resolve, reject, timer })
      const head = Buffer.concat([int16(key), int16(version), int32(id), string(clientId), flexible ? Buffer.alloc(1) : Buffer.alloc(0)])
      socket.write(Buffer.concat([int32(head.length + body.length), head, body]))
    }),
    open: () => open,
    close: () => end(new Error('the connection is closed')),
  }
}
