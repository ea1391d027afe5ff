import { bare, type Key } from '../../projections/item.ts'
import type { Change, Get, Result } from '../../projections/projection.ts'
import { removed } from '../../projections/projection.ts'
import type { GoneMealItem, MealItem } from '../../projections/meals/items.ts'
import { goneMeals, mealNameOf, meals } from '../../projections/meals/keys.ts'
import { userPartition } from '../../projections/access/keys.ts'
import { refuse } from '../../projections/meals/refusals.ts'

type GoneDeleted = Extract<GoneMealItem, { state: 'deleted' }>

/** The state of a meal. `gone` is present if the meal was moved before or is deleted. */
export type Found =
  | { readonly state: 'present'; readonly meal: MealItem; readonly gone: GoneMealItem | undefined }
  | { readonly state: 'deleted'; readonly gone: GoneDeleted }
  | { readonly state: 'unknown' }

export const findMeal = (user: string, mealId: string, get: Get): Found => {
  const firstKey = firstKeyOf(user, mealId)
  if (firstKey === undefined) return { state: 'unknown' }
  const gone = get(goneMeals.key(user, mealId))
  const atFirstKey = get<MealItem>(firstKey)
  if (gone?.state === 'deleted') return { state: 'deleted', gone }
  const meal = gone === undefined ? atFirstKey : get<MealItem>({ PK: userPartition(user), SK: gone.to })
  return meal?.mealId === mealId ? { state: 'present', meal: bare(meal), gone } : { state: 'unknown' }
}

/** The key that the meal's id contains. The meal has this key until it is moved. Undefined if the id is not valid. */
export const firstKeyOf = (user: string, mealId: string): Key | undefined => {
  const name = mealNameOf(mealId)
  return name === undefined ? undefined : meals.key(user, name.eaten, name.uid)
}

/**
 * Returns the change of the meal's `GONE#` item. If the meal was moved away from the key that its id contains, this item
 * must point to the present key. Otherwise the item must not exist. Empty if nothing changes.
 */
export const redirect = (user: string, meal: MealItem, gone: GoneMealItem | undefined): readonly Change[] => {
  const key = goneMeals.key(user, meal.mealId)
  if (meal.SK !== firstKeyOf(user, meal.mealId)?.SK) {
    return gone?.state === 'moved' && gone.to === meal.SK
      ? []
      : [{ ...key, state: 'moved', to: meal.SK } satisfies GoneMealItem]
  }
  return gone === undefined ? [] : [removed(key)]
}

export const notPresent = (found: Exclude<Found, { state: 'present' }>, mealId: string): Result =>
  found.state === 'deleted'
    ? refuse('meal-deleted', `Meal ${mealId} was deleted; restore it first.`)
    : refuse('meal-not-found', `There is no meal ${mealId}.`)
