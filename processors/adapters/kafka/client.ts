import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Kafka, logLevel, type ISocketFactoryArgs, type LogEntry, type SASLOptions } from 'kafkajs'
import type { KafkaLogger, SaslOptions, Settings } from './options.ts'

/** Told of every Produce request that is handed to a socket: only what never got so far is known not to be written. */
export type OnProduce = () => void

const KEEP_ALIVE_MS = 60_000
const PRODUCE = 0

/** A client of its own for each use: clients share state between consumers of a group. */
export function createClient(settings: Settings, onProduce: OnProduce = () => {}): Kafka {
  const { brokers, clientId, ssl, sasl, timing, logger } = settings
  return new Kafka({
    brokers: [...brokers], clientId, ...(ssl ? { ssl } : {}), ...(sasl ? { sasl: login(sasl) } : {}),
    connectionTimeout: timing.request, requestTimeout: timing.request,
    retry: { retries: 3, initialRetryTime: 100, maxRetryTime: 1_000, factor: 0.2, multiplier: 2 },
    socketFactory: (args) => watched(openSocket(args), onProduce),
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

function watched(socket: Socket, onProduce: OnProduce): Socket {
  const write: Socket['write'] = socket.write.bind(socket)
  socket.write = (chunk: Uint8Array | string, ...rest: []): boolean => {
    if (isProduce(chunk)) onProduce()
    return write(chunk, ...rest)
  }
  return socket
}

/** A request is written whole: four bytes of length, then the number of its kind. */
const isProduce = (chunk: Uint8Array | string): boolean =>
  typeof chunk !== 'string' && chunk.length >= 6 && Buffer.from(chunk.buffer, chunk.byteOffset, 6).readInt16BE(4) === PRODUCE

/** The client's own lines are for those who debug it: it calls an error what it then mends. */
function write(logger: KafkaLogger, { namespace, label, log: { message, timestamp: _, logger: __, stack: ___, ...fields } }: LogEntry): void {
  logger.debug({ ...fields, namespace, level: label }, message)
}
