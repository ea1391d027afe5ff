import type { FastifyInstance } from 'fastify'
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { docsPage, type OpenApi } from './docs-page.ts'

export const openapi = ({ version }: { version: string }): NonNullable<FastifyDynamicSwaggerOptions['openapi']> => ({
  openapi: '3.1.0',
  info: {
    title: 'Tributary',
    version,
    description: [
      'JSON in, JSON out; errors are application/problem+json with a stable `code`.',
      'Every command takes `Idempotency-Key` and `Prefer: respond-async`, and names its event in `Tributary-Event`.',
      'Every question takes `Tributary-After`, and then never shows less than that event.',
    ].join(' '),
  },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A personal access token.' } } },
})

/** `GET /openapi.json` and `GET /docs`, rendered when first asked for. */
export const addDocs = async (scope: FastifyInstance): Promise<void> => {
  let document: string | undefined
  let page: string | undefined
  const json = () => (document ??= JSON.stringify(scope.swagger()))
  scope.get('/openapi.json', { schema: { hide: true } }, (_request, reply) => reply.type('application/json').send(json()))
  scope.get('/docs', { schema: { hide: true } }, (_request, reply) => {
    page ??= docsPage(JSON.parse(json()) as OpenApi)
    return reply
      .headers({ 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'", 'x-content-type-options': 'nosniff' })
      .type('text/html; charset=utf-8')
      .send(page)
  })
}
