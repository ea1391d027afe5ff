import { describe, expect, test } from 'vitest'
import { runSeed } from './run.ts'
import { isLong } from '../services/available.ts'
import { SEEDS } from './seeds.ts'
import { simulate, told } from './simulate.ts'

const COUNT = Number(process.env['TRIBUTARY_SIM_SEEDS'] ?? (isLong ? SEEDS.long : SEEDS.short))
const MINUTES = 60_000

describe('random seeds', () => {
  const PARTS = 4
  for (let part = 0; part < PARTS; part++) {
    test(`seeds with crashes, redelivery, zombies, throttling and lost answers keep every promise (part ${part + 1} of ${PARTS})`, async () => {
      const each = Math.ceil(COUNT / PARTS)
      const { seeds, failures } = await simulate({ seeds: each, first: 1 + part * each })
      expect(failures.map(told).join('\n')).toBe('')
      expect(seeds).toBe(each)
    }, 30 * MINUTES)
  }
})

describe('determinism', () => {
  test('the same seed does the same, step by step', async () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const [one, two] = [await runSeed(seed, { record: true }), await runSeed(seed, { record: true })]
      expect(two.lines).toEqual(one.lines)
      expect(two.hash).toBe(one.hash)
    }
  })

  test('the faults of a run, taken as a plan, give the same run', async () => {
    for (const seed of [11, 12, 13, 14, 15, 16]) {
      const drawn = await runSeed(seed)
      expect((await runSeed(seed, { plan: drawn.faults })).hash).toBe(drawn.hash)
    }
  })

  test('other seeds do other things', async () => {
    const hashes = await Promise.all([1, 2, 3, 4, 5].map(async (seed) => (await runSeed(seed)).hash))
    expect(new Set(hashes).size).toBe(5)
  })
})
