import { expect, describe, test } from 'vitest'
import { Problem } from '../../../producers/http/problem.ts'
import { action, type Action, type ActionCall, type Reply } from '../../../producers/http/route.ts'
import { mealsEdge } from '../../../producers/meals/edge.ts'
import { targetRoutes } from '../../../producers/meals/target-routes.ts'
import type { MemoryEdgeOptions } from '../../../testing/edge/edge.ts'
import { send, type EdgeRequest } from '../../../testing/edge/request.ts'
import { openMealsEdge } from '../meals/edge.ts'

const used = { draft: { type: 'PatUsed', data: { patId: 'p1', date: '2026-11-16' }, personal: null } } as const

const open = async (
  perform: (call: ActionCall) => Promise<Reply>,
  more: Partial<Action> = {},
  options: Partial<MemoryEdgeOptions> = {},
) => {
  const route = action({
    method: 'POST',
    url: '/toy',
    operationId: 'performToy',
    summary: 'Do something.',
    status: 200,
    result: { type: 'object', additionalProperties: true },
    perform,
  })
  const edge = await openMealsEdge({
    ...options,
    edge: { ...mealsEdge, routes: [...targetRoutes, { ...route, ...more }] },
  })
  const token = await edge.token('ann')
  const call = (request: Partial<EdgeRequest> = {}) =>
    send(edge.app, { method: 'POST', url: '/toy', token, ...request })
  return { ...edge, call }
}

describe('the answer of an action', () => {
  test('has the status, the headers and the JSON that the action returns', async () => {
    const { call } = await open(async ({ caller, headers }) => ({
      status: 201,
      json: { user: caller.user, accept: headers.accept },
      headers: { 'x-toy': 'yes' },
    }))
    expect(await call({ headers: { accept: 'application/json' } })).toMatchObject({
      status: 201,
      body: { user: 'ann', accept: 'application/json' },
      headers: { 'x-toy': 'yes', 'cache-control': 'no-store' },
    })
  })

  test('can be a redirect', async () => {
    const { call, app } = await open(async () => ({ status: 303, location: '/docs' }), {
      method: 'GET',
      redirects: { 303: 'To the documents.' },
    })
    expect(await call({ method: 'GET' })).toMatchObject({ status: 303, headers: { location: '/docs' }, text: '' })
    const { body } = await send(app, { url: '/openapi.json' })
    expect(body.paths['/toy']).toMatchObject({
      get: { responses: { 200: {}, 303: { description: 'To the documents.' } } },
    })
  })

  test('is refused without a token, and by the Problem that the action throws', async () => {
    const { call, app } = await open(() => Promise.reject(new Problem(409, 'toy-broken', 'It is broken.')))
    expect(await call()).toMatchObject({ status: 409, body: { code: 'toy-broken' } })
    expect(await send(app, { method: 'POST', url: '/toy' })).toMatchObject({ status: 401 })
  })

  test('is 503 if the action does not answer in its time', async () => {
    const { call } = await open(() => new Promise(() => {}), { answerMs: 5 })
    expect(await call()).toMatchObject({ status: 503, body: { code: 'too-slow' } })
  })

  test('has no header for repeated commands in the document of the edge', async () => {
    const { app } = await open(async () => ({ status: 200 }))
    const { body } = await send(app, { url: '/openapi.json' })
    expect(JSON.stringify(body.paths['/toy'])).not.toContain('Idempotency-Key')
  })
})

describe('a cookie of an action', () => {
  const reply: Reply = { status: 204, cookies: [{ name: 'toy', value: 'abc', maxAge: 600 }] }

  test('has the prefix __Host- and Secure, HttpOnly and SameSite=Lax', async () => {
    const { call } = await open(async () => reply)
    const { headers, status } = await call({ headers: { host: 'tributary.example' } })
    expect([status, headers['set-cookie']]).toEqual([
      204,
      '__Host-toy=abc; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure',
    ])
  })

  test.each(['127.0.0.1:8080', 'localhost', '[::1]:80'])('has neither on loopback: %s', async (host) => {
    const { call } = await open(async () => reply)
    expect((await call({ headers: { host } })).headers['set-cookie']).toBe(
      'toy=abc; Path=/; Max-Age=600; HttpOnly; SameSite=Lax',
    )
  })

  test('is secure on loopback too if the server has a public https address', async () => {
    const { call } = await open(async () => reply, {}, { publicUrl: 'https://tributary.example' })
    expect(String((await call({ headers: { host: 'localhost' } })).headers['set-cookie'])).toMatch(/^__Host-.*Secure$/)
  })

  test.each([
    ['a=1; toy=abc', 'abc'],
    ['toy=abc; toy=def', undefined],
    ['toyy=abc', undefined],
    ['__Host-toy=abc', undefined],
  ])('is read from the request: %s', async (cookie, value) => {
    const { call } = await open(async (call) => ({ status: 200, json: { value: call.cookie('toy') ?? null } }))
    const { body } = await call({ headers: { host: 'localhost', cookie } })
    expect(body['value']).toBe(value ?? null)
  })

  test('without the prefix is not read on a server that people reach over https', async () => {
    const { call } = await open(async (call) => ({ status: 200, json: { value: call.cookie('toy') ?? null } }))
    const request = (cookie: string) => call({ headers: { host: 'tributary.example', cookie } })
    expect([(await request('toy=abc')).body['value'], (await request('__Host-toy=abc')).body['value']]).toEqual([
      null,
      'abc',
    ])
  })
})

