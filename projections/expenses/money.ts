import type { Minor } from './items.ts'

/** An expense or a settlement may be as much; sums of them may be more. */
export const MOST_MINOR = 10n ** 18n
export const MOST_DECIMALS = 18

/** As it lies in an item: alike in every store, which give back what fits a number as a number. */
export const wholeOf = (minor: bigint): Minor => {
  const whole = Number(minor)
  return Number.isSafeInteger(whole) ? whole : minor
}

/** Exact, and as items hold it. */
export const plus = (a: Minor, b: Minor): Minor => {
  const sum = typeof a === 'number' && typeof b === 'number' ? a + b : Number.NaN
  return Number.isSafeInteger(sum) ? sum : wholeOf(BigInt(a) + BigInt(b))
}

/** Never the zero below zero. */
export const negative = (a: Minor): Minor => (typeof a === 'number' ? 0 - a : wholeOf(-a))

export const minorOf = (whole: Minor): bigint => BigInt(whole)

/** `1050` with two decimals is `10.50`: as money is answered. */
export const decimalText = (minor: Minor, decimals: number): string => {
  const value = minorOf(minor)
  const digits = String(value < 0n ? -value : value).padStart(decimals + 1, '0')
  const [whole, rest] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)]
  return `${value < 0n ? '-' : ''}${whole}${decimals === 0 ? '' : `.${rest}`}`
}

/** The same as a number, for those who read the table: exact to 15 digits. */
export const decimalNumber = (minor: Minor, decimals: number): number => Number(decimalText(minor, decimals))

const DECIMAL = /^(-?)(\d{1,30})(?:\.(\d{1,30}))?$/

/** What was sent, as a number or a decimal string; undefined where it is neither, or has more decimals than the currency. */
export const minorFrom = (sent: number | string, decimals: number): bigint | undefined => {
  const match = DECIMAL.exec(typeof sent === 'number' ? plainText(sent) : sent)
  if (match === null) return undefined
  const [, sign = '', whole = '', rest = ''] = match
  const kept = rest.replace(/0+$/, '')
  if (kept.length > decimals) return undefined
  const minor = BigInt(whole + kept.padEnd(decimals, '0'))
  return sign === '' ? minor : -minor
}

const WRITTEN = /^(-?)(\d{1,30})(?:\.(\d+))?$/

/** The nearest whole unit of what was reckoned in floats, half away from zero; undefined where it is no number. */
export const minorNear = (reckoned: number | string, decimals: number): bigint | undefined => {
  const match = WRITTEN.exec(typeof reckoned === 'number' ? plainText(reckoned) : reckoned)
  if (match === null) return undefined
  const [, sign = '', whole = '', rest = ''] = match
  const minor = BigInt(whole + rest.slice(0, decimals).padEnd(decimals, '0')) + (rest.charAt(decimals) >= '5' ? 1n : 0n)
  return sign === '' ? minor : -minor
}

/** JavaScript writes 1e-7 and 1e21; what is sent as such a number is meant as the decimal it prints. */
const plainText = (value: number): string => {
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(String(value))
  if (match === null) return String(value)
  const [, sign = '', first = '', rest = '', power = '0'] = match
  const [digits, point] = [first + rest, 1 + Number(power)]
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return point >= digits.length ? sign + digits.padEnd(point, '0') : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}
