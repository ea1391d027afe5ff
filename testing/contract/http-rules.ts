import fc from 'fast-check'
import { Check } from 'typebox/schema'
import { expect } from 'vitest'
import type { JsonSchema, Route } from '../../producers/http/route.ts'
import { send, type EdgeRequest } from '../edge/request.ts'
import { propertyRuns } from '../property-runs.ts'
import type { Rule, Scene } from './case.ts'
import { expectAnswer, expectRefusal, inScene } from './http-answers.ts'
import { bodyOf, membersOf, pathOf, plainPath, queryOf, requiredOf, valueOf, type Method } from './http-values.ts'
import type { EdgeCase } from './scene.ts'

/** Returns the routes of the domain, and the routes of tokens. */
const routesOf = ({ routes, access }: EdgeCase['domainEdge']): readonly Route[] => [...routes, ...access.routes]

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

const strangePaths = inScene(async ({ domainEdge, unavailable }, scene) => {
  const { values } = scene
  const request = fc
    .constantFrom(...routesOf(domainEdge))
    .chain((route) =>
      fc.tuple(pathOf(route, values, true), queryOf(route, values), fc.constantFrom<Method>(...METHODS, route.method)),
    )
  await fc.assert(
    fc.asyncProperty(request, async ([path, query, method]) => {
      await expectAnswer({ method, url: `${path}${query === '' ? '' : `?${query}`}` }, scene, { unavailable })
    }),
    propertyRuns(1000),
  )
})

type Commanding = Exclude<Route, { method: 'GET' }>
const isCommand = (route: Route): route is Commanding => route.method !== 'GET'
const commandsOf = ({ domainEdge }: EdgeCase): readonly Commanding[] => routesOf(domainEdge).filter(isCommand)

const changedBodies = inScene(async (subject, scene) => {
  const { values } = scene
  const commands = commandsOf(subject)
  if (commands.length === 0) return
  const request = fc
    .constantFrom(...commands)
    .chain((route) => fc.tuple(fc.constant(route), pathOf(route, values), bodyOf(route.body, values)))
  await fc.assert(
    fc.asyncProperty(request, async ([route, url, body]) => {
      await expectAnswer({ method: route.method, url, body }, scene, { unavailable: subject.unavailable, route })
    }),
    propertyRuns(1000),
  )
})

/** Rule: each command accepts at least one body that fits its schema. Otherwise the other rules would test only the checks of the schema. */
const passesSchema = inScene(async (subject, scene) => {
  for (const route of commandsOf(subject)) {
    const statuses = new Set<number>()
    for (const body of fc.sample(valueOf(route.body, scene.values), { numRuns: 40, seed: 7 })) {
      const { status } = await expectAnswer(
        { method: route.method, url: plainPath(route, scene.values), body },
        scene,
        { unavailable: subject.unavailable, route },
      )
      statuses.add(status)
      if (status !== 400) break
    }
    expect(
      [...statuses].filter((status) => status !== 400),
      `${route.method} ${route.url} accepts a body that fits its schema: add values`,
    ).not.toEqual([])
  }
})

/** Returns a value that the schema does not allow. Undefined if the schema allows a value of every type. */
const wrongFor = (schema: JsonSchema): unknown =>
  [[[]], { no: 'such' }, true, 1.5, 'x', null].find((value) => !Check(schema, value))

/** Returns a body that fits the route's schema. */
const goodBody = ({ body }: Commanding, { values }: Scene): Readonly<Record<string, unknown>> => {
  const [good] = fc.sample(valueOf(body, values), { numRuns: 1, seed: 7 })
  return (typeof good === 'object' && good !== null ? good : {}) as Readonly<Record<string, unknown>>
}

const badBodies = inScene(async (subject, scene) => {
  for (const route of commandsOf(subject)) {
    const { method, body: schema } = route
    const url = plainPath(route, scene.values)
    const body = goodBody(route, scene)
    for (const name of requiredOf(schema))
      await expectRefusal({ method, url, body: { ...body, [name]: undefined } }, scene, {
        code: 'missing-field',
        pointer: `/${name}`,
      })
    await expectRefusal({ method, url, body: { ...body, 'no-such-field': 1 } }, scene, {
      code: 'unknown-field',
      pointer: '/no-such-field',
    })
    for (const [name, member] of Object.entries(membersOf(schema))) {
      const wrong = wrongFor(member)
      if (wrong !== undefined)
        await expectRefusal({ method, url, body: { ...body, [name]: wrong } }, scene, { pointer: `/${name}` })
    }
    for (const other of [[body], 'text', 7, true])
      await expectRefusal({ method, url, body: other }, scene, { code: 'wrong-type' })
    for (const [raw, code] of [
      ['{"a":', 'malformed-json'],
      ['{"a":1,"a":2}', 'duplicate-field'],
      ['{"__proto__":{}}', 'forbidden-name'],
    ] as const)
      await expectRefusal({ method, url, raw }, scene, { code })
  }
})

