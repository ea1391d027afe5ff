import type { NutrientRegistryChangedData } from '../../schemas/generated/meals.ts'
import { targets as storedItems } from '../../projections/meals/keys.ts'
import { utcDay } from '../http/auth.ts'
import { dateIn } from '../http/instants.ts'
import { command, question, type Call, type Decision, type Route } from '../http/route.ts'
import { amountSchema, milli } from './nutrients.ts'
import { event, nutrientOf } from './params.ts'
import { nutrient, targets } from './views.ts'

const target = {
  ...amountSchema,
  type: ['number', 'null'],
  description: '0 disables the target. Null changes nothing.',
} as const
const version = {
  type: ['integer', 'null'],
  minimum: 0,
  maximum: 1e15,
  description: 'The version that you read. If the targets have another version, the request is refused.',
} as const

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
    effectiveFromDate: {
      type: ['string', 'null'],
      maxLength: 10,
      description: 'First day the targets apply to. Default: today (UTC).',
    },
  },
} as const

export const unitSchema = { type: ['string', 'null'], minLength: 1, maxLength: 20 } as const

const nutrientBody = {
  type: 'object',
  additionalProperties: false,
  properties: { unit: unitSchema, goal: target, version },
} as const

/** Returns null for null and for an absent amount. Both change nothing (M27). */
const milliOrNull = (amount: number | null | undefined, pointer: string) =>
  amount === null || amount === undefined ? null : milli(amount, pointer)

const current = (call: Pick<Call, 'caller'>) => storedItems.get(call.caller.reader, call.caller.user)

const storedTargets = async (call: Pick<Call, 'caller'>) => targets.view((await current(call)) ?? {})

const readTargets = question({
  method: 'GET',
  url: '/v1/targets',
  operationId: 'getTargets',
  summary: 'Get the daily targets and the nutrient registry.',
  result: targets.schema,
  answer: storedTargets,
})

const changeTargets = command({
  method: 'PATCH',
  url: '/v1/targets',
  operationId: 'changeTargets',
  summary: 'Change targets. 0 disables a target, null changes nothing.',
  body: targetsBody,
  status: 200,
  result: targets.schema,
  decide: ({ body, now }) => {
    const draft = event('TargetsChanged', {
      expectedVersion: body.version ?? null,
      calories: milliOrNull(body.calories, '/calories'),
      protein: milliOrNull(body.protein, '/protein'),
      carbs: milliOrNull(body.carbs, '/carbs'),
      fat: milliOrNull(body.fat, '/fat'),
      displayUnit: body.displayUnit ?? null,
      effectiveFromDate: dateIn(body.effectiveFromDate ?? utcDay(now), '/effectiveFromDate'),
    })
    return { draft }
  },
  answer: storedTargets,
})

const changed = (name: string, change: Partial<NutrientRegistryChangedData>): Decision => ({
  id: name,
  draft: event('NutrientRegistryChanged', {
    name,
    unit: null,
    goal: null,
    removed: false,
    expectedVersion: null,
    ...change,
  }),
})

const storedNutrient = async (call: Pick<Call, 'caller' | 'params'>) => {
  const [name, found] = [nutrientOf(call), await current(call)]
  return (
    found &&
    nutrient.view({
      name,
      known: Object.hasOwn(found.nutrientRegistry, name) ? found.nutrientRegistry[name] : undefined,
      version: found.version,
    })
  )
}

const defineNutrient = command({
  method: 'PUT',
  url: '/v1/nutrients/:name',
  operationId: 'defineNutrient',
  summary: 'Define a nutrient besides the main four, or change its unit or goal.',
  body: nutrientBody,
  status: 200,
  result: nutrient.schema,
  decide: (call) =>
    changed(nutrientOf(call), {
      unit: call.body.unit ?? null,
      goal: milliOrNull(call.body.goal, '/goal'),
      expectedVersion: call.body.version ?? null,
    }),
  answer: storedNutrient,
})

const removeNutrient = command({
  method: 'DELETE',
  url: '/v1/nutrients/:name',
  operationId: 'removeNutrient',
  summary: 'Remove a nutrient from the registry. Logged meals keep their amounts.',
  status: 200,
  result: nutrient.schema,
  decide: (call) => changed(nutrientOf(call), { removed: true }),
  answer: storedNutrient,
})

export const targetRoutes: readonly Route[] = [readTargets, changeTargets, defineNutrient, removeNutrient]
