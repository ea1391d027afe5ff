/** Nutrients are fixed point: integer thousandths in events and in sums, decimal numbers in items and JSON. */
const MILLI = 1000

/** The largest amount of one nutrient in one meal, and in one day: below 10^15 thousandths every decimal is exact and prints as written. */
export const MAX_AMOUNT = 1e10
export const MAX_TOTAL = 1e15 - 1

export const MAX_EXTENDED = 64
export const MAX_EXTENDED_A_DAY = 512
export const MAX_REGISTRY = 128
const MAX_NAME_LENGTH = 64

/** Strict: undefined unless the number is a whole count of thousandths in range. Nothing is rounded unsaid. */
export const toMilli = (decimal: number): number | undefined => {
  const milli = Math.round(decimal * MILLI)
  return isAmount(milli) && milli / MILLI === decimal ? milli + 0 : undefined
}

/** For numbers that lie in items already, and for legacy floats: to the nearest thousandth. */
export const milliOf = (decimal: number): number => Math.round(decimal * MILLI)

export const fromMilli = (milli: number): number => milli / MILLI

export const isAmount = (milli: number): boolean => Number.isInteger(milli) && milli >= 0 && milli <= MAX_AMOUNT

/** `__proto__` is no name: it cannot be an attribute of a plain object. */
export const isNutrientName = (name: string): boolean => name.length > 0 && name.length <= MAX_NAME_LENGTH && name !== '__proto__'
