import fc from 'fast-check'
import { Check } from 'typebox/schema'
import { expect } from 'vitest'
import type { JsonSchema, Route } from '../../producers/http/route.ts'
import { DERIVED_SOURCE, type Event } from '../../schemas/event.ts'
import { send, type Answered, type Sent } from '../producers/memory-edge.ts'
import { tries } from '../services/available.ts'
import type { Rule } from './domain-case.ts'
import { bodyOf, membersOf, pathOf, plainPath, queryOf, requiredOf, valueOf, type EdgeCase, type Method, type Scene } from './domain-requests.ts'

/** Opens the scene, applies the rule to it, and checks what must hold after any requests. */
const inScene = (rule: (subject: EdgeCase, scene: Scene) => Promise<void>): Rule<EdgeCase> => async (subject) => {
  const scene = await subject.open()
  try {
    await rule(subject, scene)
    await subject.check?.(scene)
  } finally {
    await scene.edge.app.close()
  }
}

/** The routes of the domain, and those of its tokens. */
const routesOf = ({ routes, access }: EdgeCase['parts']): readonly Route[] => [...routes, ...access.routes]

const nameOf = ({ method = 'GET', url }: Sent): string => `${method} ${url.slice(0, 200)}`

const isProblem = ({ status, headers, body }: Answered, name: string): void => {
  expect(String(headers['content-type']), name).toContain('application/problem+json')
  expect(body, name).toMatchObject({ code: expect.stringMatching(/^[a-z0-9-]+$/), status, title: expect.any(String), detail: expect.any(String) })
}

/** A log key is an id, or ids with a prefix: nothing that could be part of another key. */
const LOG_KEY = /^[A-Za-z0-9][A-Za-z0-9_.:@+/=-]{0,131}$/

/** An event of the request itself, not of its token and not derived from another event. */
const isSaid = ({ type, meta }: Event): boolean => type !== 'PatUsed' && type !== 'ApiUsageSampled' && meta.source !== DERIVED_SOURCE

/**
 * The rules for any request. The edge answers it. An error is a problem document. A refused request leaves no event, or one that the
 * fold refused. Every event has a sound key. A success has the form that the route declares.
 */
