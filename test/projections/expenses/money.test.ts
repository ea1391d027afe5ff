import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CURRENCIES, decimalsOf } from '../../../projections/expenses/currencies.ts'
import {
  decimalNumber,
  decimalText,
  minorFrom,
  minorOf,
  MOST_DECIMALS,
  wholeOf,
} from '../../../projections/expenses/money.ts'

const decimals = fc.integer({ min: 0, max: MOST_DECIMALS })
const minors = fc.bigInt({ min: -(10n ** 30n) + 1n, max: 10n ** 30n - 1n })

describe('money', () => {
  test('E-b: a printed amount is read as the same amount, in every currency', () =>
    fc.assert(
      fc.property(minors, decimals, (minor, places) => {
        expect(minorFrom(decimalText(minor, places), places)).toBe(minor)
      }),
    ))

  test('E-b: every printed amount has exactly the decimals of its currency', () =>
    fc.assert(
      fc.property(minors, decimals, (minor, places) => {
        expect(decimalText(minor, places)).toMatch(places === 0 ? /^-?\d+$/ : new RegExp(`^-?\\d+\\.\\d{${places}}$`))
      }),
    ))

  test('E-b: up to 15 digits an amount can be sent and read as a number', () =>
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 15n) + 1n, max: 10n ** 15n - 1n }),
        fc.integer({ min: 0, max: 9 }),
        (minor, places) => {
          expect(minorFrom(decimalNumber(minor, places), places)).toBe(minor)
        },
      ),
    ))

  test('E-b: an item contains whole units exactly, also beyond 2^53', () =>
    fc.assert(
      fc.property(fc.bigInt(), (minor) => {
        const whole = wholeOf(minor)
        expect(minorOf(whole)).toBe(minor)
        expect(typeof whole === 'bigint' || Number.isSafeInteger(whole)).toBe(true)
      }),
    ))

  test.each([
    [10.5, 2, 1050n],
    ['10.5', 2, 1050n],
    ['10.50', 2, 1050n],
    ['10.5000', 2, 1050n],
    [0.1 + 0.2, 17, 30000000000000004n],
    [1e-7, 9, 100n],
    ['0.0000001', 9, 100n],
    [-0, 2, 0n],
    ['-0', 2, 0n],
    ['-0.00', 2, 0n],
    [1e21, 0, 10n ** 21n],
    [1.5e21, 2, 15n * 10n ** 22n],
    ['007', 0, 7n],
    [-12.34, 2, -1234n],
    ['9'.repeat(30), 0, 10n ** 30n - 1n],
  ])('E-b: %s with %d decimals is %s of the smallest unit', (sent, places, minor) =>
    expect(minorFrom(sent, places)).toBe(minor),
  )

  test.each([
    ['1.', 2],
    ['.5', 2],
    ['1e3', 2],
    ['', 2],
    ['-', 2],
    ['+1', 2],
    ['1,5', 2],
    [' 1', 2],
    ['1\n', 2],
    ['0x10', 2],
    ['٣', 2],
    ['NaN', 2],
    [Number.NaN, 2],
    [Number.POSITIVE_INFINITY, 2],
    ['10.505', 2],
    [10.505, 2],
    [1e-7, 2],
    ['0.1', 0],
    [1e30, 2],
    [`1${'0'.repeat(30)}`, 2],
    ['9'.repeat(1000), 2],
  ])('E-b: %s with %d decimals is not an amount', (sent, places) => expect(minorFrom(sent, places)).toBeUndefined())

  test('any input is an amount or undefined, and nothing is thrown', () =>
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.double(), fc.stringMatching(/^-?[\d.e+]{1,40}$/)),
        decimals,
        (sent, places) => {
          expect(['bigint', 'undefined']).toContain(typeof minorFrom(sent, places))
        },
      ),
    ))
})

describe('currencies', () => {
  test('E-c: every currency has a unique code of three letters, and the decimals of its smallest unit', () => {
    expect(CURRENCIES).toEqual([...new Set(CURRENCIES)])
    expect(CURRENCIES.every((code) => /^[A-Z]{3}$/.test(code))).toBe(true)
    expect(['EUR', 'JPY', 'KWD', 'TON', 'HUF'].map(decimalsOf)).toEqual([2, 0, 3, 9, 2])
  })

  test.each(['', 'eur', 'XXX', 'constructor', '€'])('E-c: %j is not a currency', (code) =>
    expect(decimalsOf(code)).toBeUndefined(),
  )

  test('E-c: amounts in an old currency can still be shown', () =>
    expect(['BGN', 'HRK'].map(decimalsOf)).toEqual([2, 2]))
})
