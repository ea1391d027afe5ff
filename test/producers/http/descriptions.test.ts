import { Parser } from '@asyncapi/parser'
import spectral from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import { beforeAll, describe, expect, test } from 'vitest'
import { oidcScheme } from '../../../producers/access/oidc.ts'
import { sessionRoutes } from '../../../producers/access/session-routes.ts'
import type { Sessions } from '../../../producers/access/sessions.ts'
import { ourEdges } from '../our-edges.ts'
import { createEdge } from '../../../producers/http/server.ts'
import { expand, fingerprintOf, type Field, type NamedSchema } from '../../../schemas/avro.ts'
import { latest, readLock } from '../../../schemas/lock.ts'
import { isEvent, readSources } from '../../../schemas/sources.ts'
import { OPEN_LIMITS } from '../../../testing/edge/edge.ts'
import { send, type AnswerBody } from '../../../testing/edge/request.ts'

/** The edge of every domain of the program. The tests read only its descriptions. */
const edges = ourEdges()
const unreachable = (): never => {
  throw new Error('a description needs neither the log nor a store')
}

const sessions: Sessions = {
  open: unreachable,
  find: unreachable,
  end: unreachable,
  endAll: unreachable,
  putOnce: unreachable,
  takeOnce: unreachable,
}

const openEveryEdge = async () => {
  const app = createEdge({
    domains: edges.map((edge) => ({
      ...edge,
      topic: `${edge.name}.events`,
      commands: { execute: unreachable, append: unreachable },
      serving: unreachable,
    })),
    clock: { now: () => 0 },
    ids: { uuidv7: () => '01935b7a-0000-7000-8000-000000000000' },
    randomBytes: unreachable,
    limits: OPEN_LIMITS,
    version: '0.0.0-test',
    signIn: {
      sessions,
      origins: [],
      schemes: [
        oidcScheme({
          issuer: 'https://id.example',
          audience: 'tributary',
          clock: { now: () => 0 },
          failed: unreachable,
        }),
      ],
    },
    live: {
      sleep: () => Promise.resolve(),
      connections: new Map([['scales', { opened: unreachable, closed: unreachable }]]),
      origins: [],
    },
  })
  await app.ready()
  return app
}

interface Operation {
  readonly operationId?: string
}

let openapi: AnswerBody
let asyncapi: AnswerBody

beforeAll(async () => {
  const app = await openEveryEdge()
  openapi = (await send(app, { url: '/openapi.json' })).body
  asyncapi = (await send(app, { url: '/asyncapi.json' })).body
})

describe('openapi.json', () => {
  const operations = () =>
    Object.entries(openapi.paths).flatMap(([path, methods]) =>
      Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
        route: `${method.toUpperCase()} ${path}`,
        ...operation,
      })),
    )

  test('a linter of OpenAPI finds nothing to report', async () => {
    const linter = new spectral.Spectral()
    // Disables two rules: the document names no contact, and operations have a summary instead of a description.
    linter.setRuleset({
      extends: [[oas as never, 'recommended']],
      rules: { 'info-contact': 'off', 'operation-description': 'off' },
    })
    const found = await linter.run(JSON.stringify(openapi))
    expect(found.map(({ code, message, path }) => `${code}: ${message} (${path.join('/')})`)).toEqual([])
  }, 60_000)

  test('every route has an operation id that no other route has, and that a client generator can use as a name', () => {
    // The routes for tokens, usage and sessions are the same in all domains, and are once in the document.
    const routes = [
      ...(edges[0]?.access.routes ?? []),
      ...sessionRoutes(sessions),
      ...edges.flatMap(({ routes: table, webhooks = [], live }) => [
        ...table,
        ...webhooks,
        ...webhooks
          .filter(({ challenge }) => challenge !== undefined)
          .map(({ operationId }) => ({ operationId: `${operationId}Challenge` })),
        ...(live === undefined ? [] : [live]),
      ]),
    ]
    expect(
      operations()
        .map(({ operationId }) => operationId)
        .sort(),
    ).toEqual(routes.map(({ operationId }) => operationId).sort())
    expect(operations().filter(({ operationId }) => !/^[a-z]+([A-Z][a-z]+)+$/.test(operationId ?? ''))).toEqual([])
    expect(new Set(operations().map(({ operationId }) => operationId)).size).toBe(operations().length)
  })
})

describe('asyncapi.json', () => {
  interface Channel {
    readonly messages: Readonly<
      Record<
        string,
        {
          readonly summary?: string
          readonly 'x-schema-id'?: number
          readonly payload: { readonly schema: NamedSchema }
        }
      >
    >
  }
  const messagesOf = (domain: string) =>
    (asyncapi['channels'] as Readonly<Record<string, Channel>>)[`${domain}Events`]?.messages ?? {}

  test('the parser of AsyncAPI accepts it', async () => {
    const { document, diagnostics } = await new Parser().parse(JSON.stringify(asyncapi))
    expect(
      diagnostics
        .filter(({ severity }) => severity <= WARNING)
        .map(({ code, message, path }) => `${code}: ${message} (${path.join('/')})`),
    ).toEqual([])
    expect(document?.allMessages().length).toBeGreaterThan(50)
  }, 60_000)

  test('it contains the docs of every event and of every field, as the schemas have them', () => {
    const events = readSources().filter(({ schema }) => isEvent(schema))
    for (const { domain, schema } of events) {
      const message = messagesOf(domain === 'common' ? 'meals' : domain)[schema.name]
      expect(message).toMatchObject({
        summary: schema.doc,
        payload: { schema: { name: schema.name, namespace: schema.namespace, doc: schema.doc } },
      })
      expect(docsOf(message?.payload.schema)).toEqual(docsOf(schema))
    }
    const meta = readSources().find(({ schema }) => schema.name === 'EventMeta')
    const logged = messagesOf('meals')['MealLogged']?.payload.schema
    expect(logged?.type === 'record' ? logged.fields[0]?.type : undefined).toMatchObject({
      name: 'EventMeta',
      doc: meta?.schema.doc,
    })
  })

  test('a schema in it is the schema with its id in the lock: only docs are added', () => {
    const byId = new Map([...latest(readLock()).values()].map((entry) => [entry.id, entry]))
    for (const { 'x-schema-id': id, payload } of Object.values(messagesOf('scales')))
      expect(fingerprintOf(expand(payload.schema, new Map()))).toBe(byId.get(id ?? 0)?.fingerprint)
  })
})

/** Severities of the parser's diagnostics: 0 is an error, 1 a warning, 2 a hint such as a newer version of AsyncAPI. */
const WARNING = 1

const docsOf = (schema: NamedSchema | undefined): readonly (readonly [string, string | undefined])[] =>
  (schema?.type === 'record' ? schema.fields : []).map(({ name, doc }: Field) => [name, doc])
