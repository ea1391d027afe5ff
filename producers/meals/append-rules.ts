import { mealNameOf } from '../../projections/meals/keys.ts'
import { isZone } from '../../projections/zone.ts'
import { COMMON_INTERNAL, DAY, HASH, within, words, type AppendRules, type FieldRule } from '../append-rules.ts'
import { correctionSchema } from './meal-bodies.ts'
import { amountSchema, nutrientName } from './nutrients.ts'
import { unitSchema } from './target-routes.ts'

const { mealSummary, emoji, notes, reason, revision } = correctionSchema.properties

/** The limits of an amount in an event. Events contain thousandths, so the maximum is 1,000 times the maximum in a request. */
const amount: FieldRule = { from: amountSchema.minimum, to: amountSchema.maximum * 1_000 }
const version: FieldRule = { from: 0, to: 1e15 }

export const mealsAppendRules: AppendRules = {
  internal: { ...COMMON_INTERNAL, LegacyMealAdopted: 'Run tributary import.', MealsImported: 'Run tributary import.' },
  key: /^[A-Za-z0-9_.:@-]{1,64}$/,
  isKeyAPerson: true,
  fields: {
    mealId: { is: (id) => mealNameOf(id) !== undefined, what: 'the id of a meal, such as 20261116T083000000Z-abc' },
    tz: { is: isZone, what: 'an IANA time zone' },
    utcOffsetMinutes: { from: -24 * 60, to: 24 * 60 },
    userDate: DAY,
    to: DAY,
    effectiveFromDate: DAY,
    dayRuleVersion: { from: 1, to: 1_000 },
    calories: amount,
    protein: amount,
    carbs: amount,
    fat: amount,
    amount,
    goal: amount,
    name: { like: new RegExp(nutrientName) },
    unit: words(unitSchema),
    expectedRevision: within(revision),
    expectedVersion: version,
    registryVersion: version,
    mealSummary: words(mealSummary),
    emoji: words(emoji),
    notes: words(notes),
    reason: words(reason),
    importId: { like: /^[0-9a-f]{32}$/ },
    rowHash: HASH,
  },
}
