import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLong } from '../../../testing/property-runs.ts'
import { BREAKFAST, openMealsEdge } from '../meals/edge.ts'
import type { MemoryEdge } from '../../../testing/edge/edge.ts'
import { send, type EdgeRequest } from '../../../testing/edge/request.ts'

/** The number of requests by kind: 26,500 in CI and with TRIBUTARY_LONG=1, 3,000 otherwise. */
const RUNS = isLong
  ? { valid: 2_000, wrong: 8_000, mutated: 9_000, raw: 5_000, headers: 2_500 }
  : { valid: 200, wrong: 900, mutated: 1_000, raw: 600, headers: 300 }

let edge: MemoryEdge
let token: string
let id: string

beforeAll(async () => {
  edge = await openMealsEdge({ limits: { usageSample: null } })
  token = await edge.token('ann')
  id = (await send(edge.app, { method: 'POST', url: '/v1/meals', token, body: BREAKFAST })).body.id
})
afterAll(() => edge.app.close())

/** Sends a request and checks the rules for every answer: no 5xx, a problem document for a refusal, and one event for a successful command. */
const isAnswered = async (sent: EdgeRequest) => {
  const before = edge.events.length
  const answer = await send(edge.app, { token, ...sent })
  const appended = edge.events.slice(before).filter(({ type }) => type !== 'PatUsed')
  const outcome = edge.outcomes.get(edge.events.length - 1)
  if (answer.status >= 500)
    throw new Error(`${sent.method ?? 'GET'} ${sent.url} was answered ${answer.status}: ${answer.text}`)
  if (answer.status >= 400) {
    expect(answer.headers['content-type']).toContain('application/problem+json')
    expect(answer.body).toMatchObject({ code: expect.stringMatching(/^[a-z0-9-]+$/), status: answer.status })
    // If the edge refuses a request, it appends no event. If a fold refuses the event of a request, the event is in the log and changes no item.
    if (appended.length > 0)
      expect([outcome?.kind, answer.status]).toEqual([
        'refused',
        expect.toSatisfy((status: number) => [404, 409, 422].includes(status)),
      ])
  } else if (sent.method !== undefined && sent.method !== 'GET') expect(appended).toHaveLength(1)
  return answer
}

const milli = fc.integer({ min: 0, max: 1_000_000_000 }).map((thousandths) => thousandths / 1000)
const words = (maxLength: number, minLength = 0) =>
  fc
    .string({ unit: 'grapheme', minLength, maxLength: Math.floor(maxLength / 16) + 1 })
    .filter(
      (text) =>
        text.length >= minLength &&
        text.length <= maxLength &&
        !/[\p{Cs}\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/u.test(text),
    )
const nutrient = fc
  .stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,39}$/)
  .filter((name) => name !== 'constructor' && name !== 'prototype')
const zone = fc.constantFrom(
  'Europe/Berlin',
  'America/St_Johns',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'Asia/Kathmandu',
  'UTC',
  'Etc/GMT+12',
)
const instant = fc
  .tuple(
    fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
    fc.constantFrom('Z', '+00:00', '-00:00'),
  )
  .map(([date, end]) => date.toISOString().replace('Z', end))

const meal = fc.record(
  {
    eatenAt: instant,
    tz: zone,
    mealSummary: words(400, 1),
    calories: milli,
    protein: milli,
    carbs: milli,
    fat: milli,
    emoji: words(60),
    notes: words(2_000),
    extendedNutrients: fc.dictionary(nutrient, milli, { maxKeys: 8, noNullPrototype: true }),
    registrySnapshot: fc.record({ version: fc.nat(), nutrients: fc.uniqueArray(nutrient, { maxLength: 8 }) }),
  },
  { requiredKeys: ['eatenAt', 'tz', 'mealSummary', 'calories', 'protein', 'carbs', 'fat'] },
)

type Meal = Readonly<Record<string, unknown>>

