import { describe, expect, test } from 'vitest'
import { SESSION_MS } from '../../../producers/access/session-routes.ts'
import { NOON } from '../../../testing/event.ts'
import { openSignIn, ORIGIN } from './sign-in.ts'

const refusal = (status: number, code: string) => ({ status, body: { code } })

describe('signing in', () => {
  test('sets an HttpOnly cookie, and returns the user, the expiry and the CSRF token', async () => {
    const { signIn, token } = await openSignIn()
    const { answer, set } = await signIn(await token('ann'))
    expect(answer).toMatchObject({
      status: 201,
      body: { userId: 'ann', expiresAtUtc: new Date(NOON + SESSION_MS).toISOString() },
    })
    expect(answer.body['csrfToken']).toMatch(/^[\w-]{43}$/)
    expect(set).toMatch(/^cc_session=meals\.[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/)
  })

  test('outside of loopback, the cookie is a __Host- cookie with Secure', async () => {
    const { call, token } = await openSignIn()
    const { headers } = await call({
      method: 'POST',
      url: '/auth/session',
      token: await token('ann'),
      headers: { host: 'tributary.example' },
    })
    expect(headers['set-cookie']).toMatch(/^__Host-cc_session=meals\.[\w-]{43}; Path=\/; .*; SameSite=Lax; Secure$/)
  })

  test('needs a token: a cookie is not enough', async () => {
    const { signIn, post, token, call } = await openSignIn()
    expect(await call({ method: 'POST', url: '/auth/session' })).toMatchObject(refusal(401, 'token-missing'))
    const { cookie, csrf } = await signIn(await token('ann'))
    expect(await post(cookie, { origin: ORIGIN, 'x-csrf-token': csrf }, '/auth/session')).toMatchObject(
      refusal(401, 'token-missing'),
    )
  })

  test('works with a token that can only read, and the session can only read', async () => {
    const { signIn, token, call, post } = await openSignIn()
    const { cookie, csrf } = await signIn(await token('ann', ['read']))
    expect(await call({ url: '/who', headers: { cookie } })).toMatchObject({ status: 200 })
    expect(await post(cookie, { origin: ORIGIN, 'x-csrf-token': csrf })).toMatchObject(refusal(403, 'scope-missing'))
  })

  test('always creates a new session, so an attacker cannot fix its id', async () => {
    const { signIn, token, call } = await openSignIn()
    const planted = `cc_session=meals.${'A'.repeat(43)}`
    expect(await call({ url: '/who', headers: { cookie: planted } })).toMatchObject(refusal(401, 'session-ended'))
    const ann = await signIn(await token('ann'), planted)
    expect(ann.cookie).not.toBe(planted)
    expect(await call({ url: '/who', headers: { cookie: planted } })).toMatchObject(refusal(401, 'session-ended'))
  })

  test('ends the session whose cookie the request has', async () => {
    const { signIn, token, call } = await openSignIn()
    const first = await signIn(await token('mallory'))
    const second = await signIn(await token('ann'), first.cookie)
    expect(await call({ url: '/who', headers: { cookie: first.cookie } })).toMatchObject(refusal(401, 'session-ended'))
    expect((await call({ url: '/who', headers: { cookie: second.cookie } })).body['user']).toBe('ann')
  })
})

describe('a request with the cookie of a session', () => {
  test('is a request of the user, with the rights of the token', async () => {
    const { signIn, token, call } = await openSignIn()
    const { cookie, answer } = await signIn(await token('ann'))
    expect((await call({ url: '/who', headers: { cookie } })).body).toEqual({
      user: 'ann',
      hasToken: true,
      email: null,
    })
    expect(await call({ url: '/auth/session', headers: { cookie } })).toMatchObject({ status: 200, body: answer.body })
  })

  test('that changes something needs an Origin of ours and the CSRF token', async () => {
    const { signIn, token, post } = await openSignIn()
    const { cookie, csrf } = await signIn(await token('ann'))
    const other = await signIn(await token('bob'))
    const right = { origin: ORIGIN, 'x-csrf-token': csrf }
    expect(await post(cookie, right)).toMatchObject({ status: 200, body: { user: 'ann' } })
    expect(await post(cookie, { ...right, origin: 'https://app.example' })).toMatchObject({ status: 200 })
    expect(await post(cookie, { 'x-csrf-token': csrf })).toMatchObject(refusal(403, 'origin-refused'))
    for (const origin of ['https://evil.example', 'null', 'http://localhost:9999'])
      expect(await post(cookie, { ...right, origin })).toMatchObject(refusal(403, 'origin-refused'))
    expect(await post(cookie, { origin: ORIGIN })).toMatchObject(refusal(403, 'csrf-refused'))
    expect(await post(cookie, { ...right, 'x-csrf-token': other.csrf })).toMatchObject(refusal(403, 'csrf-refused'))
  })

  test('can come from the public address of the server, behind a proxy that changes Host', async () => {
    const { signIn, token, post } = await openSignIn({ publicUrl: 'https://tributary.example' })
    const { cookie, csrf } = await signIn(await token('ann'))
    const answer = await post(cookie, { origin: 'https://tributary.example', 'x-csrf-token': csrf })
    expect(answer).toMatchObject({ status: 200 })
  })

  test('and with Authorization is a request of the token, and needs neither', async () => {
    const { signIn, token, call } = await openSignIn()
    const { cookie } = await signIn(await token('ann'))
    const bob = await token('bob')
    expect((await call({ method: 'POST', url: '/who', token: bob, headers: { cookie } })).body['user']).toBe('bob')
    expect(await call({ url: '/auth/session', token: bob, headers: { cookie } })).toMatchObject(
      refusal(401, 'session-missing'),
    )
  })

  test('is refused after 12 hours', async () => {
    const { signIn, token, call, advance } = await openSignIn()
    const { cookie } = await signIn(await token('ann'))
    advance(SESSION_MS - 1)
    expect(await call({ url: '/who', headers: { cookie } })).toMatchObject({ status: 200 })
    advance(1)
    expect(await call({ url: '/who', headers: { cookie } })).toMatchObject(refusal(401, 'session-ended'))
  })

  test('is refused after the token of the session was revoked', async () => {
    const { signIn, token, call } = await openSignIn()
    const secret = await token('ann')
    const { body } = await call({
      method: 'POST',
      url: '/v1/tokens',
      token: secret,
      body: { name: 'b', scopes: ['read'] },
    })
    const { cookie } = await signIn(body.token)
    await call({ method: 'DELETE', url: `/v1/tokens/${body.id}`, token: secret })
    expect(await call({ url: '/who', headers: { cookie } })).toMatchObject(refusal(401, 'token-unknown'))
  })

  test('is refused if the session belongs to a token for another domain', async () => {
    const { sessions, call } = await openSignIn()
    const session = { user: 'ann', token: { domain: 'scales', hash: 'x' }, email: null, openedAt: NOON }
    await sessions.open('scales.abc', { ...session, expiresAt: NOON + 1000 })
    expect(await call({ url: '/who', headers: { cookie: 'cc_session=scales.abc' } })).toMatchObject(
      refusal(401, 'token-unknown'),
    )
  })

  test('is refused if all sessions of the user were ended', async () => {
    const { signIn, token, call, sessions } = await openSignIn()
    const { cookie } = await signIn(await token('ann'))
    await sessions.endAll('ann')
    expect(await call({ url: '/who', headers: { cookie } })).toMatchObject(refusal(401, 'session-ended'))
  })
})

describe('signing out', () => {
  test('ends the session and removes the cookie', async () => {
    const { signIn, token, post, call, store } = await openSignIn()
    const { cookie, csrf } = await signIn(await token('ann'))
    const headers = { origin: ORIGIN, 'x-csrf-token': csrf }
    const answer = await post(cookie, headers, '/auth/logout')
    expect([answer.status, answer.headers['set-cookie']]).toEqual([
      200,
      'cc_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    ])
    expect(await call({ url: '/who', headers: { cookie } })).toMatchObject(refusal(401, 'session-ended'))
    expect(await post(cookie, headers, '/auth/logout')).toMatchObject(refusal(401, 'session-ended'))
    expect(store.items.size).toBe(0)
  })

  test('by a page of another site is refused', async () => {
    const { signIn, token, post, call } = await openSignIn()
    const { cookie } = await signIn(await token('ann'))
    expect(await post(cookie, { origin: 'https://evil.example' }, '/auth/logout')).toMatchObject(
      refusal(403, 'origin-refused'),
    )
    expect(await call({ url: '/who', headers: { cookie } })).toMatchObject({ status: 200 })
  })
})

test('the document of the edge lists the routes and the scheme of sessions', async () => {
  const { call } = await openSignIn()
  const { body } = await call({ url: '/openapi.json' })
  expect(body.paths).toMatchObject({
    '/auth/session': { post: { responses: { 201: {} } }, get: {} },
    '/auth/logout': { post: { security: [{ token: [] }, { session: [] }] } },
  })
  expect(body['components']).toMatchObject({
    securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: '__Host-cc_session' } },
  })
})
