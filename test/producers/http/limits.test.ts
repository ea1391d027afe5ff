import { describe, expect, test } from 'vitest'
import { isSampled } from '../../../producers/http/usage.ts'
import { BREAKFAST, openMealsEdge } from '../meals/edge.ts'
import { NOON } from '../../../testing/event.ts'
import type { MemoryEdge } from '../../../testing/edge/edge.ts'
import { send } from '../../../testing/edge/request.ts'

const log = ({ app }: MemoryEdge, token: string) =>
  send(app, { method: 'POST', url: '/v1/meals', token, body: BREAKFAST })
const ofType = ({ events }: MemoryEdge, type: string) => events.filter((event) => event.type === type)

describe('the rate limit', () => {
  test('a token with too many requests is limited, and another is not', async () => {
    const edge = await openMealsEdge({ limits: { rate: { max: 3, windowMs: 60_000 } } })
    const [ann, bob] = [await edge.token('ann'), await edge.token('bob')]
    for (let n = 0; n < 3; n += 1) expect((await send(edge.app, { url: '/v1/targets', token: ann })).status).toBe(200)
    const before = ofType(edge, 'MealLogged').length
    expect(await log(edge, ann)).toMatchObject({
      status: 429,
      body: { code: 'rate-limited' },
      headers: {
        'retry-after': expect.stringMatching(/^[1-9]\d*$/),
        'content-type': expect.stringContaining('problem+json'),
      },
    })
    expect(ofType(edge, 'MealLogged')).toHaveLength(before)
    expect(await send(edge.app, { url: '/v1/targets', token: bob })).toMatchObject({ status: 200 })
  })

  test('counts requests that wait for an event, before they wait', async () => {
    const edge = await openMealsEdge({ limits: { rate: { max: 2, windowMs: 60_000 } } })
    const token = await edge.token('ann')
    const request = () =>
      send(edge.app, {
        url: '/v1/targets',
        token,
        headers: { 'tributary-after': `0:999999:${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}` },
      })
    expect([(await request()).body.code, (await request()).body.code, (await request()).body.code]).toEqual([
      'not-yet-visible',
      'not-yet-visible',
      'rate-limited',
    ])
  })
})

describe('the rate limit and requests without a valid token', () => {
  test('requests with an unknown token use up no limit', async () => {
    const edge = await openMealsEdge({ limits: { rate: { max: 2, windowMs: 60_000 } } })
    const ann = await edge.token('ann')
    for (let n = 0; n < 5; n += 1)
      expect((await send(edge.app, { url: '/v1/targets', token: `${ann.slice(0, -4)}aaaa` })).status).toBe(401)
    expect((await send(edge.app, { url: '/v1/targets', token: ann })).status).toBe(200)
  })
})

describe('usage', () => {
  test('M6 M15 reads and writes of a UTC day are counted and can be read', async () => {
    const edge = await openMealsEdge({ limits: { usageSample: 1 } })
    const ann = await edge.token('ann')
    await log(edge, ann)
    await log(edge, ann)
    await send(edge.app, { url: '/v1/targets', token: ann })
    expect((await send(edge.app, { url: '/v1/usage?day=2026-11-16', token: ann })).body).toEqual({
      day: '2026-11-16',
      reads: 1,
      writes: 2,
    })
    expect((await send(edge.app, { url: '/v1/usage', token: ann })).body).toMatchObject({ day: '2026-11-16', reads: 2 })
  })

  test('M-j the day is the UTC day, whatever day the meal belongs to', async () => {
    const edge = await openMealsEdge({ limits: { usageSample: 1 } })
    const ann = await edge.token('ann')
    edge.clock.at = Date.parse('2026-11-17T00:00:00.000Z')
    await log(edge, ann)
    expect((await send(edge.app, { url: '/v1/usage?day=2026-11-17', token: ann })).body).toMatchObject({ writes: 1 })
  })

  test('M-j one in N events is sampled by a hash of its id, and counts as N', async () => {
    const edge = await openMealsEdge({ limits: { usageSample: 4 } })
    const ann = await edge.token('ann')
    for (let n = 0; n < 60; n += 1) await log(edge, ann)
    const drawn = ofType(edge, 'MealLogged').filter(({ meta }) => isSampled(meta.eventId, 4))
    const samples = ofType(edge, 'ApiUsageSampled')
    expect(samples.length).toBeGreaterThan(0)
    expect(samples.map(({ meta }) => meta.correlationId)).toEqual(drawn.map(({ meta }) => meta.eventId))
    for (const { data } of samples) expect(data).toEqual({ date: '2026-11-16', reads: 0, writes: 1, weight: 4 })
  })

  test('M-j about one in N ids is sampled', () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => `01935b7a-${n}`)
    const drawn = ids.filter((id) => isSampled(id, 10)).length
    expect(drawn).toBeGreaterThan(900)
    expect(drawn).toBeLessThan(1_100)
  })

  test('sampling can be switched off', async () => {
    const edge = await openMealsEdge({ limits: { usageSample: null } })
    const ann = await edge.token('ann')
    await log(edge, ann)
    expect(ofType(edge, 'ApiUsageSampled')).toEqual([])
  })

  test('a request that is not authenticated is not counted', async () => {
    const edge = await openMealsEdge({ limits: { usageSample: 1 } })
    await send(edge.app, { url: '/v1/targets', token: 'x' })
    expect(ofType(edge, 'ApiUsageSampled')).toEqual([])
  })

  test("M5 a token's use is recorded once per UTC day", async () => {
    const edge = await openMealsEdge()
    const ann = await edge.token('ann')
    for (let n = 0; n < 3; n += 1) await send(edge.app, { url: '/v1/targets', token: ann })
    edge.clock.at = NOON + 86_400_000
    for (let n = 0; n < 3; n += 1) await send(edge.app, { url: '/v1/targets', token: ann })
    expect(ofType(edge, 'PatUsed').map(({ data }) => data)).toMatchObject([
      { date: '2026-11-16' },
      { date: '2026-11-17' },
    ])
    expect((await send(edge.app, { url: '/v1/tokens', token: ann })).body.items).toMatchObject([
      { lastUsedAt: '2026-11-17' },
    ])
  })
})

