import { describe, expect, test } from 'vitest'
import { isLong } from '../services/available.ts'
import { exhaust } from './simulate.ts'

const MINUTES = 60_000
const FLIPS = ['rebuild', 'flip', 'back'] as const

/** The quickest for every `npm test`; all where there is time. */
const SHORT = 1

describe('a single fault at every port call', () => {
  test.for(([
    ['meals', 23, []], ['toy', 7, []], ['toy', 28, []], ['meals', 2, []],
    ['toy', 23, FLIPS], ['toy', 29, FLIPS], ['meals', 27, FLIPS],
    // With the series beside, and their points built anew.
    ['scales', 372, []], ['scales', 372, ['rebuild']],
    // With somebody who is forgotten meanwhile, on services and embedded.
    ['meals', 93, ['rebuild']], ['meals', 91, ['rebuild']], ['expenses', 9, ['rebuild']],
  ] as const).slice(0, isLong ? undefined : SHORT))('%s, seed %i, %j: every process dies, sleeps, or is not answered, once at each call it makes', { timeout: 30 * MINUTES }, async ([domain, seed, moves]) => {
    const { runs, failed } = await exhaust(seed, { domain, moves })
    expect(failed.map(({ faults, violations }) => [faults, violations[0]])).toEqual([])
    expect(runs).toBeGreaterThan(100)
  })
})
