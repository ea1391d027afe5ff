import { afterEach, beforeEach, expect, test } from 'vitest'
import { expectError, startLoopback, type Loopback } from './loopback.ts'

let strava: Loopback
beforeEach(async () => {
  strava = await startLoopback()
})
afterEach(() => strava.stop())

const HOUR_MS = 3_600_000

const redirectOf = async (url: string): Promise<URL> => {
  const response = await fetch(url, { redirect: 'manual' })
  expect(response.status).toBe(302)
  return new URL(response.headers.get('location') ?? '')
}

/** Gives the standing consent of a new athlete and returns the code for the requested scopes. */
const codeFor = async (scope: string, consent: Record<string, unknown> = {}) => {
  const athlete = await strava.athlete()
  await strava.control('PUT', '/consent', { athlete, ...consent })
  const redirect = await redirectOf(strava.authorizeUrl(scope))
  return { athlete, redirect, code: redirect.searchParams.get('code') ?? '' }
}

test('a consent redirects with the state, a code and the granted scopes, which always contain read', async () => {
  const { redirect } = await codeFor('activity:read_all')
  expect(`${redirect.origin}${redirect.pathname}`).toBe(strava.redirect)
  expect(redirect.searchParams.get('state')).toBe('s1')
  expect(redirect.searchParams.get('code')).toMatch(/^[0-9a-f]{40}$/)
  expect(redirect.searchParams.get('scope')).toBe('read,activity:read_all')
})

test('an athlete can decline single scopes', async () => {
  const { redirect } = await codeFor('activity:read,activity:read_all', { scopes: ['activity:read'] })
  expect(redirect.searchParams.get('scope')).toBe('read,activity:read')
})

test('a refused consent redirects with error=access_denied and the state', async () => {
  const { redirect } = await codeFor('activity:read_all', { deny: true })
  expect(Object.fromEntries(redirect.searchParams)).toEqual({ state: 's1', error: 'access_denied' })
})

test('the control API answers one authorization URL for one athlete, while a person answers the others', async () => {
  const athlete = await strava.athlete()
  const { body } = await strava.control('POST', '/consent', { url: strava.authorizeUrl('activity:read'), athlete })
  expect(new URL(String(body['location'])).searchParams.get('scope')).toBe('read,activity:read')
  const page = await fetch(strava.authorizeUrl('activity:read,activity:read_all'))
  expect(page.headers.get('content-type')).toContain('text/html')
  expect((await page.text()).match(/type="checkbox"/g)).toHaveLength(2)
})

test('the consent page can create an athlete, and grants the checked scopes only', async () => {
  const query = new URL(strava.authorizeUrl('activity:read,activity:read_all')).searchParams
  const response = await fetch(`${strava.variables['TRIBUTARY_STRAVA_OAUTH']}/authorize`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams([...query, ['athlete', 'new'], ['granted:activity:read', 'on'], ['decision', 'grant']]),
  })
  const redirect = new URL(response.headers.get('location') ?? '')
  expect(redirect.searchParams.get('scope')).toBe('read,activity:read')
  const pair = await strava.token({ grant_type: 'authorization_code', code: redirect.searchParams.get('code') ?? '' })
  const list = await strava.api('/athlete/activities?per_page=200', String(pair.body['access_token']))
  expect(Object.keys(list.body)).toHaveLength(50)
})

test.each([
  ['client_id', '1', 'Application', 'client_id'],
  ['redirect_uri', 'https://example.com/', 'Application', 'redirect_uri'],
  ['scope', 'view_private', 'Authorize', 'scope'],
  ['scope', '', 'Authorize', 'scope'],
  ['response_type', 'token', 'Authorize', 'response_type'],
])('an authorization request with the %s %j is refused', async (name, value, resource, field) => {
  const url = new URL(strava.authorizeUrl('read'))
  url.searchParams.set(name, value)
  const response = await fetch(url)
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({ message: 'Bad Request', errors: [{ resource, field, code: 'invalid' }] })
})

test('one athlete more than the application may have sees an error of Strava, and no redirect', async () => {
  await strava.control('PUT', '/settings', { athleteLimit: 1 })
  const first = await strava.athlete()
  await strava.grant(first)
  const second = await strava.athlete()
  await strava.control('PUT', '/consent', { athlete: second })
  const refused = await fetch(strava.authorizeUrl('activity:read'), { redirect: 'manual' })
  expect(refused.status).toBe(403)
  expect(await refused.text()).toContain('Limit of connected athletes exceeded')
  await strava.control('PUT', '/consent', { athlete: first })
  await redirectOf(strava.authorizeUrl('activity:read'))
})

test('a code gives a token pair for six hours with a summary of the athlete', async () => {
  const { athlete, code } = await codeFor('activity:read_all')
  const { status, body } = await strava.token({ grant_type: 'authorization_code', code })
  expect(status).toBe(200)
  expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 21_600, athlete: { id: Number(athlete) } })
  expect(body['expires_at']).toBe(Date.parse('2026-05-01T16:07:00Z') / 1000)
  expect((await strava.api('/athlete', String(body['access_token']))).status).toBe(200)
  await strava.advance(6 * HOUR_MS)
  expectError(await strava.api('/athlete', String(body['access_token'])), 401, 'Authorization Error', [
    'Athlete',
    'access_token',
    'invalid',
  ])
})

