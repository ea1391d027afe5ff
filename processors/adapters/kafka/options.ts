import type { ConnectionOptions } from 'node:tls'
import type { Clock } from '../../engine/ports/clock.ts'
import { systemClock } from '../system-clock.ts'
import { createBrokerHealth, type BrokerHealth } from './broker-health.ts'

export interface SaslOptions {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
  readonly username: string
  readonly password: string
}

/** The methods of a pino logger that this adapter uses. */
export interface KafkaLogger {
  debug(fields: object, message: string): void
  warn(fields: object, message: string): void
}

export interface KafkaOptions {
  readonly brokers: readonly string[]
  readonly clientId?: string
  readonly ssl?: boolean | ConnectionOptions
  readonly sasl?: SaslOptions
  /** The number of partitions of a topic that is created. Default: 6. */
  readonly partitions?: number
  /** The replication factor of a topic that is created. Default: -1, the brokers' own default. */
  readonly replicationFactor?: number
  readonly clock?: Clock
  readonly logger?: KafkaLogger
  readonly timing?: Partial<Timing>
  /** The maximum number of bytes that can wait to be appended. An append that would exceed it fails with `log-overloaded`. Default: 64 MiB. */
  readonly maxQueuedBytes?: number
}

/** All in milliseconds. */
export interface Timing {
  /** The maximum time of one request. */
  readonly request: number
  /** The maximum time of an append, with all its attempts. */
  readonly append: number
  /** A member that sends no heartbeat for this time loses its partitions. */
  readonly session: number
  /** The interval of heartbeats. */
  readonly heartbeat: number
  /** The maximum time in which members can join again in a rebalance. */
  readonly rebalance: number
  /** The maximum time that a fetch waits for records. A seek, a pause and a stop wait until the fetch has ended. */
  readonly fetchWait: number
  /** The interval at which a consumer checks the identity and the watermarks of its topic. */
  readonly check: number
  /** A consumer that fetches nothing for this time although records wait is replaced. */
  readonly stall: number
  /** The first pause before a retry. */
  readonly retry: number
  /** The maximum pause before a retry. */
  readonly retryMax: number
}

export type Settings = Required<Omit<KafkaOptions, 'sasl' | 'timing'>> & {
  readonly sasl?: SaslOptions
  readonly timing: Timing
  readonly brokerHealth: BrokerHealth
}

const TIMING: Timing = {
  request: 5_000,
  append: 15_000,
  session: 15_000,
  heartbeat: 2_000,
  rebalance: 60_000,
  fetchWait: 200,
  check: 5_000,
  stall: 20_000,
  retry: 250,
  retryMax: 10_000,
}

const silent: KafkaLogger = { debug: () => {}, warn: () => {} }

export function settingsOf({ timing: given, sasl, ...options }: KafkaOptions): Settings {
  const timing = { ...TIMING, ...given }
  return {
    clientId: 'tributary',
    ssl: false,
    partitions: 6,
    replicationFactor: -1,
    clock: systemClock,
    logger: silent,
    maxQueuedBytes: 64 << 20,
    ...options,
    ...(sasl ? { sasl } : {}),
    timing,
    brokerHealth: createBrokerHealth(options.clock ?? systemClock, timing.request * 2),
  }
}

export const backoff = ({ retry, retryMax }: Timing, attempt: number): number =>
  Math.min(retryMax, retry * 2 ** Math.min(attempt, 20))
