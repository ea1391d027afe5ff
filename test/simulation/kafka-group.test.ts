import { describe, expect, test } from 'vitest'
import { isLong } from '../../testing/property-runs.ts'
import { explore, type Bounds } from './kafka-explore.ts'

const MORE = isLong ? 1 : 0
const MINUTES = 60_000

const sound = async (bounds: Bounds) => {
  const found = await explore(bounds)
  expect(found.broken).toBeUndefined()
  return found
}

/** A name in `ZOMBIES`. After the actions with this name, the store rejects the write of member a, because member b has taken over the partition. */
const MET = 'a member that continues after another one took over'

/**
 * The first actions of the tested sequences, by name. In each of them, a rebalance begins while a member is paused or works on a batch. The
 * tests run all sequences that begin with these actions.
 */
const ZOMBIES: Readonly<Record<string, readonly string[]>> = {
  'a member that was paused before its write': ['a takes 0 and pauses before its write', 'the session of a ends'],
  'a member that was paused after its write': ['a takes 0 and pauses after its write', 'the session of a ends'],
  'a member that reads an old heartbeat late': [
    'a takes 0',
    'a sends a heartbeat and pauses before the answer',
    'the session of a ends',
  ],
  'a member that joins again in the middle of a batch': [
    'a takes 0 and waits for its write',
    'b leaves',
    'a sends a heartbeat',
  ],
  [MET]: ['a takes 0 and pauses before its write', 'the session of a ends', 'b sends a heartbeat', 'b takes 0'],
}

/**
 * Tests up to two members with two partitions. The members use the real Kafka adapter and the real processor. Kafka's group coordinator and
 * the kafkajs client are models.
 */
describe('a Kafka group', () => {
  test(
    'with two members keeps its rules in every sequence of rebalances, pauses and failures',
    { timeout: 20 * MINUTES },
    async () => {
      const { runs } = await sound({ joined: 2, depth: 3 + MORE })
      expect(runs).toBeGreaterThan(800)
    },
  )

  test(
    'with one member keeps its rules in every sequence in which another one joins',
    { timeout: 20 * MINUTES },
    async () => {
      const { runs } = await sound({ joined: 1, depth: 3 + MORE })
      expect(runs).toBeGreaterThan(500)
    },
  )

  test.for(Object.keys(ZOMBIES))(
    'with %s keeps its rules in every following sequence',
    { timeout: 20 * MINUTES },
    async (name) => {
      const { runs, refused } = await sound({ joined: 2, depth: 2 + MORE, after: ZOMBIES[name] ?? [] })
      expect(runs).toBeGreaterThan(50)
      if (name === MET) expect(refused).toBeGreaterThanOrEqual(runs)
    },
  )
})
