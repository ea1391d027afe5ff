import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { ownerOf, requireDistinct } from '../../producers/distinct.ts'
import type { DomainEdge } from '../../producers/http/domain.ts'
import type { openBroker } from '../../producers/mqtt/broker.ts'
import type { joinBroker } from '../../producers/mqtt/client.ts'
import type { DeviceDomain } from '../../producers/mqtt/spec.ts'
import { retrying } from '../../processors/engine/timing/retry.ts'
import { isFault } from '../../schemas/fault.ts'
import type { JoinConfig } from '../config/config.ts'
import { cannotListen } from '../serving/listen.ts'
import type { Runtime } from './runtime.ts'
import type { Listen } from '../config/variables.ts'

/**
 * If a token expires or is revoked, the broker closes the idle connection of its device at most this time later, in milliseconds. With DynamoDB
 * the broker checks tokens less often, because DynamoDB charges for each read.
 */
const [EMBEDDED_CHECK_MS, SERVICES_CHECK_MS] = [5_000, 60_000]

/** The MQTT connection of devices: the built-in broker, or a client of an outside broker. */
export interface Devices {
  /** The address on which the built-in broker listens. Absent if no built-in broker runs. */
  readonly url?: string
  /** One line for the user who starts the server. */
  readonly description: string
  stop(): Promise<void>
}

interface Parts {
  readonly domains: readonly DomainEdge[]
  readonly logger: Logger
  /**
   * Resolves to true if the items of the domain contain every event that the log contained when this process started. Until then, the item of a
   * registered device can be missing. Default: always true.
   */
  readonly isCaughtUp?: (domain: string) => Promise<boolean>
}

/** Opens MQTT as the configuration requires. Returns undefined if MQTT is off, or if no domain has devices. */
export const openDevices = async (
  runtime: Pick<Runtime, 'config' | 'clock' | 'metrics'>,
  { domains: edges, logger, isCaughtUp = async () => true }: Parts,
): Promise<Devices | undefined> => {
  const { mqtt } = runtime.config
  const domains = edges.flatMap(deviceDomain)
  if (domains.length === 0 || mqtt === 'off') return undefined
  requireDistinct(
    'first level of MQTT topics',
    domains.map((domain) => ({ value: domain.devices.root, owner: ownerOf(domain) })),
  )
  const checkMs = runtime.config.dynamodb === undefined ? EMBEDDED_CHECK_MS : SERVICES_CHECK_MS
  const { clock, metrics } = runtime
  const report = { ...metrics.devices, appended: metrics.report.appended }
  const parts = { domains, clock, logger, report, checkMs }
  const areCaughtUp = async (): Promise<boolean> =>
    (await Promise.all(domains.map(({ name }) => isCaughtUp(name)))).every((is) => is)
  if ('join' in mqtt) return joined(parts, mqtt.join, areCaughtUp)
  try {
    return await listening(parts, mqtt.listen)
  } catch (error) {
    // Another broker may use the default port. The server is useful without its own broker, so it starts without one.
    if (mqtt.isExplicit || !isFault(error, 'port-in-use')) throw error
    logger.warn(error.message)
    return { description: `off: ${error.message}`, stop: () => Promise.resolve() }
  }
}

const deviceDomain = ({ name, access, commands, serving, devices }: DomainEdge): readonly DeviceDomain[] =>
  devices === undefined ? [] : [{ name, access, commands, serving, devices }]

// The broker and the client are imported only when they are needed: each import takes about a tenth of the CPU time of a start.

const listening = async (parts: Parameters<typeof openBroker>[0], listen: Listen): Promise<Devices> => {
  const { openBroker } = await import('../../producers/mqtt/broker.ts')
  const broker = await openBroker(parts, listen).catch((error: unknown) => {
    throw cannotListen(error, listen, 'TRIBUTARY_MQTT')
  })
  return {
    url: broker.address,
    description: `${broker.address} (built in; see docs/devices.md)`,
    stop: () => broker.stop(),
  }
}

/** Joins the outside broker as soon as the items have caught up with the log. Until then the outside broker stores the messages of devices. */
const joined = (
  parts: Parameters<typeof joinBroker>[0] & Pick<Runtime, 'clock'>,
  { clientId = `tributary-${hostname()}`, ...join }: JoinConfig,
  isCaughtUp: () => Promise<boolean>,
): Devices => {
  const stopping = new AbortController()
  const failed = (error: unknown): void =>
    parts.logger.warn(
      { err: error },
      `The connection to ${join.url} waits until the items have caught up with the log. The server cannot read their positions now`,
    )
  const caughtUp = retrying(isCaughtUp, {
    clock: parts.clock,
    when: { error: () => true, result: (is) => !is },
    signal: stopping.signal,
    failed,
  })
  const client = caughtUp
    .catch(() => false)
    .then(async (is) =>
      is ? (await import('../../producers/mqtt/client.ts')).joinBroker(parts, { ...join, clientId }) : undefined,
    )
  client.catch((error: unknown) => parts.logger.warn({ err: error }, `${join.url} cannot be joined`))
  const stop = async (): Promise<void> => {
    stopping.abort()
    await (await client)?.stop()
  }
  return { description: `${join.url}, joins as ${clientId}`, stop }
}
