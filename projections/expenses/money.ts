import type { Minor } from './items.ts'

/** The maximum amount of one expense or settlement, in the smallest unit of its currency. Sums can be higher. */
export const MOST_MINOR = 10n ** 18n
export const MOST_DECIMALS = 18

/** The amount as an item stores it, and as every store returns it: a number if a number can represent it exactly, else a bigint. */
export const wholeOf = (minor: bigint): Minor => {
  const whole = Number(minor)
  return Number.isSafeInteger(whole) ? whole : minor
}

/** The exact sum, in the form in which an item stores it (`wholeOf`). */
export const plus = (a: Minor, b: Minor): Minor => {
  const sum = typeof a === 'number' && typeof b === 'number' ? a + b : Number.NaN
  return Number.isSafeInteger(sum) ? sum : wholeOf(BigInt(a) + BigInt(b))
}

/** The amount with the opposite sign. Returns 0 for 0, never -0. */
export const negative = (a: Minor): Minor => (typeof a === 'number' ? 0 - a : wholeOf(-a))

export const minorOf = (whole: Minor): bigint => BigInt(whole)

/** Formats an amount: `1050` with two decimals is `10.50`. The answers of the edge contain amounts in this form. */
export const decimalText = (minor: Minor, decimals: number): string => {
  const value = minorOf(minor)
  const digits = String(value < 0n ? -value : value).padStart(decimals + 1, '0')
  const [whole, rest] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)]
  return `${value < 0n ? '-' : ''}${whole}${decimals === 0 ? '' : `.${rest}`}`
}

/** The decimal as a number, for readers of the table. Exact to 15 digits. */
export const decimalNumber = (minor: Minor, decimals: number): number => Number(decimalText(minor, decimals))

const DECIMAL = /^(-?)(\d{1,30})(?:\.(\d{1,30}))?$/

/** The amount in the currency's smallest unit. Undefined if `sent` is not a decimal number, or has more decimals than the currency. */
export const minorFrom = (sent: number | string, decimals: number): bigint | undefined => {
  const match = DECIMAL.exec(typeof sent === 'number' ? plainText(sent) : sent)
  if (match === null) return undefined
  const [, sign = '', whole = '', rest = ''] = match
  const decimalsGiven = rest.replace(/0+$/, '')
  if (decimalsGiven.length > decimals) return undefined
  const minor = BigInt(whole + decimalsGiven.padEnd(decimals, '0'))
  return sign === '' ? minor : -minor
}

const WRITTEN = /^(-?)(\d{1,30})(?:\.(\d+))?$/

/**
 * The amount in the currency's smallest unit, rounded to the nearest unit, half away from zero. For amounts that an
 * older program computed in floats. Undefined if the text is not a number.
 */
export const minorNear = (amount: number | string, decimals: number): bigint | undefined => {
  const match = WRITTEN.exec(typeof amount === 'number' ? plainText(amount) : amount)
  if (match === null) return undefined
  const [, sign = '', whole = '', rest = ''] = match
  const minor = BigInt(whole + rest.slice(0, decimals).padEnd(decimals, '0')) + (rest.charAt(decimals) >= '5' ? 1n : 0n)
  return sign === '' ? minor : -minor
}

/** The number as decimal text without an exponent, which JavaScript uses for 1e-7 and 1e21. */
const plainText = (value: number): string => {
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(String(value))
  if (match === null) return String(value)
  const [, sign = '', first = '', rest = '', power = '0'] = match
  const [digits, point] = [first + rest, 1 + Number(power)]
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return point >= digits.length
    ? sign + digits.padEnd(point, '0')
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}
