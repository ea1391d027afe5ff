import type { XStatic } from 'typebox/schema'
import { DAY_RULE_VERSION } from '../../projections/meals/day.ts'
import { isoOf, msOf } from '../../projections/instant.ts'
import type { MealItem } from '../../projections/meals/items.ts'
import { eatenOf, mealIdOf, mealNameOf } from '../../projections/meals/keys.ts'
import { instantOf } from '../http/instants.ts'
import { Problem } from '../http/problem.ts'
import type { Decision } from '../http/route.ts'
import { amountSchema, extendedSchema, filtered, milli, snapshotSchema } from './nutrients.ts'
import { event } from './params.ts'
import { resolveMealTime } from './time.ts'

const instant = { type: 'string', maxLength: 40, description: 'RFC 3339 instant with an offset.' } as const
const zone = { type: 'string', maxLength: 64, description: 'IANA time zone in which it was eaten.' } as const
const day = { type: 'string', maxLength: 10, description: 'Logical day. Default: computed by the 4 AM rule.' } as const
const words = {
  mealSummary: { type: 'string', minLength: 1, maxLength: 1_000 },
  emoji: { type: 'string', maxLength: 64 },
  notes: { type: 'string', maxLength: 8_000 },
} as const
const amounts = { calories: amountSchema, protein: amountSchema, carbs: amountSchema, fat: amountSchema } as const
const nutrition = { ...amounts, extendedNutrients: extendedSchema, registrySnapshot: snapshotSchema } as const

export const newMealSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['eatenAt', 'tz', 'mealSummary', 'calories'],
  properties: { eatenAt: instant, tz: zone, userDate: day, ...words, ...nutrition },
} as const

export type NewMeal = XStatic<typeof newMealSchema>

export const mealLogged = (body: NewMeal, uid: string): Decision => {
  const time = resolveMealTime({ eatenAt: instantOf(body.eatenAt, '/eatenAt'), tz: body.tz, userDate: body.userDate })
  const mealId = mealIdOf(isoOf(time.eatenAt), uid)
  const data = {
    mealId,
    ...time,
    calories: milli(body.calories, '/calories'),
    protein: milli(body.protein ?? 0, '/protein'),
    carbs: milli(body.carbs ?? 0, '/carbs'),
    fat: milli(body.fat ?? 0, '/fat'),
    ...filtered(body.extendedNutrients, body.registrySnapshot),
    importId: null,
    rowHash: null,
  }
  const personal = { mealSummary: body.mealSummary, emoji: body.emoji ?? null, notes: body.notes ?? null }
  return { id: mealId, draft: event('MealLogged', data, personal) }
}

export const correctionSchema = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    eatenAt: instant,
    tz: zone,
    userDate: day,
    ...words,
    ...nutrition,
    reason: { type: 'string', maxLength: 1_000 },
    revision: {
      type: 'integer',
      minimum: 1,
      maximum: 1e15,
      description: 'The revision that you read. If the meal has another revision, the request is refused.',
    },
  },
} as const

export type Correction = XStatic<typeof correctionSchema>

/**
 * Builds the event of a correction. `current` is the meal as the edge reads it. Null if the meal is deleted and no copy of it is stored. The fold
 * decides whether the meal can be corrected.
 */
export const mealCorrected = (mealId: string, body: Correction, current: MealItem | null): Decision => {
  mustChange(body)
  const when = whenOf(mealId, current)
  if (changesOnlyDay(body)) return dayReassigned(mealId, body, when)
  const nutrients = body.extendedNutrients
    ? filtered(body.extendedNutrients, body.registrySnapshot)
    : UNCHANGED_NUTRIENTS
  const data = {
    mealId,
    expectedRevision: body.revision ?? null,
    ...correctedTime(body, when),
    calories: milliOrNull(body.calories, '/calories'),
    protein: milliOrNull(body.protein, '/protein'),
    carbs: milliOrNull(body.carbs, '/carbs'),
    fat: milliOrNull(body.fat, '/fat'),
    ...nutrients,
  }
  const personal = {
    mealSummary: body.mealSummary ?? null,
    emoji: body.emoji ?? null,
    notes: body.notes ?? null,
    reason: body.reason ?? null,
  }
  return { id: mealId, draft: event('MealCorrected', data, personal) }
}

const UNCHANGED_NUTRIENTS = { extended: null, dropped: null, registryVersion: null } as const

const milliOrNull = (amount: number | undefined, pointer: string) =>
  amount === undefined ? null : milli(amount, pointer)

const ASIDES: ReadonlySet<string> = new Set(['revision', 'reason', 'registrySnapshot'])

const mustChange = (body: Correction): void => {
  if (Object.keys(body).some((name) => !ASIDES.has(name))) return
  throw new Problem(400, 'nothing-to-change', 'The body changes nothing. Send at least one field of the meal.')
}

const changesOnlyDay = (body: Correction): body is Correction & { userDate: string } =>
  Object.keys(body).every((name) => name === 'userDate' || name === 'revision') && body.userDate !== undefined

interface When {
  readonly eatenAt: number
  readonly tz: string | undefined
  /** The day that the user chose for the meal. By default a day begins at 04:00 (the 4 AM rule). Undefined if the user chose none. */
  readonly chosenDay: string | undefined
}

const whenOf = (mealId: string, meal: MealItem | null): When => ({
  eatenAt: msOf(meal ? eatenOf(meal.SK) : (mealNameOf(mealId)?.eaten ?? '')),
  tz: meal?.tz,
  chosenDay: meal?.dayOverridden ? meal.userDate : undefined,
})

const dayReassigned = (
  mealId: string,
  body: { userDate: string; revision?: number },
  { eatenAt, tz }: When,
): Decision => {
  const { userDate: to, dayRuleVersion } = resolveMealTime({ eatenAt, tz: tz ?? 'UTC', userDate: body.userDate })
  return {
    id: mealId,
    draft: event('MealDayReassigned', { mealId, to, dayRuleVersion, expectedRevision: body.revision ?? null }),
  }
}

const UNMOVED = {
  eatenAt: null,
  tz: null,
  utcOffsetMinutes: null,
  userDate: null,
  dayOverridden: null,
  dayRuleVersion: DAY_RULE_VERSION,
} as const

/**
 * Returns the time fields of the event. If the body contains no time field, all are null. Otherwise all are set, because a change of one field can
 * change the others. A day that the user chose stays if the corrected time is still in the same day by default (a day begins at 04:00).
 */
const correctedTime = (body: Correction, when: When) => {
  if (body.eatenAt === undefined && body.tz === undefined && body.userDate === undefined) return UNMOVED
  const eatenAt = body.eatenAt === undefined ? when.eatenAt : instantOf(body.eatenAt, '/eatenAt')
  const time = resolveMealTime({ eatenAt, tz: body.tz ?? when.tz ?? 'UTC', userDate: body.userDate })
  const stays =
    when.chosenDay !== undefined &&
    body.userDate === undefined &&
    resolveMealTime({ eatenAt: when.eatenAt, tz: when.tz ?? 'UTC' }).userDate === time.userDate
  return stays ? { ...time, userDate: when.chosenDay, dayOverridden: true } : time
}
