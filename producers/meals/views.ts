import type { MealItem, NutrientRegistry, TargetsItem } from '../../projections/meals/items.ts'
import { eatenOf } from '../../projections/meals/keys.ts'
import type { SummaryOfDay } from '../../projections/meals/queries.ts'
import { integer, number, text } from '../http/schemas.ts'

const amounts = { type: 'object', additionalProperties: number } as const
const macros = { calories: number, protein: number, carbs: number, fat: number } as const

export const mealSchema = {
  type: 'object',
  required: ['id', 'eatenAt', 'userDate', 'mealSummary', 'calories', 'protein', 'carbs', 'fat', 'extendedNutrients', 'createdAt', 'revision', 'formatVersion'],
  properties: {
    id: text,
    eatenAt: text,
    tz: text,
    userDate: text,
    dayOverridden: { type: 'boolean', description: 'The day is another than the 4 AM rule gives.' },
    mealSummary: { type: ['string', 'null'] },
    emoji: text,
    ...macros,
    extendedNutrients: amounts,
    droppedNutrients: { ...amounts, description: 'What the nutrient registry did not know; it counts nowhere.' },
    notes: text,
    createdAt: text,
    updatedAt: text,
    revision: integer,
    formatVersion: integer,
  },
} as const

export const mealView = (meal: MealItem) => ({
  id: meal.mealId,
  eatenAt: eatenOf(meal.SK),
  tz: meal.tz,
  userDate: meal.userDate,
  dayOverridden: meal.dayOverridden ?? false,
  mealSummary: meal.mealSummary,
  emoji: meal.emoji,
  calories: meal.calories,
  protein: meal.protein,
  carbs: meal.carbs,
  fat: meal.fat,
  extendedNutrients: meal.extendedNutrients,
  droppedNutrients: meal.droppedNutrients,
  notes: meal.notes,
  createdAt: meal.createdAt,
  updatedAt: meal.updatedAt,
  revision: meal.revision,
  formatVersion: meal.formatVersion,
})

const definition = { type: 'object', properties: { unit: text, goal: number } } as const

const targetProperties = {
  ...macros,
  displayUnit: { enum: ['kcal', 'kj'], type: 'string' },
  nutrientRegistry: { type: 'object', additionalProperties: definition },
  version: integer,
  effectiveFromDate: text,
  updatedAt: text,
} as const

export const targetsSchema = { type: 'object', required: ['displayUnit', 'nutrientRegistry', 'version'], properties: targetProperties } as const

/** 0 is a disabled target, an absent one was never set; before the first there is version 0. */
export const targetsView = (targets: TargetsItem | undefined) => ({
  calories: targets?.calories,
  protein: targets?.protein,
  carbs: targets?.carbs,
  fat: targets?.fat,
  displayUnit: targets?.displayUnit ?? 'kcal',
  nutrientRegistry: targets?.nutrientRegistry ?? {},
  version: targets?.version ?? 0,
  effectiveFromDate: targets?.effectiveFromDate,
  updatedAt: targets?.updatedAt,
})

export const nutrientSchema = { type: 'object', required: ['name', 'version'], properties: { name: text, unit: text, goal: number, removed: { type: 'boolean' }, version: integer } } as const

export const nutrientView = (name: string, registry: NutrientRegistry, version: number) => {
  const known = Object.hasOwn(registry, name) ? registry[name] : undefined
  return known ? { name, unit: known.unit, goal: known.goal, version } : { name, removed: true, version }
}

export const summarySchema = {
  type: 'object',
  required: ['userDate', 'type', 'totalCalories', 'totalProtein', 'totalCarbs', 'totalFat', 'extendedNutrients', 'mealCount', 'updatedAt'],
  properties: {
    userDate: text,
    type: text,
    totalCalories: number,
    totalProtein: number,
    totalCarbs: number,
    totalFat: number,
    extendedNutrients: amounts,
    mealCount: integer,
    updatedAt: text,
    targets: {
      type: 'object',
      description: 'What the day is measured against: the targets that held then. A disabled one is absent.',
      required: ['extendedNutrients', 'version'],
      properties: { ...macros, extendedNutrients: amounts, version: integer },
    },
  },
} as const

export const summaryView = ({ day, summary, goals }: SummaryOfDay) => ({
  userDate: day,
  type: summary.type,
  totalCalories: summary.totalCalories,
  totalProtein: summary.totalProtein,
  totalCarbs: summary.totalCarbs,
  totalFat: summary.totalFat,
  extendedNutrients: summary.extendedNutrients,
  mealCount: summary.mealCount,
  updatedAt: summary.updatedAt,
  targets: goals,
})

export const usageSchema = {
  type: 'object',
  description: 'Sampled: one request in some stands for all of them.',
  required: ['day', 'reads', 'writes'],
  properties: { day: text, reads: integer, writes: integer },
} as const

export const goneSchema = { type: 'object', required: ['id'], properties: { id: text, deleted: { type: 'boolean' }, revoked: { type: 'boolean' } } } as const
