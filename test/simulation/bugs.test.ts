import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { isLong } from '../../testing/property-runs.ts'
import { OUR_DOMAINS } from '../../domains/list.ts'
import { bugsOf } from '../../simulation/bugs.ts'
import { shrink } from '../../simulation/shrink.ts'
import { simulate } from '../../simulation/simulate.ts'

const domains = await OUR_DOMAINS.simulations()
const BUGS = bugsOf(domains)
const MINUTES = 60_000
/** The maximum number of seeds of a search. A search ends with the first seed that detects the bug. The rarest bug needs about 1,200 seeds. */
const SEEDS = 3_000

/** For each bug, a seed that detects it. A change of the engine or of a workload can make a stored seed useless. */
const FILE = new URL('bug-seeds.json', import.meta.url)
const stored = JSON.parse(readFileSync(FILE, 'utf8')) as Readonly<Record<string, number>>
const STORE = process.env['TRIBUTARY_STORE_SEEDS'] !== undefined
const HOW = 'TRIBUTARY_STORE_SEEDS=1 npx vitest run test/simulation/bugs.test.ts searches for another one and stores it'

describe('planted bugs', () => {
  const found: Record<string, number> = {}
  afterAll(() => {
    const seeds = Object.fromEntries(Object.keys(BUGS).map((name) => [name, found[name] ?? stored[name]]))
    if (STORE) writeFileSync(FILE, `${JSON.stringify(seeds, null, 2)}\n`)
  })

  test.for(Object.keys(BUGS))('the simulation detects: %s', { timeout: 10 * MINUTES }, async (name) => {
    const bug = BUGS[name] ?? {}
    const failuresFrom = async (first: number, seeds: number) =>
      (await simulate({ first, seeds, maxFailures: 1, isShrinking: false, bug, domains, ...bug.options })).failures
    const known = stored[name] === undefined ? [] : await failuresFrom(stored[name], 1)
    const failures = known.length === 0 && (isLong || STORE) ? await failuresFrom(1, SEEDS) : known
    expect(
      failures,
      isLong || STORE
        ? `not detected in ${SEEDS} seeds`
        : `The stored seed ${stored[name]} does not detect this bug. ${HOW}.`,
    ).toHaveLength(1)
    const [{ report, repro }] = failures as [(typeof failures)[number]]
    if (bug.detectedBy !== undefined) expect(report.violations.map(({ checker }) => checker)).toContain(bug.detectedBy)
    expect(repro).toMatch(/^npx tributary simulate --seed \d+$/)
    found[name] = report.seed
    if (known.length === 0 && !STORE)
      process.stderr.write(`Seed ${report.seed} detects "${name}"; the stored seed ${stored[name]} does not. ${HOW}.\n`)
  })

  test.skipIf(STORE)('the stored seeds have the names of the planted bugs', () =>
    expect(Object.keys(stored)).toEqual(Object.keys(BUGS)),
  )
})

test('a failing run is reduced to the faults that it needs', async () => {
  const faults = Array.from({ length: 40 }, (_, index) => ({ call: `a.1#${index}`, kind: 'lose' as const, amount: 0 }))
  const smallest = await shrink(faults, async (plan) =>
    [3, 17].every((index) => plan.some(({ call }) => call === `a.1#${index}`)),
  )
  expect(smallest.map(({ call }) => call)).toEqual(['a.1#3', 'a.1#17'])
})
