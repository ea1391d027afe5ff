import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MOST_MINOR } from '../../../projections/expenses/money.ts'
import { divided } from '../../../projections/expenses/splits.ts'

const amounts = fc.bigInt({ min: -MOST_MINOR, max: MOST_MINOR })
const weightings = fc
  .array(fc.bigInt({ min: 0n, max: 10n ** 18n }), { minLength: 1, maxLength: 46 })
  .filter((weights) => weights.some((weight) => weight > 0n))
const sum = (parts: readonly bigint[]): bigint => parts.reduce((total, part) => total + part, 0n)
const equal = (count: number): readonly bigint[] => Array.from({ length: count }, () => 1n)

describe('an amount that is divided', () => {
  test('E-b: the parts always sum up to it', () =>
    fc.assert(
      fc.property(amounts, weightings, fc.string(), (amount, weights, expense) => {
        expect(sum(divided(amount, weights, expense))).toBe(amount)
      }),
      { numRuns: 1000 },
    ))

  test('E-b: no part differs by a whole unit from its exact share, and a weight of zero gets nothing', () =>
    fc.assert(
      fc.property(amounts, weightings, fc.string(), (amount, weights, expense) => {
        const total = sum(weights)
        for (const [index, part] of divided(amount, weights, expense).entries()) {
          const weight = weights[index] ?? 0n
          const away = part * total - amount * weight
          expect((away < 0n ? -away : away) < total).toBe(true)
          if (weight === 0n) expect(part).toBe(0n)
        }
      }),
    ))

  test('E-b: among equal weights parts differ by one unit at most', () =>
    fc.assert(
      fc.property(amounts, fc.integer({ min: 1, max: 46 }), fc.string(), (amount, count, expense) => {
        const parts = [...divided(amount, equal(count), expense)].sort((a, b) => Number(a - b))
        expect((parts.at(-1) ?? 0n) - (parts[0] ?? 0n) <= 1n).toBe(true)
      }),
    ))

  test('E-b: a larger weight never gets a smaller share', () =>
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MOST_MINOR }), weightings, fc.string(), (amount, weights, expense) => {
        const parts = divided(amount, weights, expense)
        const sorted = weights
          .map((weight, index) => ({ weight, part: parts[index] ?? 0n }))
          .sort((a, b) => Number(a.weight > b.weight) - Number(a.weight < b.weight))
        for (const [index, { weight, part }] of sorted.entries()) {
          const next = sorted[index + 1]
          if (next !== undefined && next.weight > weight) expect(next.part >= part).toBe(true)
        }
      }),
    ))

  test('E-b: the same expense is always divided in the same way', () =>
    fc.assert(
      fc.property(amounts, weightings, fc.string(), (amount, weights, expense) => {
        expect(divided(amount, weights, expense)).toEqual(divided(amount, weights, expense))
      }),
    ))

  test('E-b: over many expenses everybody gets the odd unit', () => {
    const bearers = Array.from({ length: 300 }, (_, nth) => divided(10n, equal(3), `expense-${nth}`).indexOf(4n))
    const counts = [0, 1, 2].map((place) => bearers.filter((bearer) => bearer === place).length)
    expect(Math.min(...counts)).toBeGreaterThan(50)
  })

  test('E-b: percentages are basis points, shares are weights: 100 by 33.33, 33.33 and 33.34 percent leaves nothing', () => {
    expect(divided(10_000n, [3333n, 3333n, 3334n], 'e')).toEqual([3333n, 3333n, 3334n])
    expect(divided(100n, [3333n, 3333n, 3334n], 'e')).toEqual([33n, 33n, 34n])
    expect(divided(100n, [2n, 1n, 0n], 'e')).toEqual([67n, 33n, 0n])
  })

  test('E-b: weights of zero or less cause an error', () => {
    for (const weights of [[], [0n], [-1n, 2n]]) expect(() => divided(1n, weights, 'e')).toThrow(RangeError)
  })
})
