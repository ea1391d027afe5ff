import type { Clock } from '../../engine/clock.ts'

/**
 * Which brokers are worth asking. One that hangs still takes connections, and Kafka's client, whose only sign of life
 * is the connection, would choose it over and over, even to ask who leads now.
 */
export interface Peers {
  worthAsking(address: string): boolean
  /** It did not answer: for a while the others are asked. */
  hung(address: string): void
}

export function createPeers(clock: Clock, pause: number): Peers {
  const known = new Map<string, number>()
  return {
    worthAsking(address) {
      const until = known.get(address) ?? 0
      known.set(address, until)
      // Without another to ask, there is nothing to gain by waiting.
      return until <= clock.now() || [...known.values()].every((other) => other > clock.now())
    },
    hung: (address) => void known.set(address, clock.now() + pause),
  }
}