/** Generates changes, each of which makes a valid meal invalid. */
const spoil: fc.Arbitrary<(meal: Meal) => Meal> = fc.oneof(
  fc
    .constantFrom('eatenAt', 'tz', 'mealSummary', 'calories')
    .map((name) => (good: Meal) => Object.fromEntries(Object.entries(good).filter(([each]) => each !== name))),
  fc
    .tuple(
      fc.constantFrom('calories', 'protein', 'carbs', 'fat'),
      fc.oneof(
        fc.string(),
        fc.boolean(),
        fc.constant(null),
        fc.array(fc.nat(), { maxLength: 2 }),
        fc.double({ max: -0.0001, noNaN: true, noDefaultInfinity: true }),
        fc.double({ min: 1_000_001, noNaN: true, noDefaultInfinity: true }),
        milli.map((number) => number + 0.0004).filter((number) => Math.round(number * 1000) / 1000 !== number),
      ),
    )
    .map(([name, value]) => (good: Meal) => ({ ...good, [name]: value })),
  fc
    .tuple(
      fc
        .string({ minLength: 1, maxLength: 20 })
        .filter(
          (name) =>
            ![
              'userDate',
              'emoji',
              'notes',
              'extendedNutrients',
              'registrySnapshot',
              ...Object.keys(BREAKFAST),
            ].includes(name),
        ),
      fc.jsonValue(),
    )
    .map(([name, value]) => (good: Meal) => ({ ...good, [name]: value })),
  fc
    .oneof(
      fc.string(),
      fc.integer(),
      fc.constant('2026-02-30T00:00:00Z'),
      fc.constant('2026-11-16T00:00:00'),
      fc.constant('2026-11-16T00:00:00.1234Z'),
    )
    .map((eatenAt) => (good: Meal) => ({ ...good, eatenAt })),
  fc
    .oneof(
      fc.string().filter((tz) => !/^[A-Za-z]/.test(tz)),
      fc.constant('Atlantis/Center'),
      fc.nat(),
    )
    .map((tz) => (good: Meal) => ({ ...good, tz })),
  fc
    .oneof(
      fc.string().filter((day) => !/^\d{4}-/.test(day)),
      fc.constantFrom('0000-00-00', '2026-02-29', '1899-01-01', '9999-12-31'),
    )
    .map((userDate) => (good: Meal) => ({ ...good, userDate })),
  fc.constantFrom('', 'x'.repeat(1_001), null, 5, []).map((mealSummary) => (good: Meal) => ({ ...good, mealSummary })),
  fc
    .tuple(
      fc.string({ minLength: 1 }).filter((name) => !/^[A-Za-z][A-Za-z0-9_-]*$/.test(name)),
      milli,
    )
    .map(([name, amount]) => (good: Meal) => ({ ...good, extendedNutrients: { [name]: amount } })),
)

/** Generates values for any field. With some of them, a request stays valid. */
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.double(),
  fc.constantFrom('', ' ', '__proto__', '\u0000', '\ud800', -0, 1e300, 2 ** 53, [], {}),
)
const bodies: readonly (readonly [method: NonNullable<EdgeRequest['method']>, path: string, body: Meal])[] = [
  ['POST', '/v1/meals', BREAKFAST],
  [
    'PATCH',
    '/v1/meals/ID',
    {
      eatenAt: '2026-11-16T08:00:00Z',
      tz: 'UTC',
      calories: 1,
      mealSummary: 'x',
      extendedNutrients: { fiber: 1 },
      revision: 1,
    },
  ],
  ['PATCH', '/v1/meals/ID', { userDate: '2026-11-16' }],
  ['POST', '/v1/meals/ID/restore', {}],
  ['DELETE', '/v1/meals/ID', {}],
  [
    'PATCH',
    '/v1/targets',
    { calories: 2000, protein: null, displayUnit: 'kj', version: 0, effectiveFromDate: '2026-11-16' },
  ],
  ['PUT', '/v1/nutrients/fiber', { unit: 'g', goal: 30, version: null }],
  ['DELETE', '/v1/nutrients/fiber', {}],
  ['POST', '/v1/tokens', { name: 'x', scopes: ['read'] }],
  ['DELETE', '/v1/tokens/nobody', {}],
]
const mutation = fc
  .constantFrom(...bodies)
  .chain(([method, path, body]) =>
    fc.record({
      method: fc.constant(method),
      path: fc.constant(path),
      body: fc
        .tuple(
          fc.subarray(Object.keys(body)),
          fc.dictionary(fc.oneof(fc.constantFrom(...Object.keys(BREAKFAST)), fc.string({ maxLength: 8 })), junk, {
            maxKeys: 2,
          }),
        )
        .map(([names, added]) => ({ ...Object.fromEntries(names.map((name) => [name, body[name]])), ...added })),
    }),
  )

