import { FORGOTTEN, type Event } from '../../schemas/event.ts'
import type { LegacyMealAdopted, MealLogged, MealLoggedPersonal } from '../../schemas/generated/meals.ts'
import type { Key } from '../../projections/item.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { DAY_RULE_VERSION, dayOf, isDay, isElsewhere, isOffset } from '../../projections/meals/day.ts'
import { isInstant, isoOf } from '../../projections/instant.ts'
import { FORMAT_VERSION, type GoneMealItem, type MealItem } from '../../projections/meals/items.ts'
import type { Draft } from '../../projections/item.ts'
import { goneMeals, isMealIdOf, meals, uidOf } from '../../projections/meals/keys.ts'
import { fromMilli } from '../../projections/meals/nutrients.ts'
import { admit, amounts, NO_AMOUNTS, wrongAmounts, type Admitted } from './meal-amounts.ts'
import { refuse } from '../../projections/meals/refusals.ts'
import { replaceMeal, type Replacement } from './replace.ts'

/** A new meal: from the app, or from a table of an older version. */
type NewMealEvent = MealLogged | LegacyMealAdopted

export const mealLogged = (event: MealLogged, get: Get): Result => {
  const { data, meta } = event
  const checked = checkNewMeal(event, get)
  if ('result' in checked) return checked.result
  if (!isOffset(data.utcOffsetMinutes))
    return refuse('utc-offset-out-of-range', 'The UTC offset must be between -12:00 and +14:00.')
  const implied = dayOf(data.eatenAt, data.utcOffsetMinutes)
  // A day that the user chose stays. A day that another version of the day rule computed is computed again.
  const userDate = data.dayOverridden || data.dayRuleVersion === DAY_RULE_VERSION ? data.userDate : implied
  if (userDate !== implied && !isDay(userDate)) return refuse('user-date-invalid', `${userDate} is not a day.`)
  const at = isoOf(meta.occurredAt)
  const meal = newMeal(checked.key, event, { userDate, createdAt: at, nutrients: admit(meta.key, data, get) })
  if (userDate !== implied) meal.dayOverridden = true
  meal.tz = data.tz
  meal.utcOffsetMinutes = data.utcOffsetMinutes
  return storeMeal({ user: meta.key, after: meal, at }, checked.gone, get)
}

export const legacyMealAdopted = (event: LegacyMealAdopted, get: Get): Result => {
  const { data, meta } = event
  const checked = checkNewMeal(event, get)
  if ('result' in checked) return checked.result
  const userDate = data.userDate ?? dayOf(data.eatenAt, 0)
  if (!isDay(userDate)) return refuse('user-date-invalid', `${userDate} is not a day.`)
  const nutrients = { extendedNutrients: amounts(data.extended), droppedNutrients: NO_AMOUNTS }
  const meal = newMeal(checked.key, event, { userDate, createdAt: isoOf(data.createdAt ?? data.eatenAt), nutrients })
  if (isElsewhere(userDate, data.eatenAt, undefined)) meal.dayOverridden = true
  return storeMeal({ user: meta.key, after: meal, at: isoOf(meta.occurredAt) }, checked.gone, get)
}

/**
 * The key for the new meal, or the result that ends the fold: a refusal, or DUPLICATE if the meal exists, was moved
 * or was deleted.
 */
const checkNewMeal = (
  event: NewMealEvent,
  get: Get,
): { readonly key: Key; readonly gone: GoneMealItem | undefined } | { readonly result: Result } => {
  const { data, meta } = event
  const eaten = isoOf(data.eatenAt)
  if (!isInstant(data.eatenAt) || !isMealIdOf(data.mealId, eaten)) {
    return {
      result: refuse(
        'meal-id-invalid',
        `${data.mealId} must consist of the instant at which the meal was eaten (${eaten}) and a uid.`,
      ),
    }
  }
  const key = meals.key(meta.key, eaten, uidOf(data.mealId))
  const present = get<MealItem>(key)
  const gone = get(goneMeals.key(meta.key, data.mealId))
  if (present?.mealId === data.mealId || gone?.state === 'moved' || (gone !== undefined && gone.meal !== null))
    return { result: DUPLICATE }
  if (present !== undefined)
    return {
      result: refuse('meal-key-taken', `Meal ${present.mealId} was moved to this instant and has the same uid.`),
    }
  const refusal = wrongAmounts(data, data.extended, 'dropped' in data ? data.dropped : NONE)
  return refusal === undefined ? { key, gone } : { result: refusal }
}

const NONE = [] as const

interface DerivedFields {
  readonly userDate: string
  readonly createdAt: string
  readonly nutrients: Admitted
}

const newMeal = (
  { PK, SK }: Key,
  { data, personal }: NewMealEvent,
  { userDate, createdAt, nutrients }: DerivedFields,
): Draft<MealItem> => {
  const text = textOf(personal)
  const meal: Draft<MealItem> = {
    PK,
    SK,
    mealId: data.mealId,
    mealSummary: text === undefined ? null : text.mealSummary,
    calories: fromMilli(data.calories),
    protein: fromMilli(data.protein),
    carbs: fromMilli(data.carbs),
    fat: fromMilli(data.fat),
    extendedNutrients: nutrients.extendedNutrients,
    userDate,
    createdAt,
    revision: 1,
    formatVersion: FORMAT_VERSION,
  }
  if (nutrients.droppedNutrients !== NO_AMOUNTS) meal.droppedNutrients = nutrients.droppedNutrients
  if (text?.emoji) meal.emoji = text.emoji
  if (text?.notes) meal.notes = text.notes
  if (data.importId !== null) meal.importId = data.importId
  if (data.rowHash !== null) meal.rowHash = data.rowHash
  return meal
}

const textOf = (personal: Event<string, unknown, MealLoggedPersonal>['personal']): MealLoggedPersonal | undefined =>
  personal === null || personal === FORGOTTEN ? undefined : personal

/** Stores the new meal. If its delete was folded before, stores it in the `GONE#` item, where a restore finds it. */
const storeMeal = (
  replacement: Replacement & { after: MealItem },
  gone: GoneMealItem | undefined,
  get: Get,
): Result => {
  if (gone === undefined || gone.state === 'moved') return replaceMeal(replacement, get)
  const { PK, SK, state, deletedAt, _heard } = gone
  const meal = _heard === undefined ? replacement.after : { ...replacement.after, _heard }
  return { items: [{ PK, SK, state, deletedAt, meal } satisfies GoneMealItem] }
}