describe('quotas', () => {
  test('M15 a user whose quota of writes is used up can still read, and can write again the next day', async () => {
    const edge = await openMealsEdge({ limits: { usageSample: 1, quota: { reads: null, writes: 3 } } })
    const [ann, bob] = [await edge.token('ann'), await edge.token('bob')]
    for (let n = 0; n < 3; n += 1) expect((await log(edge, ann)).status).toBe(201)
    const before = ofType(edge, 'MealLogged').length
    expect(await log(edge, ann)).toMatchObject({
      status: 429,
      body: { code: 'quota-exceeded' },
      headers: { 'retry-after': String(12 * 3600) },
    })
    expect(ofType(edge, 'MealLogged')).toHaveLength(before)
    expect((await send(edge.app, { url: '/v1/targets', token: ann })).status).toBe(200)
    expect((await log(edge, bob)).status).toBe(201)
    edge.clock.at = NOON + 12 * 3_600_000
    expect((await log(edge, ann)).status).toBe(201)
  })

  test('M15 reads have a quota of their own', async () => {
    const edge = await openMealsEdge({ limits: { usageSample: 1, quota: { reads: 1, writes: null } } })
    const ann = await edge.token('ann')
    expect((await send(edge.app, { url: '/v1/targets', token: ann })).status).toBe(200)
    expect(await send(edge.app, { url: '/v1/targets', token: ann })).toMatchObject({
      status: 429,
      body: { code: 'quota-exceeded' },
    })
    expect((await log(edge, ann)).status).toBe(201)
  })

  test('M15 all tokens of a person share the quota', async () => {
    const edge = await openMealsEdge({ limits: { usageSample: 1, quota: { reads: null, writes: 1 } } })
    const [one, other] = [await edge.token('ann'), await edge.token('ann')]
    expect((await log(edge, one)).status).toBe(201)
    expect((await log(edge, other)).status).toBe(429)
  })
})

test('the edge reports every appended event and every answer to the metrics', async () => {
  const reported: unknown[] = []
  const edge = await openMealsEdge({
    limits: { usageSample: 1 },
    report: {
      appended: (event) => reported.push(event),
      quarantined: (reason) => reported.push(reason),
      webhookCalled: (...what) => reported.push(what),
      answered: ({ seconds, ...answer }) => reported.push([answer, seconds >= 0]),
    },
  })
  const ann = await edge.token('ann')
  await log(edge, ann)
  await send(edge.app, { url: '/nowhere' })
  expect(reported).toHaveLength(5)
  expect(reported).toEqual(
    expect.arrayContaining([
      { domain: 'meals', source: 'edge', type: 'PatUsed' },
      { domain: 'meals', source: 'edge', type: 'ApiUsageSampled' },
      { domain: 'meals', source: 'edge', type: 'MealLogged' },
      [{ method: 'POST', route: '/v1/meals', status: 201 }, true],
      [{ method: 'GET', route: 'none', status: 404 }, true],
    ]),
  )
})
