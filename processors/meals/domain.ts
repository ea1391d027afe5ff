import type { Domain } from '../../projections/projection.ts'
import { projection } from '../../projections/projection.ts'
import { USER_PARTITIONS } from '../../projections/access/keys.ts'
import { mealsPersonal } from '../../projections/meals/items.ts'
import { mealsTable } from '../../projections/meals/table.ts'
import type { CommonEvent } from '../../schemas/generated/common.ts'
import type { MealsEvent } from '../../schemas/generated/meals.ts'
import { forgetting } from '../folding/forgotten.ts'
import { accessFolds } from '../folding/tokens.ts'
import { mealCorrected, mealDayReassigned } from './corrected.ts'
import { mealDeleted, mealRestored } from './deleted.ts'
import { legacyMealAdopted, mealLogged } from './logged.ts'
import { nutrientRegistryChanged, targetsChanged } from './targets.ts'
import { mealsImported } from './imported.ts'

const { personalItems, personForgotten } = forgetting({ personal: mealsPersonal })

export const meals: Domain = {
  name: 'meals',
  topic: 'meals.events',
  table: mealsTable,
  partitions: USER_PARTITIONS,
  foldVersion: 1,
  personal: personalItems,
  projections: [
    projection<MealsEvent | CommonEvent>('meals', {
      MealLogged: mealLogged,
      MealCorrected: mealCorrected,
      MealDayReassigned: mealDayReassigned,
      MealDeleted: mealDeleted,
      MealRestored: mealRestored,
      LegacyMealAdopted: legacyMealAdopted,
      MealsImported: mealsImported,
      TargetsChanged: targetsChanged,
      NutrientRegistryChanged: nutrientRegistryChanged,
      ...accessFolds,
      PersonForgotten: personForgotten,
    }),
  ],
}
