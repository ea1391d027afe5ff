import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { Aedes, type AuthenticateError, type AuthorizePublishHandler, type AuthorizeSubscribeHandler, type Client } from 'aedes'
import { Fault, isFault, messageOf } from '../../schemas/fault.ts'
import { Problem } from '../http/problem.ts'
import { boundFrames } from './frames.ts'
import { createLanes, type LaneParts, type Lanes } from './lanes.ts'
import { createLogin, type LoginParts, type Refuse } from './login.ts'
import { createTaking, type DeviceReport } from './taking.ts'
import { topicOf } from './topic.ts'

export interface BrokerParts extends LoginParts {
  readonly clock: LaneParts['clock']
  readonly rate?: LaneParts['rate']
  readonly report?: DeviceReport
}

export interface Broker {
  readonly address: string
  /** No new connections; what is under way is finished and acknowledged; nothing is said of the devices that are let go. */
  stop(): Promise<void>
}

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
  const { report, logger, clock } = parts
  const isNews = oncePerMinute(clock)
  const refuse: Refuse = (client, reason, detail) => {
    report?.refused(reason)
    if (isNews(client)) logger.warn({ device: client.id, reason }, `a device is refused: ${detail}`)
    return new Fault('device-refused', detail)
  }
  const login = createLogin(parts, refuse)
  const lanes = openLanes(parts, login.confirm)
  const broker = await Aedes.createBroker({
    ...LIMITS,
    // Without a fault the connection would stay open, unanswered.
    preConnect: (client, packet, done) => (login.announced(client, packet) ? done(null, true) : done(refuse(client, 'guessing', 'too many logins failed from this address.'), false)),
    authenticate: (client, username, password, done) => void login.enter(client, username, password).then(() => done(null, true), (error: unknown) => done(refusal(error), false)),
    authorizePublish: publishing(lanes, refuse),
    authorizeSubscribe: subscribing(refuse),
  })
  watch(broker, parts, isNews)
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
  const closeBroker = () => new Promise<void>((done) => broker.close(done))
  await listening(server, host, port).catch(async (error: unknown) => {
    await closeBroker()
    throw error
  })
  const stop = async (): Promise<void> => {
    const closed = new Promise((done) => server.close(done))
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

const openLanes = ({ commands, clock, report, questions, rate }: BrokerParts, confirm: (device: string) => Promise<void>): Lanes => {
  const take = createTaking({
    commands, clock, confirm, ...(report && { report }),
    reader: async () => (await questions()).reader,
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

const subscribing = (refuse: Refuse): AuthorizeSubscribeHandler => (client, subscription, done) => {
  if (topicOf(subscription.topic)?.device === client.id) done(null, subscription)
  else done(refuse(client, 'subscription', 'it may subscribe to its own topics only, without wildcards.'))
}

/** Of one connection: a flood of lines says no more than the first. All are counted. */
const oncePerMinute = ({ now }: Pick<BrokerParts['clock'], 'now'>): ((client: Client) => boolean) => {
  const said = new WeakMap<Client, number>()
  return (client) => {
    if (now() - (said.get(client) ?? -Infinity) < 60_000) return false
    said.set(client, now())
    return true
  }
}

const watch = (broker: Aedes, { report, logger }: BrokerParts, isNews: (client: Client) => boolean): void => {
  const count = () => report?.connections(broker.connectedClients)
  broker.on('client', count)
  broker.on('clientDisconnect', count)
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
