import type { Change, Get, Result } from '../../projections/projection.ts'
import { removed } from '../../projections/projection.ts'
import type { Amounts, DayPointerItem, DaySummaryItem, MealItem } from '../../projections/meals/items.ts'
import { dayPointers, eatenOf, summaries } from '../../projections/meals/keys.ts'
import { refuse } from '../../projections/meals/refusals.ts'
import { summaryAfter, type DayChange } from './summary.ts'

/** A meal as it was and as it is now; one of them is absent when it comes or goes. */
export interface Replacement {
  readonly user: string
  readonly before?: MealItem
  readonly after?: MealItem
  /** ISO time of the event. */
  readonly at: string
  /** What else changes with it. */
  readonly beside?: readonly Change[]
}

/** The one way a meal changes: its item, its day's sums and the pointer from its day always change together. */
export const replaceMeal = (replacement: Replacement, get: Get): Result => {
  const { before, after, beside } = replacement
  const items: Change[] = after === undefined ? [] : [after]
  if (before !== undefined && before.SK !== after?.SK) items.push(removed(before))
  if (!sumUp(items, replacement, get)) {
    return refuse('day-total-out-of-range', `The sums of ${after?.userDate} would leave the range in which they are exact, or name too many nutrients.`)
  }
  if (before?.dayOverridden || after?.dayOverridden) items.push(...pointersAfter(replacement))
  if (beside !== undefined) items.push(...beside)
  return { items }
}

/** One summary where the meal stays on its day, two where it changes it; false where a sum would not be exact. */
const sumUp = (items: Change[], { user, before: minus, after: plus, at }: Replacement, get: Get): boolean => {
  const sum = (day: string, change: DayChange): boolean => {
    const key = summaries.key(user, day)
    const summary = summaryAfter(key, get<DaySummaryItem>(key), change)
    if (summary !== undefined) items.push(summary)
    return summary !== undefined
  }
  if (minus !== undefined && plus !== undefined && minus.userDate === plus.userDate) {
    return sameShare(minus, plus) || sum(plus.userDate, { minus, plus, at })
  }
  return (minus === undefined || sum(minus.userDate, { minus, at })) && (plus === undefined || sum(plus.userDate, { plus, at }))
}

const sameShare = (a: MealItem, b: MealItem): boolean =>
  a.calories === b.calories && a.protein === b.protein && a.carbs === b.carbs && a.fat === b.fat &&
  sameAmounts(a.extendedNutrients, b.extendedNutrients)

const sameAmounts = (a: Amounts, b: Amounts): boolean => {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && a[name] === b[name])
}

const pointersAfter = ({ user, before, after }: Replacement): readonly Change[] => {
  const was = before === undefined ? undefined : pointerOf(user, before)
  const is = after === undefined ? undefined : pointerOf(user, after)
  if (was?.SK === is?.SK) return []
  return [...(is === undefined ? [] : [is]), ...(was === undefined ? [] : [removed(was)])]
}

const pointerOf = (user: string, { dayOverridden, userDate, mealId, SK }: MealItem): DayPointerItem | undefined =>
  dayOverridden ? { ...dayPointers.key(user, userDate, eatenOf(SK), mealId), to: SK } : undefined
