import fc from 'fast-check'
import { expect, test } from 'vitest'
import { gallonsOf, levelOf } from '../../../projections/scales/gallons.ts'

const HALF_BARREL = { full_lbs: 161.5, empty_lbs: 29 }

test('S46: gallons are the net weight in kilograms by specific gravity, of water by default', () => {
  expect(gallonsOf({ weight_lbs: 29 + 1 / 0.45359237, empty_lbs: 29, sg: 1 })).toBeCloseTo(0.264172, 9)
  expect(gallonsOf({ weight_lbs: 95.25, empty_lbs: 29, sg: 1.014 })).toBeCloseTo(
    ((66.25 * 0.45359237) / 1.014) * 0.264172,
    12,
  )
})

test('S47: the heavier the beer, the fewer gallons of the same weight', () => {
  const left = [1.007, 1.01, 1.012, 1.013, 1.014].map((sg) => gallonsOf({ weight_lbs: 95.25, empty_lbs: 29, sg }) ?? 0)
  expect(left).toEqual([...left].sort((a, b) => b - a))
})

test('S-j: a full half barrel is 15.88 gallons by its weight, and nothing is clamped', () => {
  expect(gallonsOf({ weight_lbs: 161.5, empty_lbs: 29, sg: 1 })).toBeCloseTo(15.88, 2)
  expect(gallonsOf({ weight_lbs: 20, empty_lbs: 29, sg: 1 })).toBeCloseTo(-1.08, 2)
  expect(gallonsOf({ weight_lbs: 200, empty_lbs: 29, sg: 1 })).toBeGreaterThan(20)
})

test('S-o: without a keg or a weight there are no gallons', () => {
  expect(gallonsOf({ weight_lbs: 95, empty_lbs: null, sg: null })).toBeNull()
  expect(gallonsOf({ weight_lbs: null, empty_lbs: 29, sg: 1 })).toBeNull()
  expect(levelOf(95, undefined)).toBeNull()
})

test('the level by weight is 0 for an empty keg and 100 for a full one', () => {
  expect(levelOf(29, HALF_BARREL)).toBe(0)
  expect(levelOf(161.5, HALF_BARREL)).toBe(100)
})

test('for any weight, gallons are a number or null', () =>
  fc.assert(
    fc.property(fc.double(), fc.double(), fc.double(), (weight_lbs, empty_lbs, sg) => {
      const gallons = gallonsOf({ weight_lbs, empty_lbs, sg })
      const level = levelOf(weight_lbs, { full_lbs: sg, empty_lbs })
      expect([gallons, level].every((value) => value === null || Number.isFinite(value))).toBe(true)
    }),
  ))
