import { afterEach, beforeEach, expect, test } from 'vitest'
import { expectError, START, startLoopback, type Loopback } from './loopback.ts'

let strava: Loopback
beforeEach(async () => {
  strava = await startLoopback()
})
afterEach(() => strava.stop())

const NOW_S = Date.parse(START) / 1000
const MISSING = ['AccessToken', 'activity:read_permission', 'missing'] as const

/** The ids of a list, read as digits. */
const idsOf = (text: string): readonly string[] =>
  [...text.matchAll(/"workout_type":null,"id":(\d+)/g)].map((match) => match[1] ?? '')

test('a call without a token that works answers 401 invalid', async () => {
  for (const token of ['', 'f'.repeat(40)])
    expectError(await strava.api('/athlete', token), 401, 'Authorization Error', ['Athlete', 'access_token', 'invalid'])
})

test('the scope profile:read_all gives the detailed athlete', async () => {
  const id = await strava.athlete({ firstname: 'Grace', lastname: 'Hopper' })
  const summary = await strava.api('/athlete', (await strava.grant(id, 'read')).access)
  expect(summary.body).toMatchObject({ id: Number(id), firstname: 'Grace', resource_state: 2 })
  const detailed = await strava.api('/athlete', (await strava.grant(id, 'read', 'profile:read_all')).access)
  expect(detailed.body).toMatchObject({ resource_state: 3, measurement_preference: 'meters' })
})

test('an activity has an id of 17 digits, a float distance and its local start', async () => {
  const athlete = await strava.athlete()
  const { access } = await strava.grant(athlete)
  const id = await strava.activity(athlete, { start: '2026-04-30T06:00:00Z', utc_offset: 7200, distance: 28_099 })
  expect(id).toMatch(/^\d{17}$/)
  const { text, body } = await strava.api(`/activities/${id}`, access)
  expect(text).toContain(`"id":${id},`)
  expect(text).toContain('"distance":28099.0,')
  expect(text).toContain('"utc_offset":7200.0,')
  expect(body).toMatchObject({
    resource_state: 3,
    start_date: '2026-04-30T06:00:00Z',
    start_date_local: '2026-04-30T08:00:00Z',
    private: false,
    visibility: 'everyone',
  })
})

test('an activity without elevation has null', async () => {
  const athlete = await strava.athlete()
  const { access } = await strava.grant(athlete)
  const id = await strava.activity(athlete, { elevation: null })
  expect((await strava.api(`/activities/${id}`, access)).body['total_elevation_gain']).toBeNull()
})

test('sport_type knows more sports than the deprecated type', async () => {
  const athlete = await strava.athlete()
  const { access } = await strava.grant(athlete)
  const id = await strava.activity(athlete, { sport_type: 'GravelRide' })
  const { body } = await strava.api(`/activities/${id}`, access)
  expect(body).toMatchObject({ sport_type: 'GravelRide', type: 'Ride' })
})

test('a hidden start is midnight + 1 second of the local day in both dates', async () => {
  const athlete = await strava.athlete()
  const { access } = await strava.grant(athlete)
  const id = await strava.activity(athlete, { start: '2026-04-30T23:30:00Z', utc_offset: 7200, hide_start: true })
  expect((await strava.api(`/activities/${id}`, access)).body).toMatchObject({
    start_date: '2026-05-01T00:00:01Z',
    start_date_local: '2026-05-01T00:00:01Z',
  })
})

test('activities need a scope of activities', async () => {
  const athlete = await strava.athlete()
  const id = await strava.activity(athlete)
  const { access } = await strava.grant(athlete, 'read', 'profile:read_all')
  expectError(await strava.api('/athlete/activities', access), 401, 'Authorization Error', MISSING)
  expectError(await strava.api(`/activities/${id}`, access), 401, 'Authorization Error', MISSING)
})

test('activities that only the athlete sees need activity:read_all', async () => {
  const athlete = await strava.athlete()
  const shown = await strava.activity(athlete, { start: '2026-04-01T06:00:00Z' })
  const hidden = await strava.activity(athlete, { start: '2026-04-02T06:00:00Z', visibility: 'only_me' })
  const some = (await strava.grant(athlete, 'read', 'activity:read')).access
  expect(idsOf((await strava.api('/athlete/activities', some)).text)).toEqual([shown])
  expectError(await strava.api(`/activities/${hidden}`, some), 401, 'Authorization Error', MISSING)
  const all = (await strava.grant(athlete, 'read', 'activity:read', 'activity:read_all')).access
  expect(idsOf((await strava.api('/athlete/activities', all)).text)).toEqual([hidden, shown])
  expect((await strava.api(`/activities/${hidden}`, all)).body).toMatchObject({ private: true, visibility: 'only_me' })
})

test('a second grant replaces the scopes, also of tokens that exist', async () => {
  const athlete = await strava.athlete()
  const { access } = await strava.grant(athlete)
  expect((await strava.api('/athlete/activities', access)).status).toBe(200)
  await strava.grant(athlete, 'read')
  expectError(await strava.api('/athlete/activities', access), 401, 'Authorization Error', MISSING)
})

