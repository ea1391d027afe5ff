import type { Standing } from '../../projections/meals/queries.ts'
import { listing } from '../http/lists.ts'
import { Problem } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { mealsQuery, pageOfMeals } from './lists.ts'
import { correctionSchema, mealCorrected, mealLogged, newMealSchema } from './meal-bodies.ts'
import { event, mealOf, queriesOf } from './params.ts'
import { goneSchema, meal } from './views.ts'

type Asked = Pick<Call, 'caller' | 'params'>

const standing = (call: Asked, id: string): Promise<Standing> => queriesOf(call).standing(call.caller.user, id)

/** The early look: a meal nobody heard of is not worth an event. What became of one that was heard of, the fold decides. */
const heardOf = async (call: Asked): Promise<Exclude<Standing, { state: 'unknown' }> & { id: string }> => {
  const id = mealOf(call)
  const found = await standing(call, id)
  if (found.state === 'unknown') throw mealOf.missing(id)
  return { id, ...found }
}

/** A command that comes again after its meal was deleted is answered as it was: with the meal. */
const stored = async (call: Asked, { id = '' }: { id?: string }) => {
  const found = await standing(call, id)
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
  summary: 'The meals of a day, of a span of days, or between two instants.',
  query: mealsQuery,
  of: meal,
  page: pageOfMeals,
})

const oneMeal = question({
  method: 'GET',
  url: '/v1/meals/:id',
  operationId: 'getMeal',
  summary: 'One meal, wherever it was moved to.',
  result: meal.schema,
  answer: async (call) => {
    const found = await heardOf(call)
    if (found.state === 'deleted') throw new Problem(404, 'meal-deleted', `Meal ${found.id} was deleted; POST /v1/meals/${found.id}/restore brings it back.`)
    return meal.view(found.meal)
  },
})

const correctMeal = command({
  method: 'PATCH',
  url: '/v1/meals/:id',
  operationId: 'correctMeal',
  summary: 'Correct a meal: its time, day, words or numbers. Fields that the body does not name stay.',
  body: correctionSchema,
  status: 200,
  result: meal.schema,
  decide: async (call) => {
    const { id, meal: current } = await heardOf(call)
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
    const { id } = await heardOf(call)
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
    const { id } = await heardOf(call)
    return { id, draft: event('MealRestored', { mealId: id }) }
  },
  answer: stored,
})

export const mealRoutes: readonly Route[] = [logMeal, listMeals, oneMeal, correctMeal, deleteMeal, restoreMeal]
