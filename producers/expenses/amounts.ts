import { decimalsOf } from '../../projections/expenses/currencies.ts'
import { decimalText, minorFrom, MOST_MINOR } from '../../projections/expenses/money.ts'
import type { Problem } from '../http/problem.ts'
import { refused } from './params.ts'

export const moneySchema = {
  type: ['number', 'string'],
  maxLength: 40,
  description: 'A number or a decimal string, with no more decimals than the currency has.',
} as const
export const currencySchema = { type: 'string', minLength: 3, maxLength: 3, description: 'ISO 4217, or TON.' } as const

/** A currency and the number of decimals of its amounts, for example 2 for EUR. */
export interface Currency {
  readonly code: string
  readonly decimals: number
}

export const currencyIn = (code: string, pointer: string): Currency => {
  const decimals = decimalsOf(code)
  if (decimals === undefined) {
    throw refused(
      'currency-unknown',
      `${pointer}: there is no currency ${JSON.stringify(code)}. Send a code of ISO 4217 such as EUR, or TON.`,
      pointer,
    )
  }
  return { code, decimals }
}

/** Returns an amount in minor units, for example cents. Throws `amount-invalid` like `partIn`, and also for 0. */
export const amountIn = (sent: number | string, currency: Currency, pointer: string): bigint => {
  const minor = partIn(sent, currency, pointer)
  if (minor === 0n) throw wrongAmount(pointer, 'it must be more than zero')
  return minor
}

/** Returns a part of an amount in minor units. Throws `amount-invalid` if it is no decimal, negative, too large, or has too many digits. */
export const partIn = (sent: number | string, { code, decimals }: Currency, pointer: string): bigint => {
  const tooMuch = `it must be at most ${decimalText(MOST_MINOR, decimals)} ${code}`
  // A number above MOST_MINOR is too large in every currency. Text that is not a number passes here, but `minorFrom` rejects it.
  if (Number(sent) > Number(MOST_MINOR)) throw wrongAmount(pointer, tooMuch)
  if (typeof sent === 'number' && digitsOf(sent) > EXACT_DIGITS)
    throw wrongAmount(pointer, `a number is exact to ${EXACT_DIGITS} digits. Send it as a string`)
  const minor = minorFrom(sent, decimals)
  if (minor === undefined)
    throw wrongAmount(
      pointer,
      decimals === 0
        ? `it must be a whole number of ${code}`
        : `it must be a decimal such as 10.5, with at most ${decimals} decimals (${code})`,
    )
  if (minor < 0n) throw wrongAmount(pointer, 'it must not be negative')
  if (minor > MOST_MINOR) throw wrongAmount(pointer, tooMuch)
  return minor
}

/** A double keeps 15 decimal digits exactly. A number with more digits can differ from the decimal that the client wrote. */
const EXACT_DIGITS = 15

const digitsOf = (value: number): number =>
  String(Math.abs(value)).replace(/e.*$/, '').replace('.', '').replace(/^0+/, '').length

const wrongAmount = (pointer: string, why: string): Problem => refused('amount-invalid', `${pointer}: ${why}.`, pointer)
