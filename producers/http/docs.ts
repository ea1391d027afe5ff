import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify'
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { asyncapi, type AsyncApiParts } from './asyncapi.ts'
import { docsPage, type OpenApi } from './docs-page.ts'
import type { DomainEdge } from './domain.ts'
import type { Scheme } from './scheme.ts'
import type { EdgeDeps } from './server.ts'
import { schemesOf } from './sign-in.ts'

interface Described extends Pick<EdgeDeps, 'signIn' | 'publicUrl'> {
  readonly version: string
  readonly domains: readonly Pick<DomainEdge, 'name' | 'schemes' | 'live'>[]
}

export const openapi = ({
  version,
  domains,
  ...deps
}: Described): NonNullable<FastifyDynamicSwaggerOptions['openapi']> => ({
  openapi: '3.1.0',
  info: {
    title: 'Tributary',
    version,
    description: [
      'Requests and answers are JSON. Errors are application/problem+json with a stable `code`.',
      'Every POST, PUT, PATCH and DELETE accepts `Idempotency-Key` and `Prefer: respond-async`, and returns its event in `Tributary-Event`, unless its description lists no such headers.',
      'Every GET accepts `Tributary-After` and then answers with that event included. The description of a route names an exception.',
    ].join(' '),
    license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
  },
  servers: [{ url: '/' }],
  tags: tagsOf(domains),
  components: {
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer', description: 'A personal access token.' },
      ...Object.fromEntries(
        [...domains.flatMap(({ schemes = [] }) => schemes), ...schemesOf(deps)].map(
          ({ name, description, openapi = { type: 'http', scheme: name } }) => [name, { ...openapi, description }],
        ),
      ),
    },
  },
})

/** The tag of routes that push changes over a WebSocket. */
export const LIVE_TAG = 'live'

const tagsOf = (domains: Described['domains']): { name: string; description: string }[] => [
  ...domains.map(({ name }) => ({ name, description: `The routes of the domain ${name}.` })),
  ...(domains.some(({ live }) => live !== undefined)
    ? [{ name: LIVE_TAG, description: 'Routes that push changes over a WebSocket.' }]
    : []),
]

/** The `security` of a route in OpenAPI: a token, or credentials of one of the schemes. */
export const securityOf = (schemes: readonly Scheme[]): readonly Readonly<Record<string, readonly string[]>>[] => [
  { token: [] },
  ...schemes.map(({ name }) => ({ [name]: [] })),
]

const text = (description: string) => ({ type: 'string', description })

const afterHeader = {
  'Tributary-After': text('The Tributary-Event of an earlier answer. The answer then includes that event.'),
}
const commandHeaders = {
  'Idempotency-Key': text(
    'A repeated request with the same key and body gets the same answer. With another body it is refused.',
  ),
  Prefer: text('respond-async: the answer is 202 as soon as the event is in the log.'),
}

/** Adds the common request headers to the description of a route with authentication. The edge reads these headers, but no schema checks them. */
export const described = <S extends FastifySchema>({
  schema,
  url,
  route: { method, config },
}: {
  schema: S
  url: string
  route: { method: string | string[]; config?: FastifyContextConfig }
}): { schema: S; url: string } => {
  if (!schema?.security) return { schema, url }
  const isCommand = method !== 'GET' && method !== 'HEAD' && config?.isAction !== true
  const properties = isCommand ? { ...afterHeader, ...commandHeaders } : afterHeader
  return { schema: { ...schema, headers: { type: 'object', properties } }, url }
}

/** Adds `GET /openapi.json`, `GET /asyncapi.json` and `GET /docs`. Each is rendered at its first request. */
export const addDocs = async (scope: FastifyInstance, parts: AsyncApiParts): Promise<void> => {
  let events: string | undefined
  let document: string | undefined
  let page: string | undefined
  const json = () => (document ??= JSON.stringify(scope.swagger()))
  scope.get('/openapi.json', { schema: { hide: true } }, (_request, reply) =>
    reply.type('application/json').send(json()),
  )
  scope.get('/asyncapi.json', { schema: { hide: true } }, (_request, reply) =>
    reply.type('application/json').send((events ??= JSON.stringify(asyncapi(parts)))),
  )
  scope.get('/docs', { schema: { hide: true } }, (_request, reply) => {
    page ??= docsPage(JSON.parse(json()) as OpenApi)
    return reply
      .headers({
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
        'x-content-type-options': 'nosniff',
      })
      .type('text/html; charset=utf-8')
      .send(page)
  })
}
