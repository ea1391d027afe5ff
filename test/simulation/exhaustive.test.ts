import { describe, expect, test } from 'vitest'
import { OUR_DOMAINS } from '../../domains/list.ts'
import { isLong } from '../../testing/property-runs.ts'
import { exhaust } from '../../simulation/simulate.ts'

const domains = await OUR_DOMAINS.simulations()
const MINUTES = 60_000
const FLIPS = ['rebuild', 'flip', 'back'] as const
const FLIP = ['rebuild', 'flip'] as const

/** The number of cases that `npm test` runs: only the first case, which is the quickest. CI runs all cases. */
const SHORT = 1

describe('a single fault at every port call', () => {
  test.for(
    (
      [
        ['meals', 23, []],
        ['toy', 7, []],
        ['toy', 28, []],
        ['meals', 2, []],
        ['toy', 23, FLIPS],
        ['toy', 29, FLIPS],
        ['meals', 27, FLIPS],
        // The domain `scales` has a series. The second case also rebuilds the points.
        ['scales', 372, []],
        ['scales', 372, ['rebuild']],
        // In these cases a person is forgotten during the run. Some cases model the services, others the embedded stores.
        ['meals', 93, ['rebuild']],
        ['meals', 91, ['rebuild']],
        ['expenses', 9, ['rebuild']],
        // The nodes call an outside service for asks.
        ['errands', 7, FLIP],
        ['errands', 27, []],
      ] as const
    ).slice(0, isLong ? undefined : SHORT),
  )(
    '%s, seed %i, %j: every process dies, is paused, or gets no answer, once at each of its calls',
    { timeout: 30 * MINUTES },
    async ([domain, seed, moves]) => {
      const { runs, failed } = await exhaust(seed, { domains, domain, moves })
      expect(failed.map(({ faults, violations }) => [faults, violations[0]])).toEqual([])
      expect(runs).toBeGreaterThan(100)
    },
  )
})
