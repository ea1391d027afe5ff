import type { Domain } from '../../projections/projection.ts'
import { projection } from '../../projections/projection.ts'
import { mealsTable } from '../../projections/meals/table.ts'
import type { LegacyMealAdopted, MealLogged } from '../../schemas/generated/meals.ts'
import { legacyMealAdopted, mealLogged } from './logged.ts'

export const meals: Domain = {
  name: 'meals',
  topic: 'meals.events',
  table: mealsTable,
  foldVersion: 1,
  projections: [projection<MealLogged | LegacyMealAdopted>('meals', { MealLogged: mealLogged, LegacyMealAdopted: legacyMealAdopted })],
}
