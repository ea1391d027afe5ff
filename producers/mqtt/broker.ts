import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { Aedes, type AuthenticateError, type AuthorizePublishHandler, type AuthorizeSubscribeHandler, type Client } from 'aedes'
import { Fault, isFault, messageOf } from '../../schemas/fault.ts'
import { Problem } from '../http/problem.ts'
import { readHolder } from '../scales/holder.ts'
import { createChecks } from './checks.ts'
import { boundFrames } from './frames.ts'
import { createLanes, type LaneParts, type Lanes } from './lanes.ts'
import { createLogin, type Login, type LoginParts, type Refuse } from './login.ts'
import { createPersistence } from './persistence.ts'
import { createSessions, type DropCause, type SessionBounds } from './sessions.ts'
import { createTaking, type DeviceReport } from './taking.ts'
import { topicOf } from './topic.ts'

export interface BrokerParts extends LoginParts {
  readonly clock: LaneParts['clock']
  readonly rate?: LaneParts['rate']
  readonly report?: DeviceReport
  readonly bounds?: SessionBounds
  /** Within this time after its token ended, a silent connection is closed. */
  readonly checkMs: number
}

export interface Broker {
  readonly address: string
  /** No new connections; what is under way is finished and acknowledged; nothing is said of the devices that are let go. */
  stop(): Promise<void>
}

/** How many times in `checkMs` the broker looks for connections whose token was not read lately. */
const CHECKS = 6
/** The largest message with its topic. */
const MOST_PACKET = 66 * 1024
const MOST_CONNECTIONS = 10_000
const LIMITS = {
  connectTimeout: 10_000,
  drainTimeout: 10_000,
  /** Seconds; a half-open connection ends after one and a half times what the device chose. */
  keepaliveLimit: 600,
  queueLimit: 42,
  maxInflightInbound: 42,
  maxClientsIdLength: 64,
  maxTopicLevels: 4,
} as const

