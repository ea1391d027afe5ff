import { describe, expect, test } from 'vitest'
import { isLong } from '../services/available.ts'
import { explore, type Bounds } from './kafka-explore.ts'

const MORE = isLong ? 1 : 0
const MINUTES = 60_000

const sound = async (bounds: Bounds) => {
  const found = await explore(bounds)
  expect(found.broken).toBeUndefined()
  return found
}

/** Its write meets that of the member that took over. */
const MET = 'a member that wakes behind the one that took over'

/** A member stands still past its session, and what it does when it wakes is among the sequences. */
const ZOMBIES: Readonly<Record<string, readonly string[]>> = {
  'a member that stood still before its write': ['a takes 0 and stands still before its write', 'the session of a ends'],
  'a member that stood still after its write': ['a takes 0 and stands still after its write', 'the session of a ends'],
  'a member that reads an old heartbeat late': ['a takes 0', 'a beats and stands still before the answer', 'the session of a ends'],
  'a member that joins again in the middle of a batch': ['a takes 0 and waits for its write', 'b leaves', 'a beats'],
  [MET]: ['a takes 0 and stands still before its write', 'the session of a ends', 'b beats', 'b takes 0'],
}

/** Two members, two partitions, the real adapter and the real processor, over a model of the group's coordinator and of its client. */
describe('a Kafka group', () => {
  test('that two have joined keeps its promises in every sequence of rebalances, pauses and failures', { timeout: 20 * MINUTES }, async () => {
    const { runs } = await sound({ joined: 2, depth: 3 + MORE })
    expect(runs).toBeGreaterThan(800)
  })

  test('that one has joined keeps its promises in every sequence in which another comes', { timeout: 20 * MINUTES }, async () => {
    const { runs } = await sound({ joined: 1, depth: 3 + MORE })
    expect(runs).toBeGreaterThan(500)
  })

  test.for(Object.keys(ZOMBIES))('with %s keeps its promises in every sequence that follows', { timeout: 20 * MINUTES }, async (name) => {
    const { runs, refused } = await sound({ joined: 2, depth: 2 + MORE, after: ZOMBIES[name] ?? [] })
    expect(runs).toBeGreaterThan(50)
    if (name === MET) expect(refused).toBeGreaterThanOrEqual(runs)
  })
})
