import { connect as connectTcp, isIP, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Kafka, logLevel, type ISocketFactoryArgs, type LogEntry, type SASLOptions } from 'kafkajs'
import type { KafkaLogger, SaslOptions, Settings } from './options.ts'
import { guardRunner } from './runner-guard.ts'

/** Told of every Produce request that is handed to a socket: only what never got so far is known not to be written. */
export type OnProduce = () => void

const KEEP_ALIVE_MS = 60_000
const PRODUCE = 0
/** Joining waits for the other members. */
const PATIENT = [11, 14]

/** A client of its own for each use: clients share state between consumers of a group. */
export function createClient(settings: Settings, onProduce: OnProduce = () => {}): Kafka {
  guardRunner()
  const { brokers, clientId, ssl, sasl, timing, logger, peers } = settings
  return new Kafka({
    brokers: [...brokers], clientId, ...(ssl ? { ssl } : {}), ...(sasl ? { sasl: login(sasl) } : {}),
    connectionTimeout: timing.request, requestTimeout: timing.request,
    retry: { retries: Math.max(2, brokers.length - 1), initialRetryTime: 100, maxRetryTime: 1_000, factor: 0.2, multiplier: 2 },
    socketFactory: (args) => {
      const address = `${args.host}:${args.port}`
      if (!peers.worthAsking(address)) return refused(address)
      return watched(openSocket(args), { onProduce, patience: timing.request * 0.9, onHang: () => peers.hung(address) })
    },
    logLevel: logLevel.INFO,
    logCreator: () => (entry) => write(logger, entry),
  })
}

const login = ({ mechanism, username, password }: SaslOptions): SASLOptions => ({ mechanism, username, password })

function openSocket({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket {
  const name = isIP(host) ? {} : { servername: host }
  const socket = ssl ? connectTls({ host, port, ...name, ...ssl }, onConnect) : connectTcp({ host, port }, onConnect)
  return socket.setKeepAlive(true, KEEP_ALIVE_MS)
}

function refused(address: string): Socket {
  const socket = new Socket()
  setImmediate(() => socket.destroy(new Error(`${address} did not answer a moment ago`)))
  return socket
}

/**
 * Hangs up on a broker that does not answer. The client by itself only gives up the request: it goes on asking the same
 * broker, even who leads now, as long as the connection stands.
 */
function watched(socket: Socket, { onProduce, patience, onHang }: { onProduce: OnProduce; patience: number; onHang(): void }): Socket {
  const write: Socket['write'] = socket.write.bind(socket)
  let timer: NodeJS.Timeout | undefined
  let joining = false
  const answered = (): void => {
    clearTimeout(timer)
    timer = undefined
    joining = false
  }
  const hangUp = (): void => {
    onHang()
    socket.destroy(new Error('the broker does not answer'))
  }
  socket.write = (chunk: Uint8Array | string, ...rest: []): boolean => {
    const kind = kindOf(chunk)
    if (kind === PRODUCE) onProduce()
    joining ||= PATIENT.includes(kind)
    if (!joining) timer ??= setTimeout(hangUp, patience).unref()
    return write(chunk, ...rest)
  }
  return socket.on('data', answered).once('close', answered)
}

/** A request is written whole: four bytes of length, then the number of its kind. */
const kindOf = (chunk: Uint8Array | string): number =>
  typeof chunk !== 'string' && chunk.length >= 6 ? Buffer.from(chunk.buffer, chunk.byteOffset, 6).readInt16BE(4) : -1

/** The client's own lines are for those who debug it: it calls an error what it then mends. */
function write(logger: KafkaLogger, { namespace, label, log: { message, timestamp: _, logger: __, stack: ___, ...fields } }: LogEntry): void {
  logger.debug({ ...fields, namespace, level: label }, message)
}
