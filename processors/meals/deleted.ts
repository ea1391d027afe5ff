import type { MealDeleted, MealRestored } from '../../schemas/generated/meals.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { GoneMealItem, MealItem } from '../../projections/meals/items.ts'
import { goneMeals, keyIn } from '../../projections/meals/keys.ts'
import { findMeal, firstKeyOf, redirect } from './find.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { refuse } from '../../projections/meals/refusals.ts'
import { replaceMeal } from './replace.ts'

/** Moves the meal to its `GONE#` item, where a restore finds it. If there is no meal yet, stores an empty `GONE#` item. */
export const mealDeleted = (event: MealDeleted, get: Get): Result => {
  const {
    data: { mealId },
    meta,
  } = event
  const at = isoOf(meta.occurredAt)
  const found = findMeal(meta.key, mealId, get)
  if (found.state === 'deleted') return DUPLICATE
  const gone = { ...goneMeals.key(meta.key, mealId), state: 'deleted', deletedAt: at } as const
  if (found.state === 'present') {
    if (hasApplied(found.meal._heard, event)) return DUPLICATE
    const meal = { ...found.meal, _heard: withApplied(found.meal._heard, event) }
    return replaceMeal(
      { user: meta.key, before: found.meal, at, additionalChanges: [{ ...gone, meal } satisfies GoneMealItem] },
      get,
    )
  }
  if (firstKeyOf(meta.key, mealId) === undefined) return refuse('meal-not-found', `There is no meal ${mealId}.`)
  return { items: [{ ...gone, meal: null, _heard: withApplied(undefined, event) } satisfies GoneMealItem] }
}

/** Puts the meal back under the key that it had when it was deleted. */
export const mealRestored = (event: MealRestored, get: Get): Result => {
  const {
    data: { mealId },
    meta,
  } = event
  const found = findMeal(meta.key, mealId, get)
  if (found.state === 'present') {
    return hasApplied(found.meal._heard, event)
      ? DUPLICATE
      : refuse('meal-not-deleted', `Meal ${mealId} is not deleted.`)
  }
  if (found.state === 'unknown' || found.gone.meal === null)
    return refuse('meal-not-found', `There is no meal ${mealId}.`)
  if (hasApplied(found.gone.meal._heard, event)) return DUPLICATE
  const other = get<MealItem>(keyIn(found.gone.meal))
  if (other !== undefined)
    return refuse(
      'meal-key-taken',
      `Meal ${other.mealId} now has the instant and the uid of the deleted meal. Move meal ${other.mealId} first.`,
    )
  const meal = { ...found.gone.meal, _heard: withApplied(found.gone.meal._heard, event) }
  return replaceMeal(
    {
      user: meta.key,
      after: meal,
      at: isoOf(meta.occurredAt),
      additionalChanges: redirect(meta.key, meal, found.gone),
    },
    get,
  )
}