const answered = async (sent: Sent, { edge, token }: Scene, { unavailable = [], route }: { readonly unavailable?: readonly string[] | undefined; readonly route?: Route }): Promise<Answered> => {
  const before = edge.events.length
  const answer = await send(edge.app, { token, ...sent })
  const { status, body, text } = answer
  const appended = edge.events.slice(before).map((event, index) => ({ ...event, outcome: edge.outcomes.get(before + index) })).filter(isSaid)
  if (status >= 500 && !unavailable.includes(String(body['code']))) throw new Error(`${nameOf(sent)} was answered ${status}: ${text}`)
  if (status >= 400) {
    isProblem(answer, nameOf(sent))
    if (appended.length > 0) expect([appended.at(-1)?.outcome?.kind, status], nameOf(sent)).toEqual(['refused', expect.toSatisfy((each: number) => [403, 404, 409, 422].includes(each))])
  } else if (route !== undefined && 'status' in route && route.status === status) expect(Check(route.result, body), `${nameOf(sent)} answered what its schema does not allow: ${text}`).toBe(true)
  for (const { type, meta } of appended) expect(meta.key, `the log key of ${type} by ${nameOf(sent)}`).toMatch(LOG_KEY)
  return answer
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

const strangePaths = inScene(async ({ parts, unavailable }, scene) => {
  const { values } = scene
  const request = fc.constantFrom(...routesOf(parts)).chain((route) => fc.tuple(pathOf(route, values, true), queryOf(route, values), fc.constantFrom<Method>(...METHODS, route.method)))
  await fc.assert(fc.asyncProperty(request, async ([path, query, method]) => {
    await answered({ method, url: `${path}${query === '' ? '' : `?${query}`}` }, scene, { unavailable })
  }), { numRuns: tries(1000) })
})

type Commanding = Exclude<Route, { method: 'GET' }>
const isCommand = (route: Route): route is Commanding => route.method !== 'GET'
const commandsOf = ({ parts }: EdgeCase): readonly Commanding[] => routesOf(parts).filter(isCommand)

const changedBodies = inScene(async (subject, scene) => {
  const { values } = scene
  const commands = commandsOf(subject)
  if (commands.length === 0) return
  const request = fc.constantFrom(...commands).chain((route) => fc.tuple(fc.constant(route), pathOf(route, values), bodyOf(route.body, values)))
  await fc.assert(fc.asyncProperty(request, async ([route, url, body]) => {
    await answered({ method: route.method, url, body }, scene, { unavailable: subject.unavailable, route })
  }), { numRuns: tries(1000) })
})

/** Otherwise the rules above would only meet the check of the schema. */
const reachesRules = inScene(async (subject, scene) => {
  for (const route of commandsOf(subject)) {
    const statuses = new Set<number>()
    for (const body of fc.sample(valueOf(route.body, scene.values), { numRuns: 40, seed: 7 })) {
      const { status } = await answered({ method: route.method, url: plainPath(route, scene.values), body }, scene, { unavailable: subject.unavailable, route })
      statuses.add(status)
      if (status !== 400) break
    }
    expect([...statuses].filter((status) => status !== 400), `${route.method} ${route.url} accepts a body that fits its schema: add values`).not.toEqual([])
  }
})

interface Expected {
  readonly status?: number
  readonly code?: string
  readonly pointer?: string
}

/** The edge refuses the request with a problem document that names the mistake, and appends nothing. */
const refused = async (sent: Sent, { edge, token }: Scene, { status = 400, code, pointer }: Expected): Promise<void> => {
  const before = edge.events.length
  const answer = await send(edge.app, { token, ...sent })
  const name = `${nameOf(sent)} with ${JSON.stringify(sent.body ?? sent.raw ?? sent.headers ?? null)?.slice(0, 300)}`
  expect(answer.status, `${name}: ${answer.text}`).toBe(status)
  isProblem(answer, name)
  if (code !== undefined) expect([answer.body['code'], ...(answer.body.errors ?? []).map((error) => (error as { code?: string }).code)], name).toContain(code)
  if (pointer !== undefined) expect((answer.body.errors ?? []).map((error) => error.pointer.slice(0, pointer.length)), name).toContain(pointer)
  expect(edge.events.slice(before).filter(isSaid).map(({ type }) => type), name).toEqual([])
}

/** A value of a type that the schema does not allow. */
const wrongFor = (schema: JsonSchema): unknown => [[[]], { no: 'such' }, true, 1.5, 'x', null].find((value) => !Check(schema, value))

/** A body that fits the route's schema. */
const goodBody = ({ body }: Commanding, { values }: Scene): Readonly<Record<string, unknown>> => {
  const [good] = fc.sample(valueOf(body, values), { numRuns: 1, seed: 7 })
  return (typeof good === 'object' && good !== null ? good : {}) as Readonly<Record<string, unknown>>
}

const badBodies = inScene(async (subject, scene) => {
  for (const route of commandsOf(subject)) {
    const { method, body: schema } = route
    const url = plainPath(route, scene.values)
    const body = goodBody(route, scene)
    for (const name of requiredOf(schema)) await refused({ method, url, body: { ...body, [name]: undefined } }, scene, { code: 'missing-field', pointer: `/${name}` })
    await refused({ method, url, body: { ...body, 'no-such-field': 1 } }, scene, { code: 'unknown-field', pointer: '/no-such-field' })
    for (const [name, member] of Object.entries(membersOf(schema))) {
      const wrong = wrongFor(member)
      if (wrong !== undefined) await refused({ method, url, body: { ...body, [name]: wrong } }, scene, { pointer: `/${name}` })
    }
    for (const other of [[body], 'text', 7, true]) await refused({ method, url, body: other }, scene, { code: 'wrong-type' })
    for (const [raw, code] of [['{"a":', 'malformed-json'], ['{"a":1,"a":2}', 'duplicate-field'], ['{"__proto__":{}}', 'forbidden-name']] as const) await refused({ method, url, raw }, scene, { code })
  }
})

const isList = ({ query }: Route): boolean => Object.hasOwn(membersOf(query), 'cursor')

/** The parameters that the query needs, as the values have them. */
const neededQuery = ({ query }: Route, { values }: Scene): Readonly<Record<string, string>> =>
  Object.fromEntries(requiredOf(query).map((name) => [name, String((values[name] ?? [])[0] ?? '')]))

const badQueries = inScene(async ({ parts }, scene) => {
  for (const route of routesOf(parts)) {
    const { method } = route
    const path = plainPath(route, scene.values)
    const needed = neededQuery(route, scene)
    const withQuery = (more: Readonly<Record<string, string>>): Sent =>
      ({ method, url: `${path}?${new URLSearchParams({ ...needed, ...more }).toString()}`, ...(isCommand(route) && { body: goodBody(route, scene) }) })
    await refused(withQuery({ 'no-such-parameter': '1' }), scene, { code: 'unknown-field' })
    if (!isList(route)) continue
    for (const limit of ['0', '-1', '201']) await refused(withQuery({ limit }), scene, { code: 'out-of-range' })
    for (const limit of ['ten', '1e2', '1.5']) await refused(withQuery({ limit }), scene, { code: 'bad-format' })
  }
})

const strangers = inScene(async ({ parts }, scene) => {
  for (const route of routesOf(parts)) {
    const { method } = route
    const url = plainPath(route, scene.values)
    for (const authorization of ['', 'Bearer ', 'Bearer x', 'Basic x']) await refused({ method, url, headers: { authorization } }, scene, { status: 401 })
  }
})

interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
  readonly requestBody?: object
  readonly responses?: Readonly<Record<string, object>>
}

