import type { ConnectionOptions } from 'node:tls'
import type { Clock } from '../../engine/clock.ts'
import { systemClock } from '../system-clock.ts'
import { createPeers, type Peers } from './peers.ts'

export interface SaslOptions {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
  readonly username: string
  readonly password: string
}

/** Takes a pino logger as it is. */
export interface KafkaLogger {
  debug(fields: object, message: string): void
  warn(fields: object, message: string): void
}

export interface KafkaOptions {
  readonly brokers: readonly string[]
  readonly clientId?: string
  readonly ssl?: boolean | ConnectionOptions
  readonly sasl?: SaslOptions
  /** Of topics that are created; a topic that exists keeps its own. */
  readonly partitions?: number
  /** Of topics that are created; -1: as the brokers are set up. */
  readonly replicationFactor?: number
  readonly clock?: Clock
  readonly logger?: KafkaLogger
  readonly timing?: Partial<Timing>
  /** Bytes that may wait to be appended before `log-overloaded`. */
  readonly maxQueuedBytes?: number
}

/** All in milliseconds. */
export interface Timing {
  /** How long one request may take. */
  readonly request: number
  /** How long an append is tried before the caller hears of it. */
  readonly append: number
  /** A member that says nothing for so long loses its partitions. */
  readonly session: number
  readonly heartbeat: number
  /** How long members may take to join again in a rebalance. */
  readonly rebalance: number
  /** How long a fetch waits for records; a seek, a pause and a stop wait for it. */
  readonly fetchWait: number
  /** How often identity and watermarks are checked beside the batches. */
  readonly check: number
  /** Records are there but none come: after so long the consumer is replaced. */
  readonly stall: number
  /** First and longest pause before trying again. */
  readonly retry: number
  readonly retryMax: number
}

export type Settings = Required<Omit<KafkaOptions, 'sasl' | 'timing'>> & { readonly sasl?: SaslOptions; readonly timing: Timing; readonly peers: Peers }

const TIMING: Timing = {
  request: 5_000, append: 15_000, session: 15_000, heartbeat: 2_000, rebalance: 60_000,
  fetchWait: 200, check: 5_000, stall: 20_000, retry: 250, retryMax: 10_000,
}

const silent: KafkaLogger = { debug: () => {}, warn: () => {} }

export function settingsOf({ timing: given, sasl, ...options }: KafkaOptions): Settings {
  const timing = { ...TIMING, ...given }
  return {
    clientId: 'tributary', ssl: false, partitions: 6, replicationFactor: -1, clock: systemClock, logger: silent, maxQueuedBytes: 64 << 20,
    ...options, ...(sasl ? { sasl } : {}), timing, peers: createPeers(options.clock ?? systemClock, timing.request * 2),
  }
}

export const backoff = ({ retry, retryMax }: Timing, attempt: number): number => Math.min(retryMax, retry * 2 ** Math.min(attempt, 20))

