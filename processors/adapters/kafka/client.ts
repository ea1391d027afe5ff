import { connect as connectTcp, isIP, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Kafka, logLevel, type ISocketFactoryArgs, type LogEntry, type SASLOptions } from 'kafkajs'
import type { KafkaLogger, SaslOptions, Settings } from './options.ts'
import { guardRunner } from './runner-guard.ts'

/** Runs for every Produce request that is passed to a socket. Only records whose request was never passed to a socket are certainly not written. */
export type OnProduce = () => void

const KEEP_ALIVE_MS = 60_000
const PRODUCE = 0
/** The numbers of JoinGroup and SyncGroup requests. They have no time limit here: the coordinator answers only when the other members have joined. */
const GROUP_REQUESTS = [11, 14]

/** Creates a client. Each use needs its own client, because a client shares state between its consumers of one group. */
export function createClient(settings: Settings, onProduce: OnProduce = () => {}): Kafka {
  guardRunner()
  const { brokers, clientId, ssl, sasl, timing, logger, brokerHealth } = settings
  return new Kafka({
    brokers: [...brokers],
    clientId,
    ...(ssl ? { ssl } : {}),
    ...(sasl ? { sasl: login(sasl) } : {}),
    connectionTimeout: timing.request,
    requestTimeout: timing.request,
    retry: {
      retries: Math.max(2, brokers.length - 1),
      initialRetryTime: 100,
      maxRetryTime: 1_000,
      factor: 0.2,
      multiplier: 2,
    },
    socketFactory: (args) => {
      const address = `${args.host}:${args.port}`
      if (!brokerHealth.canConnect(address)) return failedSocket(address)
      return closeOnSilence(openSocket(args), {
        onProduce,
        patience: timing.request * 0.9,
        onHang: () => brokerHealth.reportHang(address),
      })
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

/** A socket that fails at once, as if the broker had refused the connection. */
function failedSocket(address: string): Socket {
  const socket = new Socket()
  setImmediate(() => socket.destroy(new Error(`${address} did not answer a moment ago`)))
  return socket
}

/**
 * Closes the connection to a broker that does not answer within `patience` milliseconds. kafkajs itself gives up only the request. As long as the
 * connection is open, it sends the next requests to the same broker, even the request for the new leaders.
 */
function closeOnSilence(
  socket: Socket,
  { onProduce, patience, onHang }: { onProduce: OnProduce; patience: number; onHang(): void },
): Socket {
  const write: Socket['write'] = socket.write.bind(socket)
  let timer: NodeJS.Timeout | undefined
  let isJoining = false
  const stopTimer = (): void => {
    clearTimeout(timer)
    timer = undefined
    isJoining = false
  }
  const closeSocket = (): void => {
    onHang()
    socket.destroy(new Error('the broker does not answer'))
  }
  socket.write = (chunk: Uint8Array | string, ...rest: []): boolean => {
    const kind = kindOf(chunk)
    if (kind === PRODUCE) onProduce()
    isJoining ||= GROUP_REQUESTS.includes(kind)
    if (!isJoining) timer ??= setTimeout(closeSocket, patience).unref()
    return write(chunk, ...rest)
  }
  return socket.on('data', stopTimer).once('close', stopTimer)
}

/** Returns the kind of a request, or -1. kafkajs writes a request in one chunk: four bytes of length, then two bytes with the number of the kind. */
const kindOf = (chunk: Uint8Array | string): number =>
  typeof chunk !== 'string' && chunk.length >= 6 ? Buffer.from(chunk.buffer, chunk.byteOffset, 6).readInt16BE(4) : -1

/** Writes all lines of kafkajs at level `debug`: kafkajs logs failures as errors and then retries them. */
function write(
  logger: KafkaLogger,
  { namespace, label, log: { message, timestamp: _, logger: __, stack: ___, ...fields } }: LogEntry,
): void {
  logger.debug({ ...fields, namespace, level: label }, message)
}
