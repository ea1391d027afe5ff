import type { Clock } from '../../engine/ports/clock.ts'

/**
 * Tracks brokers that hang, so that the client does not connect to them for a while. A broker that hangs still accepts connections, and kafkajs
 * checks nothing else: kafkajs would choose that broker again and again, even to request the new leaders.
 */
export interface BrokerHealth {
  /** False for `pause` milliseconds after the broker hung, unless all known brokers hung. */
  canConnect(address: string): boolean
  /** To be called when the broker did not answer in time. */
  reportHang(address: string): void
}

export function createBrokerHealth(clock: Clock, pause: number): BrokerHealth {
  const avoidedUntil = new Map<string, number>()
  return {
    canConnect(address) {
      const until = avoidedUntil.get(address) ?? 0
      avoidedUntil.set(address, until)
      // If every known broker hung, waiting gains nothing, so every broker is allowed.
      return until <= clock.now() || [...avoidedUntil.values()].every((time) => time > clock.now())
    },
    reportHang: (address) => void avoidedUntil.set(address, clock.now() + pause),
  }
}
