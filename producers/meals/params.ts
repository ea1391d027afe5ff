import type { MealsEvent } from '../../schemas/generated/meals.ts'
import { isoOf, msOf } from '../../projections/instant.ts'
import { mealNameOf } from '../../projections/meals/keys.ts'
import { mealsRefusals } from '../../projections/meals/refusals.ts'
import { mealsQueries, type MealsQueries } from '../../projections/meals/queries.ts'
import { drafts } from '../http/drafts.ts'
import { pathId } from '../http/path-id.ts'
import { mistake, refusedEarly } from '../http/problem.ts'
import type { Call } from '../http/route.ts'
import { nutrientName } from './nutrients.ts'

const isReal = (iso: string): boolean => !Number.isNaN(msOf(iso)) && isoOf(msOf(iso)) === iso

const isMealId = (id: string): boolean => {
  const eaten = mealNameOf(id)?.eaten
  return eaten !== undefined && isReal(eaten)
}

/** Returns the Problem for a request that the folds would refuse. The edge throws it before it appends an event. */
const refused = refusedEarly(mealsRefusals)

export const mealOf = pathId('id', isMealId, (id) => refused('meal-not-found', `You have no meal ${id.slice(0, 100)}.`))

const NAME = new RegExp(nutrientName)
const FORBIDDEN: ReadonlySet<string> = new Set(['constructor', 'prototype'])

export const nutrientOf = pathId(
  'name',
  (name) => NAME.test(name) && !FORBIDDEN.has(name),
  () =>
    mistake(400, {
      pointer: 'params/name',
      code: 'bad-name',
      detail:
        'The name of a nutrient begins with a letter, followed by up to 39 letters, digits, _ or -. The names constructor and prototype are reserved.',
    }),
)

/** Returns the queries of the domain. They read the generation that answers the request. */
export const queriesOf = ({ caller: { reader } }: Pick<Call, 'caller'>): MealsQueries => mealsQueries(reader)

export const event = drafts<MealsEvent>()
