import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { DomainEdge } from '../producers/http/domain.ts'
import { openBroker } from '../producers/mqtt/broker.ts'
import { joinBroker } from '../producers/mqtt/client.ts'
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
}

/** The way in for devices, as the configuration chose it; undefined where there is none. */
export const openDevices = async (runtime: Pick<Runtime, 'config' | 'clock' | 'metrics'>, { domains, logger }: Parts): Promise<Devices | undefined> => {
  const { mqtt } = runtime.config
  const edge = domains.find(({ name }) => name === DOMAIN)
  if (edge === undefined || mqtt === 'off') return undefined
  const checkMs = runtime.config.dynamodb === undefined ? EMBEDDED_CHECK_MS : SERVICES_CHECK_MS
  const appended: DeviceReport['appended'] = (event) => runtime.metrics.report.appended({ domain: edge.name, ...event })
  const parts = { ...edge, domain: edge.name, clock: runtime.clock, logger, report: { ...runtime.metrics.devices, appended }, checkMs }
  if ('join' in mqtt) return joined(parts, mqtt.join)
  try {
    return await listening(parts, mqtt.listen)
  } catch (error) {
    // A broker of others may have the usual port: everything else is of use without it.
    if (mqtt.asked || !isFault(error, 'port-in-use')) throw error
    logger.warn(error.message)
    return { told: `off: ${error.message}`, stop: () => Promise.resolve() }
  }
}

const listening = async (parts: Parameters<typeof openBroker>[0], listen: Listen): Promise<Devices> => {
  const broker = await openBroker(parts, listen).catch((error: unknown) => {
    throw cannotListen(error, listen, 'TRIBUTARY_MQTT')
  })
  return { url: broker.address, told: `${broker.address} (built in; see docs/devices.md)`, stop: () => broker.stop() }
}

const joined = (parts: Parameters<typeof joinBroker>[0], { clientId = `tributary-${hostname()}`, ...join }: JoinConfig): Devices => {
  const client = joinBroker(parts, { ...join, clientId })
  return { told: `${join.url}, joined as ${clientId}`, stop: () => client.stop() }
}