const isDescribed = inScene(async ({ parts }, { edge }) => {
  const { webhooks = [], live } = parts
  const routes = routesOf(parts)
  const { status, body } = await send(edge.app, { url: '/openapi.json' })
  expect([status, body['openapi']]).toEqual([200, '3.1.0'])
  const described = new Map<string, Operation>(Object.entries(body.paths).flatMap(([path, methods]) => Object.entries(methods as Record<string, Operation>).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const)))
  const templateOf = (url: string): string => url.replace(/:(\w+)/g, '{$1}')
  const others = [...webhooks, ...(live === undefined ? [] : [live])].map(({ url }) => templateOf(url))
  expect([...described.keys()].filter((name) => !others.includes(name.slice(name.indexOf(' ') + 1))).sort()).toEqual(routes.map(({ method, url }) => `${method} ${templateOf(url)}`).sort())
  for (const route of routes) {
    const name = `${route.method} ${templateOf(route.url)}`
    const { operationId, summary, parameters = [], requestBody, responses = {} } = described.get(name) ?? {}
    expect(operationId, name).toMatch(/^[a-z]+([A-Z][a-z]+)+$/)
    expect(summary, name).toMatch(/\w/)
    expect(parameters.filter((each) => each.in === 'path').map((each) => each.name).sort(), name).toEqual([...route.url.matchAll(/:(\w+)/g)].map(([, each]) => each).sort())
    expect(parameters.filter((each) => each.in === 'query').map((each) => each.name).sort(), name).toEqual(Object.keys(membersOf(route.query)).sort())
    if (Object.keys(membersOf('body' in route ? route.body : undefined)).length > 0) expect(requestBody, name).toBeDefined()
    expect(Object.keys(responses), name).toEqual(expect.arrayContaining([String('status' in route ? route.status : 200), 'default']))
  }
  const ids = [...described.values()].map(({ operationId }) => operationId)
  expect(new Set(ids).size, 'different operation ids').toBe(ids.length)
})

export const HTTP_RULES: Readonly<Record<string, Rule<EdgeCase>>> = {
  'a request with any path, query and method is answered, and no log key is made of it': strangePaths,
  'a request with any body is answered as its route declares, or refused': changedBodies,
  'every command gets past its schema with a body that fits it': reachesRules,
  'a body that does not fit its schema is refused at its place, and nothing is appended': badBodies,
  'an unknown query parameter and a wrong limit are refused': badQueries,
  'a request without a valid token is refused': strangers,
  'GET /openapi.json describes every route, and no other': isDescribed,
}
