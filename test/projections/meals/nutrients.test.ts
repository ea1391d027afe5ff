import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromMilli, MAX_AMOUNT, MAX_TOTAL, milliOf, toMilli } from '../../../projections/meals/nutrients.ts'

test('M-e: thousandths are converted to decimals and back without loss, up to the largest sum', () =>
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MAX_TOTAL }), (milli) => {
      expect(milliOf(fromMilli(milli))).toBe(milli)
      expect(String(fromMilli(milli))).toMatch(/^\d+(\.\d{1,3})?$/)
    }),
    { numRuns: 5000 },
  ))

test('M-e: ten tenths are exactly one', () => {
  const tenth = milliOf(0.1)
  expect(fromMilli(Array.from({ length: 10 }, () => tenth).reduce((sum, milli) => sum + milli, 0))).toBe(1)
})

test.each([
  [5.2, 5200],
  [1.005, 1005],
  [0, 0],
  [0.001, 1],
  [1e7, MAX_AMOUNT],
])('%d is %d thousandths', (decimal, milli) => expect(toMilli(decimal)).toBe(milli))

test.each([[-1], [0.0005], [1.0001], [1e7 + 0.001], [NaN], [Infinity], [1e300]])(
  '%d is rejected: nothing is rounded silently',
  (decimal) => expect(toMilli(decimal)).toBeUndefined(),
)

test('minus zero is zero', () => expect(Object.is(toMilli(-0), 0)).toBe(true))
