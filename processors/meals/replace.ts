import type { Change, Get, Result } from '../../projections/projection.ts'
import { removed } from '../../projections/projection.ts'
import type { Amounts, DayPointerItem, DaySummaryItem, MealItem } from '../../projections/meals/items.ts'
import { dayPointers, eatenOf, summaries } from '../../projections/meals/keys.ts'
import { refuse } from '../../projections/meals/refusals.ts'
import { summaryAfter, type DayChange } from './day-summary.ts'

/** A meal before and after the event. `before` is absent for a new meal, and `after` is absent for a deleted meal. */
export interface Replacement {
  readonly user: string
  readonly before?: MealItem
  readonly after?: MealItem
  /** ISO time of the event. */
  readonly at: string
  /** Further changes in the same commit. */
  readonly additionalChanges?: readonly Change[]
}

/** Replaces a meal. Its item, the sums of its days and the item that points from its day to it (day pointer) change in one commit. */
export const replaceMeal = (replacement: Replacement, get: Get): Result => {
  const { before, after, additionalChanges } = replacement
  const items: Change[] = after === undefined ? [] : [after]
  if (before !== undefined && before.SK !== after?.SK) items.push(removed(before))
  if (!updateSummaries(items, replacement, get)) {
    return refuse(
      'day-total-out-of-range',
      `The sums of ${after?.userDate} would leave the range in which they are exact, or name too many nutrients.`,
    )
  }
  if (before?.dayOverridden || after?.dayOverridden) items.push(...pointersAfter(replacement))
  if (additionalChanges !== undefined) items.push(...additionalChanges)
  return { items }
}

/**
 * Adds the changed summaries to `items`: the summaries of both days if the meal moves to another day. Adds none if the
 * nutrition of the day stays the same. Returns false if a sum would leave the range in which sums are exact.
 */
const updateSummaries = (items: Change[], { user, before: minus, after: plus, at }: Replacement, get: Get): boolean => {
  const sum = (day: string, change: DayChange): boolean => {
    const key = summaries.key(user, day)
    const summary = summaryAfter(key, get<DaySummaryItem>(key), change)
    if (summary !== undefined) items.push(summary)
    return summary !== undefined
  }
  if (minus !== undefined && plus !== undefined && minus.userDate === plus.userDate) {
    return hasSameNutrition(minus, plus) || sum(plus.userDate, { minus, plus, at })
  }
  return (
    (minus === undefined || sum(minus.userDate, { minus, at })) &&
    (plus === undefined || sum(plus.userDate, { plus, at }))
  )
}

const hasSameNutrition = (a: MealItem, b: MealItem): boolean =>
  a.calories === b.calories &&
  a.protein === b.protein &&
  a.carbs === b.carbs &&
  a.fat === b.fat &&
  sameAmounts(a.extendedNutrients, b.extendedNutrients)

const sameAmounts = (a: Amounts, b: Amounts): boolean => {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && a[name] === b[name])
}

const pointersAfter = ({ user, before, after }: Replacement): readonly Change[] => {
  const oldPointer = before === undefined ? undefined : pointerOf(user, before)
  const newPointer = after === undefined ? undefined : pointerOf(user, after)
  if (oldPointer?.SK === newPointer?.SK) return []
  return [...(newPointer === undefined ? [] : [newPointer]), ...(oldPointer === undefined ? [] : [removed(oldPointer)])]
}

const pointerOf = (user: string, { dayOverridden, userDate, mealId, SK }: MealItem): DayPointerItem | undefined =>
  dayOverridden ? { ...dayPointers.key(user, userDate, eatenOf(SK), mealId), to: SK } : undefined
