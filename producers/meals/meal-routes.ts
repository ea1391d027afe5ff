import type { MealState } from '../../projections/meals/queries.ts'
import { listing } from '../http/lists.ts'
import { Problem } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { mealsQuery, pageOfMeals } from './lists.ts'
import { correctionSchema, mealCorrected, mealLogged, newMealSchema } from './meal-bodies.ts'
import { event, mealOf, queriesOf } from './params.ts'
import { goneSchema, meal } from './views.ts'

type RequestCall = Pick<Call, 'caller' | 'params'>

const mealStateOf = (call: RequestCall, id: string): Promise<MealState> =>
  queriesOf(call).mealState(call.caller.user, id)

/**
 * Returns the meal of the request, also if it is deleted: the fold decides about deleted meals. If the meal never existed, throws
 * `meal-not-found` (404), so that no event is appended.
 */
const requireMeal = async (call: RequestCall): Promise<Exclude<MealState, { state: 'unknown' }> & { id: string }> => {
  const id = mealOf(call)
  const found = await mealStateOf(call, id)
  if (found.state === 'unknown') throw mealOf.missing(id)
  return { id, ...found }
}

/** Returns the meal as the answer to a command. If the command is repeated after the meal was deleted, returns the deleted meal. */
const stored = async (call: RequestCall, { id = '' }: { id?: string }) => {
  const found = await mealStateOf(call, id)
  return found.state === 'unknown' || found.meal === null ? undefined : meal.view(found.meal)
}

const logMeal = command({
  method: 'POST',
  url: '/v1/meals',
  operationId: 'logMeal',
  summary: 'Log a meal.',
  body: newMealSchema,
  status: 201,
  result: meal.schema,
  decide: ({ body, newId }) => mealLogged(body, newId()),
  answer: stored,
})

const listMeals = listing({
  url: '/v1/meals',
  operationId: 'listMeals',
  summary: 'List the meals of a day, of a range of days, or between two instants.',
  query: mealsQuery,
  of: meal,
  page: pageOfMeals,
})

const oneMeal = question({
  method: 'GET',
  url: '/v1/meals/:id',
  operationId: 'getMeal',
  summary: 'Get one meal. A moved meal keeps its id.',
  result: meal.schema,
  answer: async (call) => {
    const found = await requireMeal(call)
    if (found.state === 'deleted')
      throw new Problem(
        404,
        'meal-deleted',
        `Meal ${found.id} is deleted. Restore it with POST /v1/meals/${found.id}/restore.`,
      )
    return meal.view(found.meal)
  },
})

const correctMeal = command({
  method: 'PATCH',
  url: '/v1/meals/:id',
  operationId: 'correctMeal',
  summary: 'Correct the time, day, texts or numbers of a meal. Fields that are not in the body stay.',
  body: correctionSchema,
  status: 200,
  result: meal.schema,
  decide: async (call) => {
    const { id, meal: current } = await requireMeal(call)
    return mealCorrected(id, call.body, current)
  },
  answer: stored,
})

const deleteMeal = command({
  method: 'DELETE',
  url: '/v1/meals/:id',
  operationId: 'deleteMeal',
  summary: 'Delete a meal. It can be restored.',
  status: 200,
  result: goneSchema,
  decide: async (call) => {
    const { id } = await requireMeal(call)
    return { id, draft: event('MealDeleted', { mealId: id }) }
  },
  answer: async (_call, { id }) => ({ id, deleted: true }),
})

const restoreMeal = command({
  method: 'POST',
  url: '/v1/meals/:id/restore',
  operationId: 'restoreMeal',
  summary: 'Restore a deleted meal as it was.',
  status: 200,
  result: meal.schema,
  decide: async (call) => {
    const { id } = await requireMeal(call)
    return { id, draft: event('MealRestored', { mealId: id }) }
  },
  answer: stored,
})

export const mealRoutes: readonly Route[] = [logMeal, listMeals, oneMeal, correctMeal, deleteMeal, restoreMeal]