/** The built-in MQTT 3.1.1 broker: devices speak to us and to nobody else. */
export const openBroker = async (parts: BrokerParts, { host, port }: { host: string; port: number }): Promise<Broker> => {
  const { report, logger, clock, bounds, checkMs } = parts
  const isNews = oncePerMinute(clock, new WeakMap<Client, number>())
  const refuse: Refuse = (client, reason, detail) => {
    report?.refused(reason)
    if (isNews(client)) logger.warn({ device: client.id, reason }, `a device is refused: ${detail}`)
    return new Fault('device-refused', detail)
  }
  const clients = new Map<string, Client>()
  const sessions = createSessions({ now: clock.now, isConnected: (device) => clients.has(device), dropped: dropping(parts), ...(bounds && { bounds }) })
  const login = createLogin(parts, refuse)
  const lanes = openLanes(parts, login)
  const broker = await Aedes.createBroker({
    ...LIMITS,
    persistence: createPersistence(sessions),
    // Without a fault the connection would stay open, unanswered.
    preConnect: (client, packet, done) => (login.announced(client, packet) ? done(null, true) : done(refuse(client, 'guessing', `too many logins failed as ${packet.username ?? ''}.`), false)),
    authenticate: (client, username, password, done) => void login.enter(client, username, password).then(() => done(null, true), (error: unknown) => done(refusal(error), false)),
    authorizePublish: publishing(lanes, refuse),
    authorizeSubscribe: subscribing(refuse),
  })
  watch(broker, { parts, clients, isNews })
  const checks = createChecks({ clients, login, refuse, now: clock.now, maxAgeMs: checkMs - checkMs / CHECKS })
  const timer = setInterval(() => {
    sessions.expire()
    report?.kept(sessions.kept())
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
    await lanes.stop()
    await login.settled()
    // What was acknowledged last is still on its way out.
    await Promise.race([Promise.all([...sockets].map(flushed)), clock.sleep(FLUSH_MS)])
    await closeBroker()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  let stopping: Promise<void> | undefined
  return { address: addressOf(server), stop: () => (stopping ??= stop()) }
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
  'total-full': 'the queues of all devices together are full, and the messages of the device that was heard longest ago are dropped',
  'sessions-full': 'there are too many sessions, and the one of the device that was heard longest ago is dropped',
  'session-expired': 'the session of a device that did not return has expired',
}

/** Counts every drop, and logs one line per minute and cause. */
const dropping = ({ report, logger, clock }: BrokerParts) => {
  const isNews = oncePerMinute(clock, new Map<DropCause, number>())
  return (cause: DropCause, device: string): void => {
    report?.dropped(cause)
    if (isNews(cause)) logger.warn({ device, cause }, DROPS[cause])
  }
}

/** Each append reads the device's token and claim again, so no message of a token that has ended is acknowledged. */
const openLanes = ({ commands, clock, report, questions, rate }: BrokerParts, { confirm }: Pick<Login, 'confirm'>): Lanes => {
  const take = createTaking({
    commands, clock, ...(report && { report }),
    holderOf: async (device) => {
      const { reader } = await questions()
      const [holder] = await Promise.all([readHolder(reader, device), confirm(device)])
      return holder
    },
    admit: ({ device, loc }, holder) => {
      if (holder !== undefined && holder.loc !== loc) throw new Fault('device-refused', `The device ${device} belongs to another location than ${loc}, which its topic names.`)
    },
  })
  return createLanes({ take, clock, ...(rate && { rate }), delayed: () => report?.delayed() })
}

/** PUBACK follows this; so it is here that the log is waited for. */
const publishing = (lanes: Lanes, refuse: Refuse): AuthorizePublishHandler => (client, packet, done) => {
  if (client === null) {
    done(new Fault('device-refused', 'Nobody says it.'))
    return
  }
  const topic = topicOf(packet.topic)
  if (topic === undefined || topic.device !== client.id) done(refuse(client, 'topic', `it may publish to scale-sense/<its location>/${client.id}/ and to nothing else.`))
  else if (packet.retain && topic.kind !== 'status') done(refuse(client, 'retained', 'only its status may be retained.'))
  else lanes.take({ ...topic, payload: bytesOf(packet.payload) }).then(() => done(null), (error: unknown) => done(refuse(client, reasonOf(error), messageOf(error))))
}

const reasonOf = (error: unknown): string => (isFault(error, 'device-refused') ? 'topic' : error instanceof Problem ? 'token' : 'log')

/** More than a device has topics. Unsubscribing frees none: a connection may name so many, and no more. */
const MOST_SUBSCRIPTIONS = 16

const subscribing = (refuse: Refuse): AuthorizeSubscribeHandler => {
  const granted = new WeakMap<Client, Set<string>>()
  return (client, subscription, done) => {
    if (topicOf(subscription.topic)?.device !== client.id) {
      done(refuse(client, 'subscription', 'it may subscribe to its own topics only, without wildcards.'))
      return
    }
    const topics = (granted.get(client) ?? new Set()).add(subscription.topic)
    granted.set(client, topics)
    if (topics.size > MOST_SUBSCRIPTIONS) done(refuse(client, 'subscription', `it may subscribe to ${MOST_SUBSCRIPTIONS} topics in one connection.`))
    else done(null, subscription)
  }
}

/** True if `key` was not logged in the last minute. A flood of lines says no more than the first; all are counted. */
const oncePerMinute = <K>({ now }: Pick<BrokerParts['clock'], 'now'>, logged: { get(key: K): number | undefined; set(key: K, at: number): unknown }) =>
  (key: K): boolean => {
    if (now() - (logged.get(key) ?? -Infinity) < 60_000) return false
    logged.set(key, now())
    return true
  }

interface Watching {
  readonly parts: BrokerParts
  /** The connected devices, kept up to date here. */
  readonly clients: Map<string, Client>
  readonly isNews: (client: Client) => boolean
}

const watch = (broker: Aedes, { parts: { report, logger }, clients, isNews }: Watching): void => {
  const count = () => report?.connections(broker.connectedClients)
  broker.on('client', (client) => {
    clients.set(client.id, client)
    count()
  })
  broker.on('clientDisconnect', (client) => {
    if (clients.get(client.id) === client) clients.delete(client.id)
    count()
  })
  broker.on('clientError', (client, error) => isNews(client) && logger.info({ device: client.id }, `a device's connection ends: ${messageOf(error)}`))
  broker.on('connectionError', (client, error) => isNews(client) && logger.info({}, `a connection ends before a device is known: ${messageOf(error)}`))
  broker.on('keepaliveTimeout', () => report?.refused('keepalive'))
}

const bytesOf = (payload: string | Buffer): Buffer => (typeof payload === 'string' ? Buffer.from(payload) : payload)

const [UNAVAILABLE, BAD_CREDENTIALS, NOT_AUTHORIZED] = [3, 4, 5]

/** As CONNACK tells it: come again, or come with something else. */
const refusal = (error: unknown): AuthenticateError => {
  const returnCode = error instanceof Problem ? BAD_CREDENTIALS : isFault(error, 'device-refused') ? NOT_AUTHORIZED : UNAVAILABLE
  return Object.assign(new Error(messageOf(error)), { returnCode })
}

const FLUSH_MS = 1_000

const flushed = async (socket: Socket): Promise<void> => {
  await new Promise((turn) => setImmediate(turn))
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
