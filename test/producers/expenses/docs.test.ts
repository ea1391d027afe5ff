import { expect, test } from 'vitest'
import { expensesEdge } from '../../../producers/expenses.ts'
import { send } from '../memory-edge.ts'
import { openExpenses } from './circle.ts'

test('GET /openapi.json describes every route of expenses', async () => {
  const edge = await openExpenses()
  const { body } = await send(edge.app, { url: '/openapi.json' })
  const described = Object.entries(body.paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
  expect(described).toEqual(expect.arrayContaining(expensesEdge.routes.map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`)))
})
