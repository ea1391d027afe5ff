import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { Aedes, type AuthenticateError, type Client } from 'aedes'
import { Fault, isFault, messageOf } from '../../schemas/fault.ts'
import { Problem } from '../http/problem.ts'
import { createAppendMessages, type AppendParts, type DeviceReport } from './append-messages.ts'
import { publishHandler, subscribeHandler } from './authorization.ts'
import { createDeviceQueues, type DeviceQueueParts, type DeviceQueues } from './device-queues.ts'
import { boundFrames } from './frames.ts'
import { createLogin, type Login, type LoginParts, type Refuse } from './login.ts'
import { createPersistence } from './persistence.ts'
import { createSessions, type DropCause, type SessionBounds } from './sessions.ts'
import { findTopic, type DeviceDomain } from './spec.ts'
import { createTokenChecks } from './token-checks.ts'

export interface BrokerParts extends LoginParts {
  readonly clock: DeviceQueueParts['clock']
  readonly rate?: DeviceQueueParts['rate']
  readonly report?: DeviceReport
  readonly bounds?: SessionBounds
  /** The maximum time in milliseconds between the end of a token and the end of its connection, if the device sends no messages. */
  readonly checkMs: number
}

export interface Broker {
  readonly address: string
  /** Accepts no new connections, acknowledges the messages under way, and then closes all connections without publishing last wills. */
  stop(): Promise<void>
}

/** The number of checks per `checkMs`. A check reads the tokens that were not read lately. */
const CHECKS = 6
/** The maximum size of a message with its topic, in bytes. */
const MOST_PACKET = 66 * 1024
const MOST_CONNECTIONS = 10_000
const LIMITS = {
  connectTimeout: 10_000,
  drainTimeout: 10_000,
  /** Seconds. A half-open connection ends after one and a half times the keepalive of its device. */
  keepaliveLimit: 600,
  queueLimit: 42,
  maxInflightInbound: 42,
  maxClientsIdLength: 64,
  maxTopicLevels: 4,
} as const

/** The built-in MQTT 3.1.1 broker. It appends the messages of devices to the log. A device exchanges messages with no other device. */
export const openBroker = async (
  parts: BrokerParts,
  { host, port }: { host: string; port: number },
): Promise<Broker> => {
  const { domains, report, clock, bounds, checkMs } = parts
  const isNews = oncePerMinute(clock, new WeakMap<Client, number>())
  const refuse = refusal(parts, isNews)
  const clients = new Map<string, Client>()
  const sessions = createSessions({
    now: clock.now,
    isConnected: (device) => clients.has(device),
    dropped: dropReporter(parts),
    ...(bounds && { bounds }),
  })
  const login = createLogin(parts, refuse)
  const queues = new Map(domains.map((domain) => [domain, openQueues(domain, parts, login)]))
  const broker = await Aedes.createBroker({
    ...LIMITS,
    persistence: createPersistence(sessions, (topic) => findTopic(domains, topic)?.device),
    // The error makes aedes close the connection. Without an error, aedes would leave the connection open and send no answer.
    preConnect: (client, packet, done) =>
      login.mayTry(client, packet)
        ? done(null, true)
        : done(refuse(client, 'guessing', `too many logins failed as ${packet.username ?? ''}.`), false),
    authenticate: (client, username, password, done) =>
      void login.login(client, username, password).then(
        () => done(null, true),
        (error: unknown) => done(connectError(error), false),
      ),
    authorizePublish: publishHandler({ login, refuse, queues }),
    authorizeSubscribe: subscribeHandler({ login, refuse }),
  })
  observe(broker, { parts, clients, isNews })
  const checks = createTokenChecks({ clients, login, refuse, now: clock.now, maxAgeMs: checkMs - checkMs / CHECKS })
  const timer = setInterval(() => {
    sessions.expire()
    report?.stored(sessions.totals())
    void checks.run()
  }, checkMs / CHECKS)
  const { server, sockets } = createListener(broker, parts)
  const closeBroker = () => new Promise<void>((done) => broker.close(done))
  await listening(server, host, port).catch(async (error: unknown) => {
    clearInterval(timer)
    await closeBroker()
    throw error
  })
  const stop = async (): Promise<void> => {
    const closed = new Promise((done) => server.close(done))
    clearInterval(timer)
    await checks.settled()
    await Promise.all([...queues.values()].map((queue) => queue.stop()))
    await login.settled()
    await flush(sockets, clock)
    await closeBroker()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  let stopping: Promise<void> | undefined
  return { address: addressOf(server), stop: () => (stopping ??= stop()) }
}

const refusal =
  ({ report, logger }: BrokerParts, isNews: (client: Client) => boolean): Refuse =>
  (client, reason, detail) => {
    report?.refused(reason)
    if (isNews(client)) logger.warn({ device: client.id, reason }, `a device is refused: ${detail}`)
    return new Fault('device-refused', detail)
  }

const createListener = (broker: Aedes, { report, logger }: BrokerParts) => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket)).setNoDelay(true)
    boundFrames(socket, MOST_PACKET, () => {
      report?.refused('packet-too-large')
      logger.warn({}, `a connection ends: it sent a packet of more than ${MOST_PACKET} bytes`)
    })
    broker.handle(socket)
  })
  server.maxConnections = MOST_CONNECTIONS
  return { server, sockets }
}

