/** Nutrients are fixed-point numbers: integer thousandths in events and sums, decimal numbers in items and JSON. */
const MILLI = 1000

/**
 * The maximum of one nutrient in a meal (`MAX_AMOUNT`) and in a day (`MAX_TOTAL`), in thousandths. Below 10^15
 * thousandths, every decimal number is exact and is printed as it was written.
 */
export const MAX_AMOUNT = 1e10
export const MAX_TOTAL = 1e15 - 1

export const MAX_EXTENDED = 64
export const MAX_EXTENDED_A_DAY = 512
export const MAX_REGISTRY = 128
const MAX_NAME_LENGTH = 64

/** The thousandths of a decimal number. Never rounds: undefined if they are not a whole number, or not in the valid range. */
export const toMilli = (decimal: number): number | undefined => {
  const milli = Math.round(decimal * MILLI)
  return isAmount(milli) && milli / MILLI === decimal ? milli + 0 : undefined
}

/** Rounds to the nearest thousandth, for numbers of stored items and legacy floats. */
export const milliOf = (decimal: number): number => Math.round(decimal * MILLI)

export const fromMilli = (milli: number): number => milli / MILLI

export const isAmount = (milli: number): boolean => Number.isInteger(milli) && milli >= 0 && milli <= MAX_AMOUNT

/** `__proto__` is not a valid name, because a plain object cannot have such an attribute. */
export const isNutrientName = (name: string): boolean =>
  name.length > 0 && name.length <= MAX_NAME_LENGTH && name !== '__proto__'
