import { accessRefusals } from '../projections/access/refusals.ts'
import { mealsRefusals } from '../projections/meals/refusals.ts'
import { access } from './access.ts'
import type { DomainEdge } from './http/domain.ts'
import { dayRoutes } from './meals/day-routes.ts'
import { mealRoutes } from './meals/meal-routes.ts'
import { targetRoutes } from './meals/target-routes.ts'

/** Meals at the edge: what the composition root adds is how to reach the log and the serving generation. */
export const mealsEdge: Pick<DomainEdge, 'name' | 'routes' | 'access' | 'refusals'> = {
  name: 'meals',
  routes: [...mealRoutes, ...dayRoutes, ...targetRoutes],
  access,
  refusals: [accessRefusals, mealsRefusals],
}