const isList = ({ query }: Route): boolean => Object.hasOwn(membersOf(query), 'cursor')

/** The required query parameters of the route, each with the first value that the scene has for this name. */
const neededQuery = ({ query }: Route, { values }: Scene): Readonly<Record<string, string>> =>
  Object.fromEntries(requiredOf(query).map((name) => [name, String((values[name] ?? [])[0] ?? '')]))

const badQueries = inScene(async ({ domainEdge }, scene) => {
  for (const route of routesOf(domainEdge)) {
    const { method } = route
    const path = plainPath(route, scene.values)
    const needed = neededQuery(route, scene)
    const withQuery = (more: Readonly<Record<string, string>>): EdgeRequest => ({
      method,
      url: `${path}?${new URLSearchParams({ ...needed, ...more }).toString()}`,
      ...(isCommand(route) && { body: goodBody(route, scene) }),
    })
    // An outside service can add parameters to the URL of an action to which it sends people.
    if (!('perform' in route && route.query?.['additionalProperties'] === true))
      await expectRefusal(withQuery({ 'no-such-parameter': '1' }), scene, { code: 'unknown-field' })
    if (!isList(route)) continue
    for (const limit of ['0', '-1', '201']) await expectRefusal(withQuery({ limit }), scene, { code: 'out-of-range' })
    for (const limit of ['ten', '1e2', '1.5']) await expectRefusal(withQuery({ limit }), scene, { code: 'bad-format' })
  }
})

const invalidTokens = inScene(async ({ domainEdge }, scene) => {
  for (const route of routesOf(domainEdge)) {
    const { method } = route
    const url = plainPath(route, scene.values)
    for (const authorization of ['', 'Bearer ', 'Bearer x', 'Basic x'])
      await expectRefusal({ method, url, headers: { authorization } }, scene, { status: 401 })
  }
})

interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
  readonly requestBody?: object
  readonly responses?: Readonly<Record<string, object>>
}

const isDescribed = inScene(async ({ domainEdge }, { edge }) => {
  const { webhooks = [], live } = domainEdge
  const routes = routesOf(domainEdge)
  const { status, body } = await send(edge.app, { url: '/openapi.json' })
  expect([status, body['openapi']]).toEqual([200, '3.1.0'])
  const described = new Map<string, Operation>(
    Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.entries(methods as Record<string, Operation>).map(
        ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
      ),
    ),
  )
  const templateOf = (url: string): string => url.replace(/:(\w+)/g, '{$1}')
  const others = [...webhooks, ...(live === undefined ? [] : [live])].map(({ url }) => templateOf(url))
  expect([...described.keys()].filter((name) => !others.includes(name.slice(name.indexOf(' ') + 1))).sort()).toEqual(
    routes.map(({ method, url }) => `${method} ${templateOf(url)}`).sort(),
  )
  for (const route of routes) {
    const name = `${route.method} ${templateOf(route.url)}`
    const { operationId, summary, parameters = [], requestBody, responses = {} } = described.get(name) ?? {}
    expect(operationId, name).toMatch(/^[a-z]+([A-Z][a-z]+)+$/)
    expect(summary, name).toMatch(/\w/)
    expect(
      parameters
        .filter((each) => each.in === 'path')
        .map((each) => each.name)
        .sort(),
      name,
    ).toEqual([...route.url.matchAll(/:(\w+)/g)].map(([, each]) => each).sort())
    expect(
      parameters
        .filter((each) => each.in === 'query')
        .map((each) => each.name)
        .sort(),
      name,
    ).toEqual(Object.keys(membersOf(route.query)).sort())
    if (Object.keys(membersOf('body' in route ? route.body : undefined)).length > 0)
      expect(requestBody, name).toBeDefined()
    expect(Object.keys(responses), name).toEqual(
      expect.arrayContaining([String('status' in route ? route.status : 200), 'default']),
    )
  }
  const ids = [...described.values()].map(({ operationId }) => operationId)
  expect(new Set(ids).size, 'different operation ids').toBe(ids.length)
})

export const HTTP_RULES: Readonly<Record<string, Rule<EdgeCase>>> = {
  'a request with any path, query and method is answered, and its text becomes no log key': strangePaths,
  'a request with any body is answered as its route declares, or refused': changedBodies,
  'the schema of every command accepts a body that fits it': passesSchema,
  'a body that does not fit its schema is refused at its place, and nothing is appended': badBodies,
  'an unknown query parameter and a wrong limit are refused': badQueries,
  'a request without a valid token is refused': invalidTokens,
  'GET /openapi.json describes every route, and no other': isDescribed,
}
