import type { MealItem, NutrientRegistry, TargetsItem } from '../../projections/meals/items.ts'
import type { Goals } from '../../projections/meals/goals.ts'
import { eatenOf } from '../../projections/meals/keys.ts'
import type { SummaryOfDay } from '../../projections/meals/queries.ts'
import { bool, integer, number, text, textOrNull } from '../http/schemas.ts'
import { optional, shape } from '../http/shape.ts'

const amounts = { type: 'object', additionalProperties: number } as const
const optionalMacros = {
  calories: optional(number),
  protein: optional(number),
  carbs: optional(number),
  fat: optional(number),
} as const

export const meal = shape<MealItem>()({
  id: { ...text, from: ({ mealId }) => mealId },
  eatenAt: { ...text, from: ({ SK }) => eatenOf(SK) },
  tz: optional(text),
  userDate: text,
  dayOverridden: {
    ...bool,
    optional: true,
    from: ({ dayOverridden = false }) => dayOverridden,
    description: 'True if the day differs from the one by the 4 AM rule.',
  },
  mealSummary: textOrNull,
  emoji: optional(text),
  calories: number,
  protein: number,
  carbs: number,
  fat: number,
  extendedNutrients: amounts,
  droppedNutrients: {
    ...amounts,
    optional: true,
    description: 'Nutrients that the registry did not define. They do not count.',
  },
  notes: optional(text),
  createdAt: text,
  updatedAt: optional(text),
  revision: integer,
  formatVersion: integer,
})

const definition = { type: 'object', properties: { unit: text, goal: number } } as const

/** The targets of a user. A target of 0 is disabled. A target that was never set is absent. Before the first change the version is 0. */
export const targets = shape<Partial<TargetsItem>>()({
  ...optionalMacros,
  displayUnit: { enum: ['kcal', 'kj'], type: 'string', from: ({ displayUnit = 'kcal' }) => displayUnit },
  nutrientRegistry: {
    type: 'object',
    additionalProperties: definition,
    from: ({ nutrientRegistry = {} }) => nutrientRegistry,
  },
  version: { ...integer, from: ({ version = 0 }) => version },
  effectiveFromDate: optional(text),
  updatedAt: optional(text),
})

interface Nutrient {
  readonly name: string
  /** Undefined if the registry does not contain the nutrient. */
  readonly known: NutrientRegistry[string] | undefined
  readonly version: number
}

export const nutrient = shape<Nutrient>()({
  name: text,
  unit: { ...text, optional: true, from: ({ known }) => known?.unit },
  goal: { ...number, optional: true, from: ({ known }) => known?.goal },
  removed: { ...bool, optional: true, from: ({ known }) => (known === undefined ? true : undefined) },
  version: integer,
})

const goals = shape<Goals>()({ ...optionalMacros, extendedNutrients: amounts, version: integer })

export const summary = shape<SummaryOfDay['summary'] & Pick<SummaryOfDay, 'day' | 'goals'>>()({
  userDate: { ...text, from: ({ day }) => day },
  type: text,
  totalCalories: number,
  totalProtein: number,
  totalCarbs: number,
  totalFat: number,
  extendedNutrients: amounts,
  mealCount: integer,
  updatedAt: text,
  targets: {
    ...goals.schema,
    optional: true,
    from: (day) => day.goals,
    description: 'The targets of that day. A disabled target is absent.',
  },
})

export const goneSchema = {
  type: 'object',
  required: ['id', 'deleted'],
  properties: { id: text, deleted: bool },
} as const