describe('an event of an action', () => {
  test('is appended, and its outcome is known', async () => {
    const { call, events } = await open(async ({ append }) => ({
      status: 200,
      json: await append({ ...used, key: 'toys', subject: 'ann~toys', eventId: 'e-1', awaitDerived: true }),
    }))
    const answer = await call()
    expect(answer).toMatchObject({ status: 200, body: { eventId: 'e-1', state: 'applied' } })
    expect(answer.headers['tributary-event']).toMatch(/^0:\d+:e-1$/)
    const appended = events.find(({ meta }) => meta.eventId === 'e-1')
    expect(appended?.meta).toMatchObject({ key: 'toys', actorId: 'ann', subjectId: 'ann~toys' })
  })

  test('is pending if it is not folded in time', async () => {
    const { call, pause } = await open(async ({ append }) => ({ status: 202, json: await append(used) }))
    pause()
    expect(await call()).toMatchObject({ status: 202, body: { state: 'pending' } })
  })

  test('that the fold refuses is thrown as the Problem of a command', async () => {
    const { call, outcomes, events } = await open(async ({ append }) => ({ status: 200, json: await append(used) }))
    outcomes.set = (offset, outcome) =>
      Map.prototype.set.call(
        outcomes,
        offset,
        offset === events.length - 1 && outcome.kind === 'applied'
          ? { kind: 'refused', refusal: { code: 'pat-unknown', detail: 'There is no such token.' } }
          : outcome,
      ) as typeof outcomes
    expect(await call()).toMatchObject({ status: 409, body: { code: 'pat-unknown' } })
  })
})

describe('the admission of an action', () => {
  test('can append an event first, for example the one that opens the account', async () => {
    const order: string[] = []
    let isOpen = false
    const admit: Action['admit'] = async () => {
      order.push(isOpen ? 'open' : 'closed')
      if (isOpen) return undefined
      isOpen = true
      return { draft: used.draft, subject: 'ann~account' }
    }
    const perform = async () => {
      order.push('perform')
      return { status: 200, json: {} }
    }
    const { call, events } = await open(perform, { admit })
    expect(await call()).toMatchObject({ status: 200 })
    expect(order).toEqual(['closed', 'open', 'perform'])
    expect(events.some(({ meta }) => meta.subjectId === 'ann~account')).toBe(true)
  })

  test('that is refused keeps the action from running', async () => {
    const { call } = await open(() => Promise.reject(new Error('it ran')), {
      admit: () => Promise.reject(new Problem(404, 'toy-unknown', 'There is no such toy.')),
    })
    expect(await call()).toMatchObject({ status: 404, body: { code: 'toy-unknown' } })
  })
})

describe('the scope of a route', () => {
  test('admin is given only by a token with it', async () => {
    const { call, token } = await open(async () => ({ status: 200, json: {} }), { scope: 'admin' })
    expect(await call()).toMatchObject({
      status: 403,
      body: { code: 'scope-missing', detail: expect.stringContaining('--scopes read,write,admin') },
    })
    expect(await call({ token: await token('root', ['read', 'write', 'admin']) })).toMatchObject({ status: 200 })
  })

  test('write can be required by a GET', async () => {
    const { call, token } = await open(async () => ({ status: 200, json: {} }), { method: 'GET', scope: 'write' })
    expect(await call({ method: 'GET', token: await token('ann', ['read']) })).toMatchObject({ status: 403 })
    expect(await call({ method: 'GET' })).toMatchObject({ status: 200 })
  })
})
