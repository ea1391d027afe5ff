import { connect, type IClientOptions, type IPublishPacket, type MqttClient } from 'mqtt'
import { messageOf } from '../../schemas/fault.ts'
import { cachedOwners, createAppendMessages, type AppendMessages, type DeviceReport } from './append-messages.ts'
import type { Logger } from './login.ts'
import { findTopic, topicFilter, type DeviceDomain } from './spec.ts'

type ReadDomain = Omit<DeviceDomain, 'access'>

export interface JoinParts {
  readonly domains: readonly ReadDomain[]
  readonly clock: { now(): number }
  readonly logger: Logger
  readonly report?: DeviceReport
}

export interface JoinOptions {
  /** `mqtt://host` or `mqtts://host:port`. */
  readonly url: string
  /** The name of the session at the broker. It must be the same after a restart, and different in every process. */
  readonly clientId: string
  readonly username?: string
  readonly password?: string
  /**
   * The processes with the same share name divide the messages between them (MQTT 5 only). Without a share each process receives and appends
   * every message. This is harmless, because an event that is appended twice has the same id both times.
   */
  readonly share?: string
  /** Time between two attempts to connect. Default: 2 s. */
  readonly retryMs?: number
}

export interface Joined {
  /** Acknowledges the messages under way and disconnects. The broker stores messages that arrive later. */
  stop(): Promise<void>
}

/** The time for which the broker stores messages while this client is disconnected (MQTT 5 only): a week, in seconds. */
const SESSION_SECONDS = 7 * 86_400
const IN_FLIGHT = 100
const RETRY_MS = 2_000
/** The codes of a broker that does not support MQTT 5: 1 in MQTT 3.1.1, 132 in MQTT 5. The client then connects with MQTT 3.1.1. */
const OTHER_VERSION = [1, 132]

/** Connects to an outside broker and appends the messages of devices. The outside broker decides which device may publish to which topic. */
export const joinBroker = ({ domains, clock, logger, report }: JoinParts, options: JoinOptions): Joined => {
  const appends = createAppends(domains, { clock, ...(report && { report }) })
  const filters = domains.map(({ devices }) => topicFilter(devices))
  const underWay = new Set<Promise<void>>()
  let stopped = false
  let client = open(5)

  function open(version: 4 | 5): MqttClient {
    const opened = connect(options.url, settings(options, version))
    opened.handleMessage = (packet, callback) => {
      const stream = opened.stream
      const done: Promise<void> = handle(packet, { appends, report })
        .then(
          // Acknowledges only on the same connection: after a reconnect, the broker may use the same message number for another message.
          () => void (opened.stream === stream && callback()),
          (error: unknown) => {
            report?.refused('log')
            logger.warn({}, `a message is not acknowledged, so the broker sends it again: ${messageOf(error)}`)
            stream.destroy()
          },
        )
        .finally(() => underWay.delete(done))
      underWay.add(done)
    }
    opened.on(
      'connect',
      () =>
        void subscribe(opened, { version, filters, options, logger }).then(
          () => report?.connections(1),
          (error: unknown) => {
            logger.warn({}, `the MQTT broker at ${options.url}: ${messageOf(error)}`)
            if (!stopped) opened.stream.destroy()
          },
        ),
    )
    opened.on('close', () => report?.connections(0))
    opened.on('error', (error) => {
      logger.warn({}, `the MQTT broker at ${options.url}: ${messageOf(error)}`)
      if (version === 4 || stopped || !('code' in error) || !OTHER_VERSION.includes(Number(error.code))) return
      opened.end(true)
      client = open(4)
    })
    return opened
  }
  return {
    async stop() {
      stopped = true
      await Promise.all(underWay)
      await client.endAsync()
    },
  }
}

const createAppends = (
  domains: readonly ReadDomain[],
  parts: Pick<JoinParts, 'clock' | 'report'>,
): ReadonlyMap<ReadDomain, AppendMessages> =>
  new Map(
    domains.map((domain) => {
      const reader = async () => (await domain.serving()).reader
      return [domain, createAppendMessages({ ...parts, domain, ownerOf: cachedOwners(domain, reader, parts.clock) })]
    }),
  )

interface Subscription {
  readonly version: 4 | 5
  readonly filters: readonly string[]
  readonly options: JoinOptions
  readonly logger: Logger
}

/** Throws if the broker refuses the subscription. */
const subscribe = async (
  client: MqttClient,
  { version, filters, options: { url, clientId, share }, logger }: Subscription,
): Promise<void> => {
  const isShared = version === 5 && share !== undefined
  // Retained messages are not new readings. With MQTT 5, `rh: 2` prevents that the broker sends them. With MQTT 3.1.1, `handle` ignores them.
  const granted = await client.subscribeAsync(
    filters.map((filter) => (isShared ? `$share/${share}/${filter}` : filter)),
    version === 5 ? { qos: 1, rh: 2 } : { qos: 1 },
  )
  if (granted.some(({ qos }) => qos > 2)) throw new Error(`it refuses the subscription to ${filters.join(', ')}`)
  logger.info({}, `joined the MQTT broker at ${url} as ${clientId}, by MQTT ${version === 5 ? '5' : '3.1.1'}`)
  if (version === 4 && share !== undefined)
    logger.warn(
      {},
      'the broker has no shared subscriptions: every process receives every message, and each process appends it',
    )
}

const settings = (
  { clientId, username, password, retryMs = RETRY_MS }: JoinOptions,
  version: 4 | 5,
): IClientOptions => ({
  clientId,
  protocolVersion: version,
  clean: false,
  resubscribe: false,
  reconnectPeriod: retryMs,
  reconnectOnConnackError: true,
  ...(username === undefined ? {} : { username }),
  ...(password === undefined ? {} : { password }),
  ...(version === 5 ? { properties: { sessionExpiryInterval: SESSION_SECONDS, receiveMaximum: IN_FLIGHT } } : {}),
})

interface HandleParts {
  readonly appends: ReadonlyMap<ReadDomain, AppendMessages>
  readonly report: DeviceReport | undefined
}

/** Resolves when the log has the events of the message. Ignores retained messages, and topics that belong to no device. */
const handle = async (
  { topic: name, payload, retain }: IPublishPacket,
  { appends, report }: HandleParts,
): Promise<void> => {
  const topic = findTopic([...appends.keys()], name)
  if (topic === undefined || retain) report?.refused(retain ? 'retained' : 'topic')
  else
    await appends.get(topic.domain)?.(topic.device, [
      { ...topic, payload: typeof payload === 'string' ? Buffer.from(payload) : payload },
    ])
}
