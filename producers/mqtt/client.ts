import { connect, type IClientOptions, type IPublishPacket, type MqttClient } from 'mqtt'
import { messageOf } from '../../schemas/fault.ts'
import type { Commands } from '../commands.ts'
import type { Answering } from '../http/auth.ts'
import type { Says } from './login.ts'
import { createTaking, rememberHolders, type DeviceReport, type Take } from './taking.ts'
import { ROOT, topicOf } from './topic.ts'

export interface JoinParts {
  readonly commands: Commands
  readonly questions: () => Promise<Answering>
  readonly clock: { now(): number }
  readonly logger: Says
  readonly report?: DeviceReport
}

export interface JoinOptions {
  /** `mqtt://host` or `mqtts://host:port`. */
  readonly url: string
  /** The session's name: the same after a restart, another in every process. */
  readonly clientId: string
  readonly username?: string
  readonly password?: string
  /** Those of one name share the messages (MQTT 5 only); without it each process hears all, and what is said twice is harmless. */
  readonly share?: string
  /** Between attempts to come back. */
  readonly retryMs?: number
}

export interface Joined {
  /** Finishes and acknowledges what is under way, and leaves; the broker keeps what comes meanwhile. */
  stop(): Promise<void>
}

const FILTER = `${ROOT}/+/+/+`
/** How long a broker keeps what came while nobody was here: a week, in seconds. */
const KEPT_SECONDS = 7 * 86_400
const IN_FLIGHT = 100
const RETRY_MS = 2_000
/** A broker that does not know MQTT 5 says so, in its own words or in ours. */
const OTHER_VERSION = [1, 132]

/** Joins a broker of others as a subscriber. What it lets a device publish is what that device may say. */
export const joinBroker = (parts: JoinParts, options: JoinOptions): Joined => {
  const { report, logger, questions, commands, clock } = parts
  const take = createTaking({ commands, clock, holderOf: rememberHolders(async () => (await questions()).reader, clock), ...(report && { report }) })
  const { share } = options
  const underWay = new Set<Promise<void>>()
  let stopped = false
  let client = open(5)

  function open(version: 4 | 5): MqttClient {
    const opened = connect(options.url, settings(options, version))
    opened.handleMessage = (packet, callback) => {
      const stream = opened.stream
      const done: Promise<void> = handle(packet, { take, report }).then(
        // Another connection's broker may mean another message by the same number.
        () => void (opened.stream === stream && callback()),
        (error: unknown) => {
          report?.refused('log')
          logger.warn({}, `a message is not acknowledged, and comes again: ${messageOf(error)}`)
          stream.destroy()
        },
      ).finally(() => underWay.delete(done))
      underWay.add(done)
    }
    opened.on('connect', () => void subscribe(opened, version))
    opened.on('close', () => report?.connections(0))
    opened.on('error', (error) => {
      logger.warn({}, `the MQTT broker at ${options.url}: ${messageOf(error)}`)
      if (version === 4 || stopped || !('code' in error) || !OTHER_VERSION.includes(Number(error.code))) return
      opened.end(true)
      client = open(4)
    })
    return opened
  }
  const subscribe = async (opened: MqttClient, version: 4 | 5): Promise<void> => {
    try {
      // Retained messages are of before, and no new readings: where that can be said, they are not sent.
      const granted = await opened.subscribeAsync(version === 5 && share !== undefined ? `$share/${share}/${FILTER}` : FILTER, version === 5 ? { qos: 1, rh: 2 } : { qos: 1 })
      if (granted.some(({ qos }) => qos > 2)) throw new Error(`it does not let us subscribe to ${FILTER}`)
      report?.connections(1)
      logger.info({}, `joined the MQTT broker at ${options.url} as ${options.clientId}, by MQTT ${version === 5 ? '5' : '3.1.1'}`)
      if (version === 4 && share !== undefined) logger.warn({}, 'the broker knows no shared subscriptions: every process hears every message, and the log has each as often')
    } catch (error) {
      logger.warn({}, `the MQTT broker at ${options.url}: ${messageOf(error)}`)
      if (!stopped) opened.stream.destroy()
    }
  }
  return {
    async stop() {
      stopped = true
      await Promise.all(underWay)
      await client.endAsync()
    },
  }
}

const settings = ({ clientId, username, password, retryMs = RETRY_MS }: JoinOptions, version: 4 | 5): IClientOptions => ({
  clientId, protocolVersion: version, clean: false, resubscribe: false, reconnectPeriod: retryMs, reconnectOnConnackError: true,
  ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }),
  ...(version === 5 ? { properties: { sessionExpiryInterval: KEPT_SECONDS, receiveMaximum: IN_FLIGHT } } : {}),
})

interface Handling {
  readonly take: Take
  readonly report: DeviceReport | undefined
}

/** Resolves when it is in the log, or is nothing that will ever be. */
const handle = async ({ topic: name, payload, retain }: IPublishPacket, { take, report }: Handling): Promise<void> => {
  const topic = topicOf(name)
  if (topic === undefined || retain) report?.refused(retain ? 'retained' : 'topic')
  else await take(topic.device, [{ ...topic, payload: typeof payload === 'string' ? Buffer.from(payload) : payload }])
}
