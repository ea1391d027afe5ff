import type { Clock } from '../../engine/ports/clock.ts'

/**
 * Which brokers the client can connect to. A broker that hangs still accepts connections, and kafkajs checks nothing else: it would choose
 * that broker again and again, even to request the new leaders.
 */
export interface BrokerHealth {
  /** False for a while after the broker hung, if another broker is left. */
  canConnect(address: string): boolean
  /** The broker did not answer in time. */
  reportHang(address: string): void
}

export function createBrokerHealth(clock: Clock, pause: number): BrokerHealth {
  const avoidedUntil = new Map<string, number>()
  return {
    canConnect(address) {
      const until = avoidedUntil.get(address) ?? 0
      avoidedUntil.set(address, until)
      // If every broker hung, waiting gains nothing.
      return until <= clock.now() || [...avoidedUntil.values()].every((time) => time > clock.now())
    },
    reportHang: (address) => void avoidedUntil.set(address, clock.now() + pause),
  }
}
