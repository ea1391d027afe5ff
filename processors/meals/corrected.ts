import { FORGOTTEN } from '../../schemas/event.ts'
import type { MealCorrected, MealCorrectedData, MealDayReassigned } from '../../schemas/generated/meals.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { DAY_RULE_VERSION, dayOf, isDay, isElsewhere, isOffset } from '../../projections/meals/day.ts'
import { isInstant, isoOf, msOf } from '../../projections/instant.ts'
import { MACROS, type MealItem } from '../../projections/meals/items.ts'
import type { Draft } from '../../projections/item.ts'
import { eatenOf, keyIn, meals, uidOf } from '../../projections/meals/keys.ts'
import { fromMilli } from '../../projections/meals/nutrients.ts'
import { findMeal, notPresent, redirect, type Found } from './find.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { admit, NO_AMOUNTS, wrongAmounts } from './meal-amounts.ts'
import { refuse } from '../../projections/meals/refusals.ts'
import { replaceMeal } from './replace.ts'

export const mealCorrected = (event: MealCorrected, get: Get): Result => {
  const { data, meta } = event
  const found = findMeal(meta.key, data.mealId, get)
  if (found.state !== 'present') return notPresent(found, data.mealId)
  const rejected = duplicateOrConflict(found.meal, event)
  if (rejected !== undefined) return rejected
  const after = nextRevision(found.meal, event)
  const refusal = replaceTime(after, event) ?? replaceAmounts(after, event, get)
  if (refusal !== undefined) return refusal
  const other = after.SK === found.meal.SK ? undefined : get<MealItem>(keyIn(after))
  if (other !== undefined)
    return refuse('meal-key-taken', `Meal ${other.mealId} has the same instant and the same uid.`)
  replaceWords(after, event)
  return putReplacement(event, found, after, get)
}

export const mealDayReassigned = (event: MealDayReassigned, get: Get): Result => {
  const { data, meta } = event
  const found = findMeal(meta.key, data.mealId, get)
  if (found.state !== 'present') return notPresent(found, data.mealId)
  const rejected = duplicateOrConflict(found.meal, event)
  if (rejected !== undefined) return rejected
  if (!isDay(data.to)) return refuse('user-date-invalid', `${data.to} is not a day.`)
  const after = nextRevision(found.meal, event)
  setDay(after, data.to)
  return putReplacement(event, found, after, get)
}

type Correction = MealCorrected | MealDayReassigned

/**
 * Returns DUPLICATE if this event was applied to the meal before. Returns a refusal if the meal does not have the revision
 * that the event expects. Else returns undefined. The order matters: an applied event has increased the revision itself.
 */
const duplicateOrConflict = (meal: MealItem, event: Correction): Result | undefined => {
  const { expectedRevision, mealId } = event.data
  if (hasApplied(meal._heard, event)) return DUPLICATE
  if (expectedRevision === null || expectedRevision === meal.revision) return undefined
  return refuse(
    'revision-conflict',
    `Meal ${mealId} is at revision ${meal.revision}, not ${expectedRevision}; read it and correct it again.`,
  )
}

const nextRevision = (meal: MealItem, event: Correction): Draft<MealItem> => ({
  ...meal,
  revision: meal.revision + 1,
  updatedAt: isoOf(event.meta.occurredAt),
  _heard: withApplied(meal._heard, event),
})

const putReplacement = (
  event: Correction,
  { meal: before, gone }: Extract<Found, { state: 'present' }>,
  after: MealItem,
  get: Get,
): Result => {
  const user = event.meta.key
  return replaceMeal(
    { user, before, after, at: isoOf(event.meta.occurredAt), additionalChanges: redirect(user, after, gone) },
    get,
  )
}

/** Changes the instant, the zone and the day, or returns a refusal. If the event contains no day, a day that the user chose before stays. */
const replaceTime = (meal: Draft<MealItem>, { data, meta }: MealCorrected): Result | undefined => {
  const { eatenAt, tz, utcOffsetMinutes, userDate } = data
  if (eatenAt !== null && !isInstant(eatenAt))
    return refuse('eaten-at-out-of-range', 'A meal is eaten between the years 1 and 9998.')
  if (utcOffsetMinutes !== null && !isOffset(utcOffsetMinutes)) {
    return refuse('utc-offset-out-of-range', 'The UTC offset must be between -12:00 and +14:00.')
  }
  if (userDate !== null && !isDay(userDate)) return refuse('user-date-invalid', `${userDate} is not a day.`)
  if (tz !== null) meal.tz = tz
  if (utcOffsetMinutes !== null) meal.utcOffsetMinutes = utcOffsetMinutes
  if (eatenAt !== null) meal.SK = meals.key(meta.key, isoOf(eatenAt), uidOf(meal.mealId)).SK
  if (eatenAt !== null || utcOffsetMinutes !== null || userDate !== null) setDay(meal, dayAfter(meal, data))
  return undefined
}

const dayAfter = (meal: MealItem, { userDate, dayOverridden, dayRuleVersion }: MealCorrectedData): string => {
  if (userDate !== null && (dayOverridden || dayRuleVersion === DAY_RULE_VERSION)) return userDate
  if (userDate === null && meal.dayOverridden) return meal.userDate
  return dayOf(msOf(eatenOf(meal.SK)), meal.utcOffsetMinutes ?? 0)
}

const setDay = (meal: Draft<MealItem>, day: string): void => {
  meal.userDate = day
  if (isElsewhere(day, msOf(eatenOf(meal.SK)), meal.utcOffsetMinutes)) meal.dayOverridden = true
  else delete meal.dayOverridden
}

const replaceAmounts = (meal: Draft<MealItem>, { data, meta }: MealCorrected, get: Get): Result | undefined => {
  const { calories, protein, carbs, fat, extended, registryVersion } = data
  const dropped = data.dropped ?? []
  const refusal = wrongAmounts(
    { calories: calories ?? 0, protein: protein ?? 0, carbs: carbs ?? 0, fat: fat ?? 0 },
    extended ?? [],
    dropped,
  )
  if (refusal !== undefined) return refusal
  for (const macro of MACROS) {
    const amount = data[macro]
    if (amount !== null) meal[macro] = fromMilli(amount)
  }
  if (extended === null) return undefined
  const { extendedNutrients, droppedNutrients } = admit(meta.key, { extended, dropped, registryVersion }, get)
  meal.extendedNutrients = extendedNutrients
  if (droppedNutrients === NO_AMOUNTS) delete meal.droppedNutrients
  else meal.droppedNutrients = droppedNutrients
  return undefined
}

/** Changes the texts. A text that is null stays as it is, and an empty emoji or note is removed. Removes all texts of a forgotten person. */
const replaceWords = (meal: Draft<MealItem>, { personal }: MealCorrected): void => {
  if (personal === null) return
  const { mealSummary, emoji, notes } =
    personal === FORGOTTEN ? { mealSummary: undefined, emoji: '', notes: '' } : personal
  if (mealSummary !== null) meal.mealSummary = mealSummary ?? null
  if (emoji === '') delete meal.emoji
  else if (emoji !== null) meal.emoji = emoji
  if (notes === '') delete meal.notes
  else if (notes !== null) meal.notes = notes
}
