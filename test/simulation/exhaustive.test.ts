import { describe, expect, test } from 'vitest'
import { exhaust } from './simulate.ts'

const MINUTES = 60_000

describe('a single fault at every port call', () => {
  test.for([
    ['toy', 8], ['toy', 13], ['toy', 45], ['meals', 1], ['meals', 2], ['meals', 14],
  ] as const)('%s, seed %i: every node dies, sleeps, or is not answered, once at each call it makes', { timeout: 30 * MINUTES }, async ([domain, seed]) => {
    const { runs, failed } = await exhaust(seed, { domain })
    expect(failed.map(({ faults, violations }) => [faults, violations[0]])).toEqual([])
    expect(runs).toBeGreaterThan(100)
  })
})
