import { isoOf, msOf } from '../../projections/instant.ts'
import { mealNameOf } from '../../projections/meals/keys.ts'
import { mealsQueries, type Standing } from '../../projections/meals/queries.ts'
import { listOf } from '../http/lists.ts'
import { Problem } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { mealsAsked, mealsQuerySchema } from './lists.ts'
import { correctionSchema, mealCorrected, mealLogged, newMealSchema } from './meal-bodies.ts'
import { goneSchema, mealSchema, mealView } from './views.ts'

type Asked = Pick<Call, 'caller' | 'params'>

const standing = ({ caller: { reader, user } }: Asked, id: string): Promise<Standing> => mealsQueries(reader).standing(user, id)

const idOf = ({ params }: Asked): string => {
  const id = params['id'] ?? ''
  const eaten = mealNameOf(id)?.eaten
  if (eaten !== undefined && isReal(eaten)) return id
  throw noMeal(id)
}

const isReal = (iso: string): boolean => !Number.isNaN(msOf(iso)) && isoOf(msOf(iso)) === iso

const noMeal = (id: string) => new Problem(404, 'meal-not-found', `You have no meal ${id.slice(0, 100)}.`)

/** The early look: a meal nobody heard of is not worth an event. What became of one that was heard of, the fold decides. */
const heardOf = async (call: Asked): Promise<Exclude<Standing, { state: 'unknown' }> & { id: string }> => {
  const id = idOf(call)
  const found = await standing(call, id)
  if (found.state === 'unknown') throw noMeal(id)
  return { id, ...found }
}

/** A command that comes again after its meal was deleted is answered as it was: with the meal. */
const stored = async (call: Asked, { id = '' }: { id?: string }) => {
  const found = await standing(call, id)
  return found.state === 'unknown' || found.meal === null ? undefined : mealView(found.meal)
}

const logMeal = command({
  method: 'POST',
  url: '/v1/meals',
  operationId: 'logMeal',
  summary: 'Log a meal.',
  body: newMealSchema,
  status: 201,
  result: mealSchema,
  decide: ({ body, newId }) => mealLogged(body, newId()),
  answer: stored,
})

const listMeals = question({
  method: 'GET',
  url: '/v1/meals',
  operationId: 'listMeals',
  summary: 'The meals of a day, of a span of days, or between two instants.',
  query: mealsQuerySchema,
  result: listOf(mealSchema),
  answer: async ({ caller: { reader, user }, query }) => {
    const { items, ...rest } = await mealsAsked(mealsQueries(reader), user, query)
    return { items: items.map(mealView), ...rest }
  },
})

const oneMeal = question({
  method: 'GET',
  url: '/v1/meals/:id',
  operationId: 'getMeal',
  summary: 'One meal, wherever it was moved to.',
  result: mealSchema,
  answer: async (call) => {
    const found = await heardOf(call)
    if (found.state === 'deleted') throw new Problem(404, 'meal-deleted', `Meal ${found.id} was deleted; POST /v1/meals/${found.id}/restore brings it back.`)
    return mealView(found.meal)
  },
})

const correctMeal = command({
  method: 'PATCH',
  url: '/v1/meals/:id',
  operationId: 'correctMeal',
  summary: 'Correct a meal: its time, day, words or numbers. Fields that the body does not name stay.',
  body: correctionSchema,
  status: 200,
  result: mealSchema,
  decide: async (call) => {
    const { id, meal } = await heardOf(call)
    return mealCorrected(id, call.body, meal)
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
    return { id, draft: { type: 'MealDeleted', data: { mealId: id }, personal: null } }
  },
  answer: async (_call, { id }) => ({ id, deleted: true }),
})

const restoreMeal = command({
  method: 'POST',
  url: '/v1/meals/:id/restore',
  operationId: 'restoreMeal',
  summary: 'Restore a deleted meal as it was.',
  status: 200,
  result: mealSchema,
  decide: async (call) => {
    const { id } = await heardOf(call)
    return { id, draft: { type: 'MealRestored', data: { mealId: id }, personal: null } }
  },
  answer: stored,
})

export const mealRoutes: readonly Route[] = [logMeal, listMeals, oneMeal, correctMeal, deleteMeal, restoreMeal]
