import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { stravaLocal } from '../../../domains/activities/strava-local/service.ts'
import type { RunningService } from '../../../domains/record.ts'
import { connections, owners, stravaSubject } from '../../../projections/activities/keys.ts'
import { keyOf } from '../../../projections/item.ts'
import { tokensIn } from '../../../producers/activities/tokens.ts'
import { NOON } from '../../../testing/event.ts'
import { send, type EdgeAnswer } from '../../../testing/edge/request.ts'
import { openActivities, type ActivitiesEdge } from './open-edge.ts'

let strava: RunningService
let edge: ActivitiesEdge
const control = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
  const response = await fetch(`${strava.url}/control${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

beforeEach(async () => {
  strava = await stravaLocal.start({ port: 0 })
  edge = await openActivities({ strava })
  for (const id of ['98765432109876543', '7'])
    await control('POST', '/athletes', { id, firstname: 'Ada', lastname: 'L' })
})
afterEach(() => strava.stop())

const get = (user: string, url: string, headers: Record<string, string> = {}) => edge.by(user, { url, headers })

/** Starts a connection, and answers the consent. Resolves to the URL of the callback, without the origin. */
const consented = async (user: string, athlete: string, more: object = {}): Promise<string> => {
  const started = await get(user, '/strava/connect', { accept: 'application/json' })
  expect(started.status).toBe(200)
  const { location } = await control('POST', '/consent', { url: started.body['url'], athlete, ...more })
  const { pathname, search } = new URL(String(location))
  return pathname + search
}
const connect = async (user: string, athlete: string, more: object = {}): Promise<EdgeAnswer> =>
  get(user, await consented(user, athlete, more))

const problem = (status: number, code: string) => ({ status, body: { code } })

describe('connecting', () => {
  test('redirects to the consent of Strava, with a state and a cookie of 10 minutes', async () => {
    const answer = await get('ada', '/strava/connect')
    expect(answer.status).toBe(302)
    const url = new URL(String(answer.headers['location']))
    expect(url.origin + url.pathname).toBe(`${strava.url}/oauth/authorize`)
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: strava.variables['TRIBUTARY_STRAVA_CLIENT_ID'],
      response_type: 'code',
      scope: 'read,activity:read,activity:read_all',
      state: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(url.searchParams.get('redirect_uri')).toMatch(/\/strava\/callback$/)
    expect(String(answer.headers['set-cookie'])).toMatch(
      /strava_connect=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax/,
    )
  })

  test('A9 A10 links the athlete, keeps every digit of the id, and begins the backfill', async () => {
    const answer = await connect('ada', '98765432109876543')
    expect(answer).toMatchObject({
      status: 201,
      body: {
        status: 'CONNECTED',
        athleteId: '98765432109876543',
        missingScopes: [],
        backfill: { fetched: 0, done: false },
      },
    })
    expect((await get('ada', '/strava/status')).body).toEqual(answer.body)
    expect(await owners.get(edge.reader, '98765432109876543')).toMatchObject({ userId: 'ada', epoch: 1 })
    const secret = await edge.outside.secrets.read(stravaSubject('ada', 1), 'strava')
    expect(secret && tokensIn(secret)).not.toHaveProperty('pendingSince')
    const tokens = secret && tokensIn(secret)
    const log = JSON.stringify(edge.events)
    expect(log).not.toContain(tokens?.access)
    expect(log).not.toContain(tokens?.refresh)
    expect(JSON.stringify(edge.events.map(({ meta, data }) => [meta, data]))).not.toContain('98765432109876543')
    expect(await get('ada', '/strava/connect')).toMatchObject(problem(409, 'already-connected'))
  })

  test('names the scope that the athlete did not grant', async () => {
    expect(await connect('ada', '7', { scopes: ['read', 'activity:read'] })).toMatchObject({
      status: 201,
      body: { status: 'CONNECTED', missingScopes: ['activity:read_all'] },
    })
  })

  test('is refused without a scope for activities, and if the athlete declines', async () => {
    expect(await connect('ada', '7', { scopes: ['read'] })).toMatchObject(problem(409, 'scope-declined'))
    expect(await connect('ada', '7', { deny: true })).toMatchObject(problem(403, 'strava-declined'))
    expect((await get('ada', '/strava/status')).body).toMatchObject({ status: 'NONE', athleteId: null })
  })

  test('is refused for the athlete of another person, whose tokens keep working', async () => {
    await connect('ada', '7')
    expect(await connect('eve', '7')).toMatchObject(problem(409, 'athlete-owned'))
    expect(await edge.outside.secrets.read(stravaSubject('eve', 1), 'strava')).toBeUndefined()
    expect((await get('eve', '/strava/status')).body).toMatchObject({ status: 'NONE' })
    const secret = await edge.outside.secrets.read(stravaSubject('ada', 1), 'strava')
    const { access } = secret ? tokensIn(secret) : { access: '' }
    const athlete = await fetch(`${strava.url}/api/v3/athlete`, { headers: { authorization: `Bearer ${access}` } })
    expect(athlete.status).toBe(200)
  })

  test('is refused with a state that is missing, changed, used, stolen, or older than 10 minutes', async () => {
    const callback = await consented('ada', '7')
    for (const url of ['/strava/callback', '/strava/callback?code=x', callback.replace(/state=[^&]*/, 'state=forged')])
      expect(await get('ada', url)).toMatchObject(problem(400, 'state-invalid'))
    expect(await get('eve', callback)).toMatchObject(problem(400, 'state-invalid'))
    expect(await get('ada', callback)).toMatchObject(problem(400, 'state-invalid'))
    const second = await consented('ada', '7')
    expect((await get('ada', second)).status).toBe(201)
    expect(await get('ada', second)).toMatchObject(problem(400, 'state-invalid'))
  })

  test('is answered 502 if Strava does not exchange the code, and can be tried again', async () => {
    const callback = await consented('ada', '7')
    await control('POST', '/faults', { kind: 'status', path: '/oauth/token', method: 'POST', status: 500 })
    expect(await get('ada', callback)).toMatchObject(problem(502, 'strava-unavailable'))
    await control('DELETE', '/faults')
    expect((await connect('ada', '7')).status).toBe(201)
  })

  test('is refused without a token', async () => {
    for (const url of ['/strava/connect', '/strava/callback', '/strava/status'])
      expect((await send(edge.app, { url })).status).toBe(401)
  })

  test('drops tokens that claimed no athlete within an hour', async () => {
    const subject = stravaSubject('ada', 1)
    const value = JSON.stringify({
      access: 'A',
      refresh: 'R',
      version: 1,
      expiresAt: NOON,
      pendingSince: NOON - 3_600_000,
    })
    await edge.outside.secrets.write(subject, 'strava', { expect: 0, value })
    await get('ada', '/strava/connect')
    expect(await edge.outside.secrets.read(subject, 'strava')).toBeUndefined()
  })
})

describe('a connection', () => {
  const command = (user: string, method: 'POST' | 'DELETE', url: string) => edge.by(user, { method, url })

  test('is fetched again on request', async () => {
    expect(await command('ada', 'POST', '/strava/backfill')).toMatchObject(problem(409, 'not-connected'))
    await connect('ada', '7')
    expect(await command('ada', 'POST', '/strava/backfill')).toMatchObject({
      status: 202,
      body: { status: 'CONNECTED' },
    })
    expect(edge.events.filter(({ type }) => type === 'BackfillRequested')).toMatchObject([{ data: { run: 2 } }])
  })

  test('is removed on request, and shows nothing from Strava meanwhile', async () => {
    expect(await command('ada', 'DELETE', '/strava/connection')).toMatchObject(problem(409, 'not-connected'))
    await connect('ada', '7')
    expect(await command('ada', 'DELETE', '/strava/connection')).toMatchObject({
      status: 200,
      body: { status: 'REVOKING' },
    })
    expect((await get('ada', '/strava/status')).body).toMatchObject({ status: 'REVOKING', athleteId: null })
    expect((await get('ada', '/activities/recent')).body.items).toEqual([])
    expect(await get('ada', '/strava/connect')).toMatchObject(problem(409, 'already-connected'))
  })

  test('that lost its token is renewed with the same link for the same athlete', async () => {
    await connect('ada', '7')
    const item = await connections.get(edge.reader, 'ada')
    if (item === undefined) throw new Error('There is no connection')
    edge.items.set(keyOf(item), { ...item, status: 'REAUTH_REQUIRED' })
    expect(await connect('ada', '7')).toMatchObject({ status: 201, body: { status: 'CONNECTED' } })
    const claim = edge.events.findLast(({ type }) => type === 'StravaAthleteClaimed')
    expect(claim?.data).toMatchObject({ epoch: 1, secretVersion: 2 })
  })
})

test('without Strava, its routes are answered 404, and the others work', async () => {
  edge = await openActivities()
  for (const [method, url] of [
    ['GET', '/strava/connect'],
    ['GET', '/strava/callback?state=x'],
    ['GET', '/strava/status'],
    ['DELETE', '/strava/connection'],
    ['POST', '/strava/backfill'],
  ] as const)
    expect(await edge.by('ada', { method, url }), url).toMatchObject(problem(404, 'strava-not-configured'))
  expect((await edge.by('ada', { url: '/milestones' })).status).toBe(200)
})
