import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BREAKFAST, openMealsEdge } from '../meals/edge.ts'
import type { MemoryEdge } from '../../../testing/edge/edge.ts'
import { send, type EdgeRequest } from '../../../testing/edge/request.ts'

let edge: MemoryEdge
let token: string
let mealId: string

beforeAll(async () => {
  edge = await openMealsEdge()
  token = await edge.token('ann')
  mealId = String((await send(edge.app, { method: 'POST', url: '/v1/meals', token, body: BREAKFAST })).body.id)
})
afterAll(() => edge.app.close())

/** Sends a request and checks that it is refused: the answer is a problem document with the expected code, and no event is appended. */
const refused = async (sent: EdgeRequest, expected: { status: number; code: string; field?: string }) => {
  const before = edge.events.length
  const { status, headers, body } = await send(edge.app, { token, ...sent })
  expect({ status, body }).toMatchObject({ status: expected.status, body: expected })
  expect(headers['content-type']).toMatch(/^application\/problem\+json/)
  expect(body).toMatchObject({
    type: `urn:tributary:problem:${expected.code}`,
    title: expect.any(String),
    detail: expect.any(String),
  })
  expect(edge.events).toHaveLength(before)
}

const meal = (change: object) => ({ ...BREAKFAST, ...change })
const rawMeal = (field: string) => JSON.stringify(BREAKFAST).replace('"calories":412.5', field)

