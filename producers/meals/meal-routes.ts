import { isoOf, msOf } from '../../projections/meals/instant.ts'
import type { GoneMealItem, MealItem } from '../../projections/meals/items.ts'
import { goneMealKey, mealKey, mealNameOf } from '../../projections/meals/keys.ts'
import { Problem } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { mealLogged, newMealSchema } from './meal-bodies.ts'
import { mealSchema, mealView } from './views.ts'

const mealOf = async ({ caller: { reader, user } }: Call<unknown>, mealId: string): Promise<MealItem | undefined> => {
  const { eaten, uid } = mealNameOf(mealId) ?? { eaten: '', uid: '' }
  const [meal, gone] = (await reader.getMany([mealKey(user, eaten, uid), goneMealKey(user, mealId)])) as [MealItem | undefined, GoneMealItem | undefined]
  if (gone?.state === 'moved') return (await reader.get({ PK: gone.PK, SK: gone.to })) as MealItem | undefined
  return meal
}

const mealId = ({ params }: Call<unknown>): string => {
  const id = params['id'] ?? ''
  const eaten = mealNameOf(id)?.eaten
  if (eaten !== undefined && isReal(eaten)) return id
  throw noMeal(id)
}

const isReal = (iso: string): boolean => !Number.isNaN(msOf(iso)) && isoOf(msOf(iso)) === iso

const noMeal = (id: string) => new Problem(404, 'meal-not-found', `You have no meal ${id.slice(0, 100)}.`)

const logMeal = command({
  method: 'POST',
  url: '/v1/meals',
  summary: 'Log a meal.',
  body: newMealSchema,
  status: 201,
  result: mealSchema,
  decide: ({ body, newId }) => mealLogged(body, newId()),
  answer: async (call, { id = '' }) => {
    const meal = await mealOf(call, id)
    return meal && mealView(meal)
  },
})

const oneMeal = question({
  method: 'GET',
  url: '/v1/meals/:id',
  summary: 'One meal.',
  result: mealSchema,
  answer: async (call) => {
    const id = mealId(call)
    const meal = await mealOf(call, id)
    if (!meal) throw noMeal(id)
    return mealView(meal)
  },
})

export const mealRoutes: readonly Route[] = [logMeal, oneMeal]