const DROPS: Readonly<Record<DropCause, string>> = {
  'queue-full': 'the queue of a device is full, and its oldest message is dropped',
  'retained-too-large': 'a status is too large to be retained',
  'total-full':
    'the queues of all devices together are full, and the messages of the device that was connected longest ago are dropped',
  'sessions-full': 'there are too many sessions, and the one of the device that was connected longest ago is dropped',
  'session-expired': 'the session of a device that did not return has expired',
}

/** Returns a function for dropped messages and sessions. It counts each of them, and logs at most one line per minute and cause. */
const dropReporter = ({ report, logger, clock }: BrokerParts) => {
  const isNews = oncePerMinute(clock, new Map<DropCause, number>())
  return (cause: DropCause, device: string): void => {
    report?.dropped(cause)
    if (isNews(cause)) logger.warn({ device, cause }, DROPS[cause])
  }
}

/** Opens the message queues of a domain's devices. Each append reads the device's token and owner again, and fails if the token has ended. */
const openQueues = (
  domain: DeviceDomain,
  { clock, report, rate }: BrokerParts,
  { verify }: Pick<Login, 'verify'>,
): DeviceQueues => {
  const { devices, serving } = domain
  const check: AppendParts['check'] = ({ device, ownerId }, owner) => {
    if (owner !== undefined && owner.id !== ownerId)
      throw new Fault(
        'device-refused',
        `The device ${device} belongs to another ${devices.ownerNoun} than ${ownerId}, which its topic names.`,
      )
  }
  const appendMessages = createAppendMessages({
    domain,
    clock,
    ...(report && { report }),
    ownerOf: async (device) => {
      const { reader } = await serving()
      const [owner] = await Promise.all([devices.readOwner(reader, device), verify(device)])
      return owner
    },
    check,
  })
  return createDeviceQueues({ appendMessages, clock, ...(rate && { rate }), delayed: () => report?.delayed() })
}

/** Returns a function that returns true at most once per minute for each key. This limits the log lines of a device that repeats an error. */
const oncePerMinute =
  <K>(
    { now }: Pick<BrokerParts['clock'], 'now'>,
    logged: { get(key: K): number | undefined; set(key: K, at: number): unknown },
  ) =>
  (key: K): boolean => {
    if (now() - (logged.get(key) ?? -Infinity) < 60_000) return false
    logged.set(key, now())
    return true
  }

interface Observed {
  readonly parts: BrokerParts
  /** The connected devices. `observe` keeps the map up to date. */
  readonly clients: Map<string, Client>
  readonly isNews: (client: Client) => boolean
}

/** Keeps `clients`, the metrics and the log up to date with the connections. */
const observe = (broker: Aedes, { parts: { report, logger }, clients, isNews }: Observed): void => {
  const count = () => report?.connections(broker.connectedClients)
  broker.on('client', (client) => {
    clients.set(client.id, client)
    count()
  })
  broker.on('clientDisconnect', (client) => {
    if (clients.get(client.id) === client) clients.delete(client.id)
    count()
  })
  broker.on(
    'clientError',
    (client, error) =>
      isNews(client) && logger.info({ device: client.id }, `a device's connection ends: ${messageOf(error)}`),
  )
  broker.on(
    'connectionError',
    (client, error) =>
      isNews(client) && logger.info({}, `a connection ends before its device has logged in: ${messageOf(error)}`),
  )
  broker.on('keepaliveTimeout', () => report?.refused('keepalive'))
}

const [UNAVAILABLE, BAD_CREDENTIALS, NOT_AUTHORIZED] = [3, 4, 5]

/** Returns the error with its return code for the CONNACK packet. `UNAVAILABLE`: the device can try the same login again later. */
const connectError = (error: unknown): AuthenticateError => {
  const returnCode =
    error instanceof Problem ? BAD_CREDENTIALS : isFault(error, 'device-refused') ? NOT_AUTHORIZED : UNAVAILABLE
  return Object.assign(new Error(messageOf(error)), { returnCode })
}

const FLUSH_MS = 1_000

/** Waits, for at most a second, until the sockets have sent their buffers. The buffers can contain the last acknowledgements. */
const flush = async (sockets: ReadonlySet<Socket>, clock: BrokerParts['clock']): Promise<void> => {
  await Promise.race([Promise.all([...sockets].map(flushed)), clock.sleep(FLUSH_MS)])
}

const flushed = async (socket: Socket): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise<void>((done) => socket.write('', () => done()))
}

const listening = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })

const addressOf = (server: Server): string => {
  const { address, family, port } = server.address() as AddressInfo
  return `mqtt://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
