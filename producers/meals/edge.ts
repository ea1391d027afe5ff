import { accessRefusals } from '../../projections/access/refusals.ts'
import { mealsRefusals } from '../../projections/meals/refusals.ts'
import { access } from '../access/access.ts'
import type { DomainEdge } from '../http/domain.ts'
import { dayRoutes } from './day-routes.ts'
import { mealRoutes } from './meal-routes.ts'
import { targetRoutes } from './target-routes.ts'

/** The edge of the meals domain. The composition root adds the log and the serving generation. */
export const mealsEdge: Pick<DomainEdge, 'name' | 'routes' | 'access' | 'refusals'> = {
  name: 'meals',
  routes: [...mealRoutes, ...dayRoutes, ...targetRoutes],
  access,
  refusals: [accessRefusals, mealsRefusals],
}
