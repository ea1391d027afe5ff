import { afterEach, beforeEach, expect, test } from 'vitest'
import { expectError, startLoopback, type Loopback } from './loopback.ts'

let strava: Loopback
beforeEach(async () => {
  strava = await startLoopback()
})
afterEach(() => strava.stop())

const script = (fault: Record<string, unknown>) => strava.control('POST', '/faults', fault)
const leftOf = async () => (await strava.control('GET', '/faults')).text

test('the next fetches of an activity answer 404, and then the activity is there', async () => {
  const athlete = await strava.athlete()
  const { access } = await strava.grant(athlete)
  const id = await strava.activity(athlete)
  await script({ kind: 'status', path: `/activities/${id}`, status: 404, count: 2 })
  for (let call = 0; call < 2; call++)
    expectError(await strava.api(`/activities/${id}`, access), 404, 'Resource Not Found', ['Activity', '', 'not found'])
  expect((await strava.api(`/activities/${id}`, access)).status).toBe(200)
  expect(await leftOf()).toBe('[]')
})

test('a scripted status has the rate limit headers, counts, and needs a token that works', async () => {
  const { access } = await strava.grant(await strava.athlete())
  await script({ kind: 'status', path: '/athlete', status: 500, count: 2 })
  const answer = await strava.api('/athlete', access)
  expect({ status: answer.status, usage: answer.headers.get('X-RateLimit-Usage') }).toEqual({
    status: 500,
    usage: '1,1',
  })
  expect((await strava.api('/athlete', 'unknown')).status).toBe(401)
})

test('a scripted status can have any body and any path', async () => {
  await script({ kind: 'status', path: '/oauth/*', method: 'POST', status: 503, body: { message: 'busy' } })
  const refused = await strava.refresh('any')
  expect({ status: refused.status, body: refused.body }).toEqual({ status: 503, body: { message: 'busy' } })
  await script({ kind: 'status', path: '/clubs', status: 502 })
  expect((await fetch(`${strava.url}/clubs`)).status).toBe(502)
})

test('a scripted 400 of the token endpoint is a refused refresh, and the refresh token still works', async () => {
  const { refresh } = await strava.grant(await strava.athlete())
  await script({ kind: 'status', path: '/oauth/token', status: 400 })
  expectError(await strava.refresh(refresh), 400, 'Bad Request', ['RefreshToken', 'refresh_token', 'invalid'])
  expect((await strava.refresh(refresh)).status).toBe(200)
})

test('a fault of one method leaves the other methods alone', async () => {
  const { access } = await strava.grant(await strava.athlete())
  await script({ kind: 'status', path: '/athlete', method: 'POST', status: 500 })
  expect((await strava.api('/athlete', access)).status).toBe(200)
})

test('a hung call is not answered until the caller gives up, and the next call is answered', async () => {
  const { access } = await strava.grant(await strava.athlete())
  await script({ kind: 'hang', path: '/athlete' })
  const controller = new AbortController()
  const hung = fetch(`${strava.url}/athlete`, {
    headers: { authorization: `Bearer ${access}` },
    signal: controller.signal,
  }).then(
    () => 'answered',
    () => 'given up',
  )
  await expect.poll(leftOf).toBe('[]')
  expect((await strava.api('/athlete', access)).status).toBe(200)
  controller.abort()
  expect(await hung).toBe('given up')
})

test('a reset call loses its connection', async () => {
  const { access } = await strava.grant(await strava.athlete())
  await script({ kind: 'reset', path: '/athlete' })
  await expect(strava.api('/athlete', access)).rejects.toThrow('fetch failed')
  expect((await strava.api('/athlete', access)).status).toBe(200)
})

test('a delayed call is answered in the end', async () => {
  const { access } = await strava.grant(await strava.athlete())
  await script({ kind: 'delay', path: '/athlete', ms: 5 })
  expect((await strava.api('/athlete', access)).status).toBe(200)
})

test('a lost answer of a strict refresh: the exchange is done, and the old refresh token is dead', async () => {
  const { refresh } = await strava.grant(await strava.athlete())
  await strava.advance(6 * 3_600_000)
  await script({ kind: 'lost', path: '/oauth/token' })
  await expect(strava.refresh(refresh)).rejects.toThrow('fetch failed')
  expectError(await strava.refresh(refresh), 400, 'Bad Request', ['RefreshToken', 'refresh_token', 'invalid'])
})

test('a lost answer of a lenient refresh: the old refresh token returns the pair that was lost', async () => {
  await strava.control('PUT', '/settings', { rotation: 'lenient' })
  const { refresh } = await strava.grant(await strava.athlete())
  await strava.advance(6 * 3_600_000)
  await script({ kind: 'lost', path: '/oauth/token' })
  await expect(strava.refresh(refresh)).rejects.toThrow('fetch failed')
  const again = await strava.refresh(refresh)
  expect(again.status).toBe(200)
  expect(again.body['refresh_token']).not.toBe(refresh)
})

test('calls without an answer are counted with status 0', async () => {
  await script({ kind: 'reset', path: '/oauth/token' })
  await expect(strava.refresh('any')).rejects.toThrow('fetch failed')
  const { body } = await strava.control('GET', '/counters')
  expect(body['windows']).toEqual({ '2026-05-01T10:00:00.000Z': { 'POST /oauth/token': { '0': 1 } } })
})

test('faults that are cleared have no effect', async () => {
  const { access } = await strava.grant(await strava.athlete())
  await script({ kind: 'reset', path: '/athlete', count: 100 })
  await strava.control('DELETE', '/faults')
  expect((await strava.api('/athlete', access)).status).toBe(200)
})
