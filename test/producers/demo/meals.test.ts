import { expect, test } from 'vitest'
import { mealsTraffic } from '../../../producers/meals/demo-traffic.ts'
import type { SimulatedRequest } from '../../../producers/demo/request.ts'
import { NOON } from '../../../testing/event.ts'
import { send } from '../../../testing/edge/request.ts'
import { openMealsEdge } from '../meals/edge.ts'

const first = (count: number, seed: number): readonly SimulatedRequest[] => {
  const traffic = mealsTraffic({ seed, users: ['demo-1', 'demo-2', 'demo-3'], now: NOON })
  return Array.from({ length: count }, () => traffic.next().value)
}

test('the same seed gives the same traffic, another seed another', () => {
  expect(first(200, 1)).toEqual(first(200, 1))
  expect(first(200, 1)).not.toEqual(first(200, 2))
})

test('the edge accepts all requests, and every kind of request occurs', async () => {
  const edge = await openMealsEdge()
  const tokens = new Map<string, string>()
  for (const user of ['demo-1', 'demo-2', 'demo-3']) tokens.set(user, await edge.token(user))
  for (const { user, method, path, headers, body } of first(1_000, 7)) {
    const { status, text } = await send(edge.app, { method, url: path, token: tokens.get(user) ?? '', headers, body })
    if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${text}`)
  }
  const types = new Set(edge.events.map(({ type }) => type))
  expect([...types].sort()).toEqual([
    'MealCorrected',
    'MealDeleted',
    'MealLogged',
    'MealRestored',
    'NutrientRegistryChanged',
    'PatIssued',
    'PatUsed',
    'TargetsChanged',
  ])
  expect(new Set([...edge.outcomes.values()].map(({ kind }) => kind))).toEqual(new Set(['applied']))
})
