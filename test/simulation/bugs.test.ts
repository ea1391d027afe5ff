import { describe, expect, test } from 'vitest'
import { BUGS } from './bugs.ts'
import { shrink } from './shrink.ts'
import { simulate } from './simulate.ts'

const MINUTES = 60_000
/** The rarest mistake needs about 1,200. A run ends with the first seed that notices it. */
const SEEDS = 3_000

describe('planted bugs', () => {
  test.for(Object.keys(BUGS))('it is noticed when %s', { timeout: 10 * MINUTES }, async (name) => {
    const bug = BUGS[name] ?? {}
    const { failures, seeds } = await simulate({ seeds: SEEDS, most: 1, shrinks: false, bug, ...bug.under })
    expect(failures, `not noticed in ${seeds} seeds`).toHaveLength(1)
    if (bug.noticedBy !== undefined) expect(failures[0]?.report.violations.map(({ checker }) => checker)).toContain(bug.noticedBy)
    expect(failures[0]?.repro).toMatch(/^npx tributary simulate --seed \d+$/)
  })
})

test('a failing run is shrunk to the faults that matter', async () => {
  const faults = Array.from({ length: 40 }, (_, index) => ({ call: `a.1#${index}`, kind: 'lose' as const, amount: 0 }))
  const smallest = await shrink(faults, async (plan) => [3, 17].every((index) => plan.some(({ call }) => call === `a.1#${index}`)))
  expect(smallest.map(({ call }) => call)).toEqual(['a.1#3', 'a.1#17'])
})