const anywhere = fc.oneof(
  fc.constantFrom(
    '/v1/meals',
    '/v1/summaries',
    '/v1/days-logged',
    '/v1/targets',
    '/v1/tokens',
    '/v1/usage',
    '/docs',
    '/openapi.json',
  ),
  fc.string({ unit: 'grapheme', maxLength: 40 }).map((part) => `/v1/meals/${encodeURIComponent(part)}`),
  fc.webPath().map((path) => `/${path.slice(1)}`),
)
const query = fc
  .dictionary(
    fc.constantFrom('day', 'from', 'to', 'limit', 'cursor', 'x'),
    fc.oneof(
      fc.constantFrom(
        '2026-11-16',
        '2026-11-01T00:00:00Z',
        '2026-02-30',
        '1',
        '200',
        '201',
        '-1',
        '',
        '9999-12-31',
        '0001-01-01',
        'MjAyNi0xMS0xNiA',
        'eyJhIjoxfQ',
      ),
      fc.string({ maxLength: 30 }),
    ),
    { maxKeys: 4, noNullPrototype: true },
  )
  .map((members) => new URLSearchParams(members).toString())

describe('any request is answered', () => {
  test(
    'a valid meal is accepted',
    () =>
      fc.assert(
        fc.asyncProperty(meal, async (body) => {
          expect((await isAnswered({ method: 'POST', url: '/v1/meals', body })).status).toBe(201)
        }),
        { numRuns: RUNS.valid },
      ),
    300_000,
  )

  test(
    'an invalid meal is refused, and no event is appended',
    () =>
      fc.assert(
        fc.asyncProperty(meal, spoil, async (good, spoiled) => {
          const before = edge.events.length
          expect((await isAnswered({ method: 'POST', url: '/v1/meals', body: spoiled(good) })).status).toBe(400)
          expect(edge.events).toHaveLength(before)
        }),
        { numRuns: RUNS.wrong },
      ),
    300_000,
  )

  test(
    'a body with anything changed is accepted or refused',
    () =>
      fc.assert(
        fc.asyncProperty(mutation, async ({ method, path, body }) => {
          await isAnswered({ method, url: path.replace('ID', id), body })
        }),
        { numRuns: RUNS.mutated },
      ),
    300_000,
  )

  test('a body of any bytes is accepted or refused', () => {
    const good = Buffer.from(JSON.stringify({ ...BREAKFAST, extendedNutrients: { fiber: 1 } }))
    const flipped = fc
      .array(fc.tuple(fc.nat({ max: good.length - 1 }), fc.nat({ max: 255 })), { maxLength: 4 })
      .map((flips) => {
        const bytes = Buffer.from(good)
        for (const [at, byte] of flips) bytes[at] = byte
        return bytes
      })
    const bytes = fc.oneof(
      flipped,
      flipped,
      fc.nat({ max: good.length }).map((end) => good.subarray(0, end)),
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
      fc.json().map((text) => Buffer.from(text)),
    )
    return fc.assert(
      fc.asyncProperty(
        bytes,
        fc.constantFrom('POST /v1/meals', 'PATCH /v1/targets', 'POST /v1/tokens'),
        async (raw, target) => {
          const [method, url = ''] = target.split(' ')
          await isAnswered({ method: method === 'POST' ? 'POST' : 'PATCH', url, raw })
        },
      ),
      { numRuns: RUNS.raw },
    )
  }, 300_000)

  test('any path, query and header is answered', () => {
    const header = fc.stringMatching(/^[\x21-\x7e]{0,60}$/)
    const headers = fc.record(
      {
        'idempotency-key': header,
        'tributary-after': header,
        prefer: header,
        authorization: header,
        'content-type': header,
        accept: header,
      },
      { requiredKeys: [] },
    )
    const methods = fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE', 'PUT', 'PATCH')
    return fc.assert(
      fc.asyncProperty(anywhere, query, headers, methods, async (path, search, extra, method) => {
        const sent: EdgeRequest = { method, url: `${path}${search === '' ? '' : `?${search}`}`, headers: extra }
        const before = edge.events.length
        const { status, text } = await send(edge.app, { token, ...sent })
        if (status >= 500 && !text.includes('not-yet-visible'))
          throw new Error(`${method} ${sent.url} was answered ${status}: ${text}`)
        if (status >= 400) expect(edge.events).toHaveLength(before)
      }),
      { numRuns: RUNS.headers },
    )
  }, 300_000)
})
