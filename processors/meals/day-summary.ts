import type { Key } from '../../projections/item.ts'
import type { Amounts, DaySummaryItem, MealItem } from '../../projections/meals/items.ts'
import { fromMilli, MAX_EXTENDED_A_DAY, MAX_TOTAL, milliOf } from '../../projections/meals/nutrients.ts'

/** `minus`: a meal that the day loses. `plus`: a meal that the day gains. For a meal that changes and stays on its day, both are present. */
export interface DayChange {
  readonly minus?: MealItem | undefined
  readonly plus?: MealItem | undefined
  /** ISO time of the event. */
  readonly at: string
}

/** The whole summary of the day after the change. Undefined if a sum would leave the range in which sums are exact. */
export const summaryAfter = (
  key: Key,
  before: DaySummaryItem | undefined,
  { minus, plus, at }: DayChange,
): DaySummaryItem | undefined => {
  const totalCalories = total(before?.totalCalories, minus?.calories, plus?.calories)
  const totalProtein = total(before?.totalProtein, minus?.protein, plus?.protein)
  const totalCarbs = total(before?.totalCarbs, minus?.carbs, plus?.carbs)
  const totalFat = total(before?.totalFat, minus?.fat, plus?.fat)
  const extendedNutrients = totals(
    before?.extendedNutrients ?? NONE,
    minus?.extendedNutrients ?? NONE,
    plus?.extendedNutrients ?? NONE,
  )
  if (
    extendedNutrients === undefined ||
    Math.max(totalCalories, totalProtein, totalCarbs, totalFat) > fromMilli(MAX_TOTAL)
  )
    return undefined
  return {
    PK: key.PK,
    SK: key.SK,
    type: 'DaySummary',
    totalCalories,
    totalProtein,
    totalCarbs,
    totalFat,
    extendedNutrients,
    mealCount: (before?.mealCount ?? 0) - (minus === undefined ? 0 : 1) + (plus === undefined ? 0 : 1),
    updatedAt: at,
  }
}

const NONE: Amounts = Object.freeze({})

const total = (before = 0, minus = 0, plus = 0): number => fromMilli(milliOf(before) - milliOf(minus) + milliOf(plus))

const isEmpty = (amounts: Amounts): boolean => {
  for (const _ in amounts) return false
  return true
}

/** The sums after the change. Undefined if a sum is too large, or if there are too many nutrients. A nutrient whose sum is 0 has no entry. */
const totals = (before: Amounts, minus: Amounts, plus: Amounts): Amounts | undefined => {
  if (isEmpty(minus) && isEmpty(plus)) return before
  const sums: { [name: string]: number } = { ...before }
  for (const name in minus) sums[name] = total(own(before, name), minus[name], own(plus, name))
  for (const name in plus) if (!Object.hasOwn(minus, name)) sums[name] = total(own(before, name), 0, plus[name])
  return withoutZeros(sums)
}

const withoutZeros = (sums: { [name: string]: number }): Amounts | undefined => {
  let count = 0
  for (const name in sums) {
    const sum = sums[name] as number
    if (sum > fromMilli(MAX_TOTAL)) return undefined
    if (sum === 0) delete sums[name]
    else count += 1
  }
  return count > MAX_EXTENDED_A_DAY ? undefined : sums
}

const own = (amounts: Amounts, name: string): number | undefined =>
  Object.hasOwn(amounts, name) ? amounts[name] : undefined