describe('a meal is refused', () => {
  const wrong: readonly (readonly [what: string, body: unknown, code: string, field: string])[] = [
    ["with another's user id", meal({ userId: 'bob' }), 'unknown-field', '/userId'],
    ['with a field named toString', meal({ toString: 1 }), 'unknown-field', '/toString'],
    ['with null for a number', meal({ calories: null }), 'wrong-type', '/calories'],
    ['with a text for a number', meal({ calories: '412.5' }), 'wrong-type', '/calories'],
    ['with true for a number', meal({ calories: true }), 'wrong-type', '/calories'],
    ['with a list for a number', meal({ calories: [1] }), 'wrong-type', '/calories'],
    ['with a number for a text', meal({ mealSummary: 5 }), 'wrong-type', '/mealSummary'],
    ['with less than nothing', meal({ fat: -1 }), 'out-of-range', '/fat'],
    ['with too much', meal({ fat: 1_000_000.001 }), 'out-of-range', '/fat'],
    ['with four decimals', meal({ calories: 0.0001 }), 'too-many-decimals', '/calories'],
    ['with a sum of floats', meal({ calories: 0.1 + 0.2 }), 'too-many-decimals', '/calories'],
    ['with an empty summary', meal({ mealSummary: '' }), 'too-short', '/mealSummary'],
    ['with a huge summary', meal({ mealSummary: 'x'.repeat(1001) }), 'too-long', '/mealSummary'],
    ['with huge notes', meal({ notes: 'x'.repeat(50_000) }), 'too-long', '/notes'],
    ['with null for notes', meal({ notes: null }), 'wrong-type', '/notes'],
    ['on 30 February', meal({ eatenAt: '2026-02-30T12:00:00Z' }), 'bad-instant', '/eatenAt'],
    ['on 29 February of a year without one', meal({ eatenAt: '2026-02-29T12:00:00Z' }), 'bad-instant', '/eatenAt'],
    ["at 25 o'clock", meal({ eatenAt: '2026-11-16T25:00:00Z' }), 'bad-instant', '/eatenAt'],
    ['at 24:00', meal({ eatenAt: '2026-11-16T24:00:00Z' }), 'bad-instant', '/eatenAt'],
    ['without an offset', meal({ eatenAt: '2026-11-16T12:00:00' }), 'bad-instant', '/eatenAt'],
    ['with a bare date', meal({ eatenAt: '2026-11-16' }), 'bad-instant', '/eatenAt'],
    [
      'with microseconds, which would be lost',
      meal({ eatenAt: '2026-11-16T12:00:00.000001Z' }),
      'bad-instant',
      '/eatenAt',
    ],
    ['with an epoch for an instant', meal({ eatenAt: 1763294400000 }), 'wrong-type', '/eatenAt'],
    ['in the year 1', meal({ eatenAt: '0001-01-01T12:00:00Z' }), 'out-of-range', '/eatenAt'],
    ['in the year 0', meal({ eatenAt: '0000-02-29T12:00:00Z' }), 'out-of-range', '/eatenAt'],
    ['in the year 9999', meal({ eatenAt: '9999-12-31T12:00:00Z' }), 'out-of-range', '/eatenAt'],
    [
      'on 29 February of the year 9999, which has none',
      meal({ eatenAt: '9999-02-29T12:00:00Z' }),
      'bad-instant',
      '/eatenAt',
    ],
    ['on a day of the year 9999', meal({ userDate: '9999-12-31' }), 'user-date-out-of-range', '/userDate'],
    ['in no zone', meal({ tz: 'Mars/Olympus' }), 'bad-zone', '/tz'],
    ['in an offset for a zone', meal({ tz: '+01:00' }), 'bad-zone', '/tz'],
    ['in an empty zone', meal({ tz: '' }), 'bad-zone', '/tz'],
    ['on an impossible day', meal({ userDate: '2026-13-01' }), 'bad-date', '/userDate'],
    ['on a day far away', meal({ userDate: '2027-11-16' }), 'user-date-out-of-range', '/userDate'],
    ['with a nutrient by a bad name', meal({ extendedNutrients: { 'a b': 1 } }), 'bad-name', '/extendedNutrients'],
    [
      'with null for a nutrient',
      meal({ extendedNutrients: { fiber: null } }),
      'wrong-type',
      '/extendedNutrients/fiber',
    ],
    [
      'with a nutrient of four decimals',
      meal({ extendedNutrients: { fiber: 1.2345 } }),
      'too-many-decimals',
      '/extendedNutrients/fiber',
    ],
    [
      'with too many nutrients',
      meal({ extendedNutrients: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`n${n}`, 1])) }),
      'too-many',
      '/extendedNutrients',
    ],
    ['with a list of nutrients', meal({ extendedNutrients: [] }), 'wrong-type', '/extendedNutrients'],
    [
      'with half a snapshot',
      meal({ registrySnapshot: { version: 1 } }),
      'missing-field',
      '/registrySnapshot/nutrients',
    ],
    ['that is null', null, 'wrong-type', ''],
  ]
  test.each(wrong)('%s', (_what, body, code, field) =>
    refused({ method: 'POST', url: '/v1/meals', body }, { status: 400, code, ...(field === '' ? {} : { field }) }),
  )

  const raw: readonly { what: string; raw: string | Buffer; code: string; status?: number }[] = [
    { what: 'with 1e400', raw: rawMeal('"calories":1e400'), code: 'number-not-finite' },
    { what: 'with NaN', raw: rawMeal('"calories":NaN'), code: 'malformed-json' },
    { what: 'with -0', raw: rawMeal('"calories":-0'), code: 'negative-zero' },
    { what: 'with its calories twice', raw: rawMeal('"calories":1,"calories":2'), code: 'duplicate-field' },
    {
      what: 'with digits that would be lost',
      raw: rawMeal('"calories":1.000000000000000001'),
      code: 'number-too-precise',
    },
    { what: 'with __proto__', raw: rawMeal('"calories":1,"__proto__":{"fat":1}'), code: 'forbidden-name' },
    {
      what: 'with a __proto__ nutrient',
      raw: rawMeal('"calories":1,"extendedNutrients":{"__proto__":1}'),
      code: 'forbidden-name',
    },
    { what: 'with half a character', raw: rawMeal('"calories":1,"notes":"\\ud83e"'), code: 'lone-surrogate' },
    { what: 'with a zero character', raw: rawMeal('"calories":1,"notes":"a\\u0000b"'), code: 'control-character' },
    {
      what: 'in bad UTF-8',
      raw: Buffer.concat([Buffer.from('{"notes":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
      code: 'bad-utf8',
    },
    { what: '300 levels deep', raw: `{"notes":${'['.repeat(300)}${']'.repeat(300)}}`, code: 'too-deep' },
    { what: 'that breaks off', raw: '{"calories":', code: 'malformed-json' },
    { what: 'that is empty', raw: Buffer.alloc(0), code: 'body-missing' },
    {
      what: 'over 64 KiB',
      raw: JSON.stringify(meal({ notes: 'x'.repeat(64 * 1024) })),
      code: 'body-too-large',
      status: 413,
    },
  ]
  test.each(raw)('$what', ({ raw: body, code, status = 400 }) =>
    refused({ method: 'POST', url: '/v1/meals', raw: body }, { status, code }),
  )

  test('with each of its mistakes listed', async () => {
    const { body } = await send(edge.app, {
      method: 'POST',
      url: '/v1/meals',
      token,
      body: { calories: '1', colour: 'red' },
    })
    expect(body.errors.map(({ pointer }) => pointer)).toEqual(
      expect.arrayContaining(['/calories', '/colour', '/eatenAt', '/tz', '/mealSummary']),
    )
  })
})

test('a mistake is described in plain words', async () => {
  const edge = await openMealsEdge()
  const token = await edge.token('ann')
  const detail = async (sent: EdgeRequest): Promise<unknown> =>
    (await send(edge.app, { token, ...sent })).body['detail']
  expect(await detail({ method: 'POST', url: '/v1/meals', body: { ...BREAKFAST, calories: 'many' } })).toBe(
    '/calories: it must be a number.',
  )
  expect(await detail({ method: 'PATCH', url: '/v1/targets', body: { protein: 'much' } })).toBe(
    '/protein: it must be a number or null.',
  )
  expect(await detail({ method: 'PATCH', url: '/v1/targets', body: {} })).toBe(
    'The body: it must have at least 1 field.',
  )
  expect(await detail({ url: '/v1/days-logged?limit=ten' })).toBe(
    'querystring/limit must be a whole number from 1 to 200.',
  )
})

describe('a request is refused', () => {
  const wrong: readonly (readonly [what: string, sent: EdgeRequest, status: number, code: string])[] = [
    ['on no path', { url: '/v1/nothing' }, 404, 'route-not-found'],
    ['at the root', { url: '/' }, 404, 'route-not-found'],
    ['on admin paths', { url: '/metrics' }, 404, 'route-not-found'],
    ['by another method', { method: 'PUT', url: '/v1/meals' }, 405, 'method-not-allowed'],
    ['by another method on the docs', { method: 'POST', url: '/docs' }, 405, 'method-not-allowed'],
    ['by another method on a meal', { method: 'POST', url: '/v1/meals/x' }, 405, 'method-not-allowed'],
    ['with bad percent-encoding', { url: '/v1/meals/%ff%zz' }, 400, 'bad-url'],
    [
      'as plain text',
      { method: 'POST', url: '/v1/meals', raw: '{}', headers: { 'content-type': 'text/plain' } },
      415,
      'unsupported-media-type',
    ],
    [
      'as a form',
      {
        method: 'POST',
        url: '/v1/meals',
        raw: 'a=1',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
      415,
      'unsupported-media-type',
    ],
    [
      'packed',
      { method: 'POST', url: '/v1/meals', raw: '{}', headers: { 'content-encoding': 'gzip' } },
      415,
      'unsupported-encoding',
    ],
    [
      'with a bad Idempotency-Key',
      { method: 'POST', url: '/v1/meals', body: BREAKFAST, headers: { 'idempotency-key': 'a b' } },
      400,
      'bad-idempotency-key',
    ],
    [
      'with an empty Idempotency-Key',
      { method: 'POST', url: '/v1/meals', body: BREAKFAST, headers: { 'idempotency-key': '' } },
      400,
      'bad-idempotency-key',
    ],
    [
      'with a huge Idempotency-Key',
      { method: 'POST', url: '/v1/meals', body: BREAKFAST, headers: { 'idempotency-key': 'k'.repeat(129) } },
      400,
      'bad-idempotency-key',
    ],
    [
      'with a bad Tributary-After',
      { url: '/v1/targets', headers: { 'tributary-after': 'yesterday' } },
      400,
      'bad-event-reference',
    ],
    ['for no day', { url: '/v1/meals' }, 400, 'bad-range'],
    ['for half a range', { url: '/v1/meals?from=2026-11-01' }, 400, 'bad-range'],
    ['for a day and a range', { url: '/v1/meals?day=2026-11-01&from=2026-11-01&to=2026-11-02' }, 400, 'bad-range'],
    [
      'for a range of a day and an instant',
      { url: '/v1/meals?from=2026-11-01&to=2026-11-02T00:00:00Z' },
      400,
      'bad-range',
    ],
    ['for a range backwards', { url: '/v1/meals?from=2026-11-02&to=2026-11-01' }, 400, 'bad-range'],
    [
      'for instants backwards',
      { url: '/v1/meals?from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z' },
      400,
      'bad-range',
    ],
    ['for an impossible day', { url: '/v1/meals?day=2026-02-30' }, 400, 'bad-date'],
    ['for a summary without an end', { url: '/v1/summaries?from=2026-11-01' }, 400, 'missing-field'],
    ['for a usage of no day', { url: '/v1/usage?day=yesterday' }, 400, 'bad-date'],
    ['to a day of the year 9999', { url: '/v1/days-logged?from=2026-01-01&to=9999-12-31' }, 400, 'out-of-range'],
    ['from a day of the year 0', { url: '/v1/days-logged?from=0000-01-01' }, 400, 'out-of-range'],
    ['to 30 February of the year 9999', { url: '/v1/days-logged?to=9999-02-30' }, 400, 'bad-date'],
    ['with a limit twice', { url: '/v1/days-logged?limit=1&limit=2' }, 400, 'wrong-type'],
    ['for a meal by a bad id', { url: '/v1/meals/breakfast' }, 404, 'meal-not-found'],
    ['for a meal of an impossible instant', { url: '/v1/meals/20269916T073000000Z-x' }, 404, 'meal-not-found'],
    ['for a meal never heard of', { url: '/v1/meals/20261116T073000000Z-x' }, 404, 'meal-not-found'],
    [
      'to delete a meal never heard of',
      { method: 'DELETE', url: '/v1/meals/20261116T073000000Z-x' },
      404,
      'meal-not-found',
    ],
    [
      'to restore a meal never heard of',
      { method: 'POST', url: '/v1/meals/20261116T073000000Z-x/restore' },
      404,
      'meal-not-found',
    ],
    ['to define a nutrient by a bad name', { method: 'PUT', url: '/v1/nutrients/a%20b', body: {} }, 400, 'bad-name'],
    ['to define __proto__', { method: 'PUT', url: '/v1/nutrients/__proto__', body: {} }, 400, 'bad-name'],
    ['to define constructor', { method: 'PUT', url: '/v1/nutrients/constructor', body: {} }, 400, 'bad-name'],
    [
      'to define a goal of four decimals',
      { method: 'PUT', url: '/v1/nutrients/fiber', body: { goal: 0.0001 } },
      400,
      'too-many-decimals',
    ],
    ['to change no target', { method: 'PATCH', url: '/v1/targets', body: {} }, 400, 'nothing-to-change'],
    ['to show joules', { method: 'PATCH', url: '/v1/targets', body: { displayUnit: 'joule' } }, 400, 'not-allowed'],
    [
      'to change targets from an impossible day',
      { method: 'PATCH', url: '/v1/targets', body: { calories: 1, effectiveFromDate: '2026-02-30' } },
      400,
      'bad-date',
    ],
    [
      'to make a token that may do anything',
      { method: 'POST', url: '/v1/tokens', body: { name: 'x', scopes: ['admin'] } },
      400,
      'not-allowed',
    ],
    [
      'to make a token that may do nothing',
      { method: 'POST', url: '/v1/tokens', body: { name: 'x', scopes: [] } },
      400,
      'too-few',
    ],
    [
      'to make a token with one scope twice',
      { method: 'POST', url: '/v1/tokens', body: { name: 'x', scopes: ['read', 'read'] } },
      400,
      'duplicate-entry',
    ],
  ]
  test.each(wrong)('%s', (_what, sent, status, code) => refused(sent, { status, code }))

  test('by another method, with the allowed methods', async () => {
    expect((await send(edge.app, { method: 'PUT', url: '/v1/meals', token })).headers['allow']).toBe('GET, HEAD, POST')
  })

  test('to correct a meal with null for a number', () =>
    refused(
      { method: 'PATCH', url: `/v1/meals/${mealId}`, body: { calories: null } },
      { status: 400, code: 'wrong-type', field: '/calories' },
    ))
})

test('an id in a key is one part of it: no id with # or / reaches another key', async () => {
  for (const id of ['20261116T073000000Z-x%23y', '..%2F..%2Ftargets', '%00', 'x'.repeat(500), '😀']) {
    expect(await send(edge.app, { url: `/v1/meals/${encodeURI(id)}`, token })).toMatchObject({ status: 404 })
  }
})