test('a code works once, and an unknown code never', async () => {
  const { code } = await codeFor('activity:read_all')
  expect((await strava.token({ grant_type: 'authorization_code', code })).status).toBe(200)
  const again = await strava.token({ grant_type: 'authorization_code', code })
  expectError(again, 400, 'Bad Request', ['AuthorizationCode', '', 'expired'])
  const unknown = await strava.token({ grant_type: 'authorization_code', code: 'f'.repeat(40) })
  expectError(unknown, 400, 'Bad Request', ['AuthorizationCode', 'code', 'invalid'])
})

test('a code expires', async () => {
  const { code } = await codeFor('activity:read_all')
  await strava.advance(HOUR_MS)
  const late = await strava.token({ grant_type: 'authorization_code', code })
  expectError(late, 400, 'Bad Request', ['AuthorizationCode', '', 'expired'])
})

test('a wrong client id, a wrong secret and a wrong grant type have errors of their own', async () => {
  expectError(await strava.token({ client_id: '1' }), 400, 'Bad Request', ['Application', 'client_id', 'invalid'])
  expectError(await strava.token({ client_secret: 'no' }), 401, 'Authorization Error', ['Application', '', 'invalid'])
  expectError(await strava.token({ grant_type: 'password' }), 400, 'Bad Request', [
    'Application',
    'grant_type',
    'invalid',
  ])
})

test('the token endpoint is also under the base path of the API, and reads forms with parts', async () => {
  const { code } = await codeFor('activity:read_all')
  const form = new FormData()
  const fields = { client_id: strava.client.id, client_secret: strava.client.secret, code }
  for (const [name, value] of Object.entries({ ...fields, grant_type: 'authorization_code' })) form.set(name, value)
  const response = await fetch(`${strava.variables['TRIBUTARY_STRAVA_API']}/oauth/token`, {
    method: 'POST',
    body: form,
  })
  expect(response.status).toBe(200)
})

test('a refresh returns the same pair while the access token lives for more than an hour', async () => {
  const { access, refresh } = await strava.grant(await strava.athlete())
  const { body } = await strava.refresh(refresh)
  expect(body).toMatchObject({ access_token: access, refresh_token: refresh, expires_in: 21_600 })
  expect(body).not.toHaveProperty('athlete')
})

test('strict rotation: a new access token comes with a new refresh token, and the old one is refused at once', async () => {
  const { access, refresh } = await strava.grant(await strava.athlete())
  await strava.advance(5 * HOUR_MS)
  const { body } = await strava.refresh(refresh)
  expect(body['access_token']).not.toBe(access)
  expect(body['refresh_token']).not.toBe(refresh)
  expectError(await strava.refresh(refresh), 400, 'Bad Request', ['RefreshToken', 'refresh_token', 'invalid'])
  expect((await strava.refresh(body['refresh_token'])).status).toBe(200)
  expect((await strava.api('/athlete', access)).status).toBe(200)
})

test('lenient rotation: the old refresh token returns the newest pair', async () => {
  await strava.control('PUT', '/settings', { rotation: 'lenient' })
  const { refresh } = await strava.grant(await strava.athlete())
  await strava.advance(5 * HOUR_MS)
  const first = await strava.refresh(refresh)
  expect(first.body['refresh_token']).not.toBe(refresh)
  const second = await strava.refresh(refresh)
  expect(second.body).toEqual(first.body)
})

test('without rotation the refresh token never changes', async () => {
  await strava.control('PUT', '/settings', { rotation: 'same' })
  const { access, refresh } = await strava.grant(await strava.athlete())
  await strava.advance(5 * HOUR_MS)
  const { body } = await strava.refresh(refresh)
  expect(body['refresh_token']).toBe(refresh)
  expect(body['access_token']).not.toBe(access)
})

test.each(['access', 'refresh'] as const)('oauth/revoke with the %s token ends both tokens', async (kind) => {
  const pair = await strava.grant(await strava.athlete())
  const basic = Buffer.from(`${strava.client.id}:${strava.client.secret}`).toString('base64')
  const headers = { authorization: `Basic ${basic}` }
  expect((await strava.oauth('/revoke', { token: pair[kind] }, headers)).status).toBe(200)
  expect((await strava.api('/athlete', pair.access)).status).toBe(401)
  expect((await strava.refresh(pair.refresh)).status).toBe(400)
  expect((await strava.oauth('/revoke', { token: pair[kind] }, headers)).status).toBe(200)
})

test('oauth/revoke refuses wrong credentials of the application', async () => {
  const { access } = await strava.grant(await strava.athlete())
  const refused = await strava.oauth('/revoke', { token: access }, { authorization: 'Basic bm86bm8=' })
  expect(refused.status).toBe(401)
  expect((await strava.api('/athlete', access)).status).toBe(200)
})

test('oauth/deauthorize takes the access token and returns it', async () => {
  const { access, refresh } = await strava.grant(await strava.athlete())
  const { status, body } = await strava.oauth('/deauthorize', { access_token: access })
  expect({ status, body }).toEqual({ status: 200, body: { access_token: access } })
  expect((await strava.api('/athlete', access)).status).toBe(401)
  expect((await strava.refresh(refresh)).status).toBe(400)
  expect((await strava.oauth('/deauthorize', { access_token: access })).status).toBe(401)
})

test('an inactive application can still refresh tokens', async () => {
  await strava.control('PUT', '/settings', { application: 'inactive' })
  const { refresh } = await strava.grant(await strava.athlete())
  expect((await strava.refresh(refresh)).status).toBe(200)
})

test('two services make the same tokens in the same order', async () => {
  const other = await startLoopback()
  try {
    expect(await other.grant(await other.athlete())).toEqual(await strava.grant(await strava.athlete()))
  } finally {
    await other.stop()
  }
})
