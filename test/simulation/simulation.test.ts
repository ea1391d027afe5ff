import { describe, expect, test } from 'vitest'
import { OUR_DOMAINS } from '../../domains/list.ts'
import { runSeed } from '../../simulation/run.ts'
import { isLong } from '../../testing/property-runs.ts'
import { SEEDS } from '../../simulation/seeds.ts'
import { simulate, formatFailure } from '../../simulation/simulate.ts'

const COUNT = Number(process.env['TRIBUTARY_SIM_SEEDS'] ?? (isLong ? SEEDS.long : SEEDS.short))
const domains = await OUR_DOMAINS.simulations()
const MINUTES = 60_000

describe('random seeds', () => {
  const PARTS = 4
  for (let part = 0; part < PARTS; part++) {
    test(
      `seeds with crashes, redelivery, zombies, throttling and lost answers break no rule (part ${part + 1} of ${PARTS})`,
      async () => {
        const each = Math.ceil(COUNT / PARTS)
        const { seeds, failures } = await simulate({ seeds: each, first: 1 + part * each, domains })
        expect(failures.map(formatFailure).join('\n')).toBe('')
        expect(seeds).toBe(each)
      },
      30 * MINUTES,
    )
  }
})

describe('determinism', () => {
  test('the same seed has the same steps', async () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const [one, two] = [
        await runSeed(seed, { domains, record: true }),
        await runSeed(seed, { domains, record: true }),
      ]
      expect(two.lines).toEqual(one.lines)
      expect(two.hash).toBe(one.hash)
    }
  })

  test('the faults of a run as a plan give the same run', async () => {
    for (const seed of [11, 12, 13, 14, 15, 16]) {
      const drawn = await runSeed(seed, { domains })
      expect((await runSeed(seed, { domains, plan: drawn.faults })).hash).toBe(drawn.hash)
    }
  })

  test('other seeds have other steps', async () => {
    const hashes = await Promise.all([1, 2, 3, 4, 5].map(async (seed) => (await runSeed(seed, { domains })).hash))
    expect(new Set(hashes).size).toBe(5)
  })
})
