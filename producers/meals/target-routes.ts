import type { NutrientRegistryChangedData, TargetsChangedData } from '../../schemas/generated/meals.ts'
import { mealsQueries } from '../../projections/meals/queries.ts'
import { utcDay } from '../http/auth.ts'
import { dateIn } from '../http/instants.ts'
import { mistake } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { amountSchema, milli, nutrientName } from './nutrients.ts'
import { nutrientSchema, nutrientView, targetsSchema, targetsView } from './views.ts'

const target = { ...amountSchema, type: ['number', 'null'], description: '0 disables the target, null leaves it as it is.' } as const
const version = { type: ['integer', 'null'], minimum: 0, maximum: 1e15, description: 'Refused when the targets are at another version.' } as const

const targetsBody = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    calories: target,
    protein: target,
    carbs: target,
    fat: target,
    displayUnit: { type: ['string', 'null'], enum: ['kcal', 'kj', null] },
    version,
    effectiveFromDate: { type: ['string', 'null'], maxLength: 10, description: 'First day the targets apply to. Default: today (UTC).' },
  },
} as const

export const unitSchema = { type: ['string', 'null'], minLength: 1, maxLength: 20 } as const

const nutrientBody = {
  type: 'object',
  additionalProperties: false,
  properties: {
    unit: unitSchema,
    goal: target,
    version,
  },
} as const

/** Null is not said (M27). */
const milliOrNull = (amount: number | null | undefined, pointer: string) => (amount === null || amount === undefined ? null : milli(amount, pointer))

const current = ({ caller: { reader, user } }: Pick<Call, 'caller'>) => mealsQueries(reader).targets(user)

const readTargets = question({
  method: 'GET',
  url: '/v1/targets',
  operationId: 'getTargets',
  summary: 'The daily targets and the nutrient registry.',
  result: targetsSchema,
  answer: async (call) => targetsView(await current(call)),
})

const changeTargets = command({
  method: 'PATCH',
  url: '/v1/targets',
  operationId: 'changeTargets',
  summary: 'Change some targets: 0 disables one, null leaves it as it is.',
  body: targetsBody,
  status: 200,
  result: targetsSchema,
  decide: ({ body, now }) => {
    const data: TargetsChangedData = {
      expectedVersion: body.version ?? null,
      calories: milliOrNull(body.calories, '/calories'),
      protein: milliOrNull(body.protein, '/protein'),
      carbs: milliOrNull(body.carbs, '/carbs'),
      fat: milliOrNull(body.fat, '/fat'),
      displayUnit: body.displayUnit ?? null,
      effectiveFromDate: dateIn(body.effectiveFromDate ?? utcDay(now), '/effectiveFromDate'),
    }
    return { draft: { type: 'TargetsChanged', data, personal: null } }
  },
  answer: async (call) => targetsView(await current(call)),
})

const NAME = new RegExp(nutrientName)
const FORBIDDEN: ReadonlySet<string> = new Set(['constructor', 'prototype'])

const nameOf = ({ params }: Pick<Call, 'params'>): string => {
  const name = params['name'] ?? ''
  if (NAME.test(name) && !FORBIDDEN.has(name)) return name
  throw mistake(400, { pointer: 'params/name', code: 'bad-name', detail: 'A nutrient is named by a letter and up to 39 letters, digits, _ or -, and not like a part of every object.' })
}

const changed = (name: string, change: Partial<NutrientRegistryChangedData>) => {
  const data: NutrientRegistryChangedData = { name, unit: null, goal: null, removed: false, expectedVersion: null, ...change }
  return { id: name, draft: { type: 'NutrientRegistryChanged', data, personal: null } }
}

const nutrient = async (call: Pick<Call, 'caller' | 'params'>) => {
  const targets = await current(call)
  return targets && nutrientView(nameOf(call), targets.nutrientRegistry, targets.version)
}

const defineNutrient = command({
  method: 'PUT',
  url: '/v1/nutrients/:name',
  operationId: 'defineNutrient',
  summary: 'Define a nutrient beside the main four, or change its unit or goal.',
  body: nutrientBody,
  status: 200,
  result: nutrientSchema,
  decide: (call) =>
    changed(nameOf(call), { unit: call.body.unit ?? null, goal: milliOrNull(call.body.goal, '/goal'), expectedVersion: call.body.version ?? null }),
  answer: nutrient,
})

const removeNutrient = command({
  method: 'DELETE',
  url: '/v1/nutrients/:name',
  operationId: 'removeNutrient',
  summary: 'Remove a nutrient from the registry. Meals keep what they counted.',
  status: 200,
  result: nutrientSchema,
  decide: (call) => changed(nameOf(call), { removed: true }),
  answer: nutrient,
})

export const targetRoutes: readonly Route[] = [readTargets, changeTargets, defineNutrient, removeNutrient]