test('an unknown activity and one of another athlete answer 404, and a path without digits too', async () => {
  const { access } = await strava.grant(await strava.athlete())
  const other = await strava.activity(await strava.athlete())
  for (const id of ['12345678901234567', other, 'x'])
    expectError(await strava.api(`/activities/${id}`, access), 404, 'Resource Not Found', ['Activity', '', 'not found'])
  expectError(await strava.api('/clubs', access), 404, 'Record Not Found', ['resource', 'path', 'invalid'])
})

test('lists are newest first, and oldest first with after; both bounds are exclusive', async () => {
  const athlete = await strava.athlete()
  const { access } = await strava.grant(athlete)
  const times = [1_000, 2_000, 3_000]
  const ids: string[] = []
  for (const time of times)
    ids.push(await strava.activity(athlete, { start: new Date((NOW_S - 10_000 + time) * 1000).toISOString() }))
  const [first, second, third] = ids
  const list = async (query: string) => idsOf((await strava.api(`/athlete/activities?${query}`, access)).text)
  expect(await list('')).toEqual([third, second, first])
  expect(await list(`before=${NOW_S - 7_000}`)).toEqual([second, first])
  expect(await list(`before=${NOW_S - 6_999}`)).toEqual([third, second, first])
  expect(await list(`after=${NOW_S - 9_000}`)).toEqual([second, third])
  expect(await list('per_page=2&page=2')).toEqual([first])
})

test('450 activities are read by before in pages of 200, 200 and 52, which overlap by one', async () => {
  const athlete = await strava.athlete({ generated: { seed: 7, count: 450 } })
  const { access } = await strava.grant(athlete)
  const sizes: number[] = []
  const seen = new Set<string>()
  let before = ''
  for (;;) {
    const { text, body } = await strava.api(`/athlete/activities?per_page=200${before}`, access)
    const ids = idsOf(text)
    for (const id of ids) seen.add(id)
    sizes.push(ids.length)
    if (ids.length < 200) break
    const oldest = Object.values(body).at(-1)
    const start = typeof oldest === 'object' && oldest !== null ? Reflect.get(oldest, 'start_date') : undefined
    before = `&before=${Date.parse(String(start)) / 1000 + 1}`
  }
  expect(sizes).toEqual([200, 200, 52])
  expect(seen.size).toBe(450)
})

test('a page has at most 200 activities, and 30 by default', async () => {
  const { access } = await strava.grant(await strava.athlete({ generated: { count: 450 } }))
  const size = async (query: string) => idsOf((await strava.api(`/athlete/activities${query}`, access)).text).length
  expect(await size('')).toBe(30)
  expect(await size('?per_page=500')).toBe(200)
})

test('after in the future is refused, so milliseconds are refused', async () => {
  const { access } = await strava.grant(await strava.athlete())
  for (const after of [NOW_S + 1, NOW_S * 1000])
    expectError(await strava.api(`/athlete/activities?after=${after}`, access), 400, 'Bad Request', [
      'Application',
      'after',
      'future',
    ])
  expect((await strava.api(`/athlete/activities?before=${NOW_S * 1000}`, access)).status).toBe(200)
})

test('parameters that are not numbers are refused', async () => {
  const { access } = await strava.grant(await strava.athlete())
  for (const name of ['before', 'after', 'page', 'per_page'])
    expectError(await strava.api(`/athlete/activities?${name}=x`, access), 400, 'Bad Request', [
      'Application',
      name,
      'invalid',
    ])
})

test('a list compares hidden starts by the shown start, or by the real start if the settings say so', async () => {
  const athlete = await strava.athlete()
  const { access } = await strava.grant(athlete)
  const hidden = await strava.activity(athlete, { start: '2026-04-30T18:00:00Z', hide_start: true })
  const morning = await strava.activity(athlete, { start: '2026-04-30T06:00:00Z' })
  const list = async () => idsOf((await strava.api('/athlete/activities', access)).text)
  expect(await list()).toEqual([morning, hidden])
  await strava.control('PUT', '/settings', { hiddenOrder: 'start' })
  expect(await list()).toEqual([hidden, morning])
})

test('an inactive application gets 403 for every call', async () => {
  const { access } = await strava.grant(await strava.athlete())
  await strava.control('PUT', '/settings', { application: 'inactive' })
  for (const path of ['/athlete', '/athlete/activities', '/activities/1'])
    expectError(await strava.api(path, access), 403, 'Forbidden', ['Application', 'Status', 'Inactive'])
})

test('the API is also served without the base path, as on the new host', async () => {
  const { access } = await strava.grant(await strava.athlete())
  const response = await fetch(`${strava.url}/athlete`, { headers: { authorization: `Bearer ${access}` } })
  expect(response.status).toBe(200)
})
