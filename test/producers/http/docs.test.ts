import { expect, test } from 'vitest'
import { send } from '../../../testing/edge/request.ts'
import { openMealsEdge } from '../meals/edge.ts'

test('the document contains the routes and headers of meals', async () => {
  const { app } = await openMealsEdge()
  const { body } = await send(app, { url: '/openapi.json' })
  expect(Object.keys(body.paths).sort()).toEqual([
    '/v1/days-logged',
    '/v1/meals',
    '/v1/meals/{id}',
    '/v1/meals/{id}/restore',
    '/v1/nutrients/{name}',
    '/v1/summaries',
    '/v1/targets',
    '/v1/tokens',
    '/v1/tokens/{id}',
    '/v1/usage',
  ])
})

test('GET /docs is one page without scripts', async () => {
  const { app } = await openMealsEdge()
  const { status, text, headers } = await send(app, { url: '/docs' })
  expect(status).toBe(200)
  expect(headers['content-type']).toContain('text/html')
  expect(headers['content-security-policy']).toContain("default-src 'none'")
  expect(text).toContain('/v1/meals/{id}/restore')
  expect(text).not.toContain('<script')
})

test('the document contains the headers of commands and GET routes, and the form of errors', async () => {
  const { app } = await openMealsEdge()
  const { body } = await send(app, { url: '/openapi.json' })
  expect(body.paths['/v1/meals']).toMatchObject({
    get: { parameters: expect.arrayContaining([expect.objectContaining({ in: 'header', name: 'Tributary-After' })]) },
    post: {
      parameters: expect.arrayContaining([expect.objectContaining({ in: 'header', name: 'Idempotency-Key' })]),
      responses: { default: { content: { 'application/problem+json': { schema: { type: 'object' } } } } },
    },
  })
})
