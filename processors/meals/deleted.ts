import type { MealDeleted, MealRestored } from '../../schemas/generated/meals.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { GoneMealItem, MealItem } from '../../projections/meals/items.ts'
import { goneMeals, keyIn } from '../../projections/meals/keys.ts'
import { findMeal, homeOf, redirect } from './find.ts'
import { heardBefore, hearing } from '../access/heard.ts'
import { refuse } from '../../projections/meals/refusals.ts'
import { replaceMeal } from './replace.ts'

/** The meal leaves its readers' keys and stays whole under its id: a late create finds it there, and so does a restore. */
export const mealDeleted = (event: MealDeleted, get: Get): Result => {
  const { data: { mealId }, meta } = event
  const at = isoOf(meta.occurredAt)
  const found = findMeal(meta.key, mealId, get)
  if (found.state === 'deleted') return DUPLICATE
  const gone = { ...goneMeals.key(meta.key, mealId), state: 'deleted', deletedAt: at } as const
  if (found.state === 'present') {
    if (heardBefore(found.meal._heard, event)) return DUPLICATE
    const meal = { ...found.meal, _heard: hearing(found.meal._heard, event) }
    return replaceMeal({ user: meta.key, before: found.meal, at, beside: [{ ...gone, meal } satisfies GoneMealItem] }, get)
  }
  if (homeOf(meta.key, mealId) === undefined) return refuse('meal-not-found', `There is no meal ${mealId}.`)
  return { items: [{ ...gone, meal: null, _heard: hearing(undefined, event) } satisfies GoneMealItem] }
}

/** The meal comes back as it was, where it was. */
export const mealRestored = (event: MealRestored, get: Get): Result => {
  const { data: { mealId }, meta } = event
  const found = findMeal(meta.key, mealId, get)
  if (found.state === 'present') {
    return heardBefore(found.meal._heard, event) ? DUPLICATE : refuse('meal-not-deleted', `Meal ${mealId} is not deleted.`)
  }
  if (found.state === 'unknown' || found.gone.meal === null) return refuse('meal-not-found', `There is no meal ${mealId}.`)
  if (heardBefore(found.gone.meal._heard, event)) return DUPLICATE
  const there = get<MealItem>(keyIn(found.gone.meal))
  if (there !== undefined) return refuse('meal-key-taken', `Meal ${there.mealId} lies where this one was; move it first.`)
  const meal = { ...found.gone.meal, _heard: hearing(found.gone.meal._heard, event) }
  return replaceMeal({ user: meta.key, after: meal, at: isoOf(meta.occurredAt), beside: redirect(meta.key, meal, found.gone) }, get)
}
