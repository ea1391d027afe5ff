import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { DomainEdge } from '../producers/http/domain.ts'
import type { openBroker } from '../producers/mqtt/broker.ts'
import type { joinBroker } from '../producers/mqtt/client.ts'
import { retrying } from '../processors/engine/retry.ts'
import type { DeviceReport } from '../producers/mqtt/taking.ts'
import { isFault } from '../schemas/fault.ts'
import type { JoinConfig } from './config.ts'
import { cannotListen } from './listen.ts'
import type { Runtime } from './runtime.ts'
import type { Listen } from './variables.ts'

/** The domain whose devices speak MQTT. */
const DOMAIN = 'scales'

/** Within this time after its token ended, a silent connection is closed. DynamoDB charges for each read, so it checks less often. */
const [EMBEDDED_CHECK_MS, SERVICES_CHECK_MS] = [5_000, 60_000]

export interface Devices {
  /** Where the built-in broker listens. */
  readonly url?: string
  /** For whoever starts it. */
  readonly told: string
  stop(): Promise<void>
}

interface Parts {
  readonly domains: readonly DomainEdge[]
  readonly logger: Logger
  /** True when the items of the domain contain every event from before the start. Until then a device that is registered can look unknown. Default: true. */
  readonly isCaughtUp?: (domain: string) => Promise<boolean>
}

/** The way in for devices, as the configuration chose it; undefined where there is none. */
export const openDevices = async (runtime: Pick<Runtime, 'config' | 'clock' | 'metrics'>, { domains, logger, isCaughtUp = async () => true }: Parts): Promise<Devices | undefined> => {
  const { mqtt } = runtime.config
  const edge = domains.find(({ name }) => name === DOMAIN)
  if (edge === undefined || mqtt === 'off') return undefined
  const checkMs = runtime.config.dynamodb === undefined ? EMBEDDED_CHECK_MS : SERVICES_CHECK_MS
  const appended: DeviceReport['appended'] = (event) => runtime.metrics.report.appended({ domain: edge.name, ...event })
  const parts = { ...edge, domain: edge.name, clock: runtime.clock, logger, report: { ...runtime.metrics.devices, appended }, checkMs }
  if ('join' in mqtt) return joined({ ...parts, clock: runtime.clock }, mqtt.join, () => isCaughtUp(edge.name))
  try {
    return await listening(parts, mqtt.listen)
  } catch (error) {
    // A broker of others may have the usual port: everything else is of use without it.
    if (mqtt.asked || !isFault(error, 'port-in-use')) throw error
    logger.warn(error.message)
    return { told: `off: ${error.message}`, stop: () => Promise.resolve() }
  }
}

// The broker and the client are loaded when they are needed: each takes about a tenth of the CPU time of a start.

const listening = async (parts: Parameters<typeof openBroker>[0], listen: Listen): Promise<Devices> => {
  const { openBroker } = await import('../producers/mqtt/broker.ts')
  const broker = await openBroker(parts, listen).catch((error: unknown) => {
    throw cannotListen(error, listen, 'TRIBUTARY_MQTT')
  })
  return { url: broker.address, told: `${broker.address} (built in; see docs/devices.md)`, stop: () => broker.stop() }
}

/** Joins as soon as the items have caught up: the broker keeps the messages until then. */
const joined = (parts: Parameters<typeof joinBroker>[0] & Pick<Runtime, 'clock'>, { clientId = `tributary-${hostname()}`, ...join }: JoinConfig, isCaughtUp: () => Promise<boolean>): Devices => {
  const stopping = new AbortController()
  const failed = (error: unknown): void => parts.logger.warn({ err: error }, `Joining ${join.url} waits until the items have caught up, and it is unknown whether they have`)
  const caughtUp = retrying(isCaughtUp, { clock: parts.clock, when: { error: () => true, result: (is) => !is }, signal: stopping.signal, failed })
  const client = caughtUp.catch(() => false).then(async (is) => (is ? (await import('../producers/mqtt/client.ts')).joinBroker(parts, { ...join, clientId }) : undefined))
  client.catch((error: unknown) => parts.logger.warn({ err: error }, `${join.url} cannot be joined`))
  const stop = async (): Promise<void> => {
    stopping.abort()
    await (await client)?.stop()
  }
  return { told: `${join.url}, joins as ${clientId}`, stop }
}
