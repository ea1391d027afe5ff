import { expect, test } from 'vitest'
import { checkRoutes } from '../../../producers/http/route-checks.ts'
import { question, type JsonSchema } from '../../../producers/http/route.ts'
import { ourEdges } from '../our-edges.ts'

const edge = (
  name: string,
  url: string,
  { operationId = name, query }: { operationId?: string; query?: JsonSchema } = {},
) => ({
  name,
  routes: [
    question({
      method: 'GET',
      url,
      operationId,
      summary: 'Get nothing.',
      result: { type: 'object' },
      answer: async () => ({}),
      ...(query && { query }),
    }),
  ],
})

const fault = (message: RegExp) =>
  expect.objectContaining({ code: 'bad-config', message: expect.stringMatching(message) })

test('our domains pass', () => expect(() => checkRoutes(ourEdges())).not.toThrow())

test('two routes with one method and path are a fault, also if their parameters have other names', () => {
  expect(() => checkRoutes([edge('one', '/v1/things'), edge('other', '/v1/things')])).toThrow(
    fault(/Both the domain one and the domain other have the route GET \/v1\/things\./),
  )
  expect(() => checkRoutes([edge('one', '/v1/things/:id'), edge('other', '/v1/things/:name')])).toThrow(
    fault(/have the route GET \/v1\/things\/:id\./),
  )
})

test('two routes with one operationId are a fault', () => {
  const operationId = 'readThings'
  expect(() =>
    checkRoutes([edge('one', '/v1/one', { operationId }), edge('other', '/v1/other', { operationId })]),
  ).toThrow(fault(/have the operationId readThings\./))
})

test('a query parameter that is not a string is a fault, because the edge converts no values', () => {
  const query = { type: 'object', properties: { days: { type: 'integer' } } } as const
  expect(() => checkRoutes([edge('one', '/v1/one', { query })])).toThrow(
    fault(/The query parameter days of one has the type "integer", but a query contains only strings\./),
  )
})
