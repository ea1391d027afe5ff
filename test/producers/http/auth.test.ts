import { describe, expect, test } from 'vitest'
import { mintToken } from '../../../producers/access/pat.ts'
import { BREAKFAST, openMealsEdge } from '../meals/edge.ts'
import type { MemoryEdge } from '../../../testing/edge/edge.ts'
import { send, type EdgeRequest } from '../../../testing/edge/request.ts'

describe('a request without a valid token', () => {
  const presented: readonly (readonly [what: string, authorization: string | undefined, code: string])[] = [
    ['has none', undefined, 'token-missing'],
    ['has an empty one', '', 'token-missing'],
    ['names another scheme', 'Basic YW5uOnB3', 'token-malformed'],
    ['sends anything', 'Bearer abc', 'token-malformed'],
    ['has mistyped it', `Bearer trib_meals_${'0'.repeat(48)}1`, 'token-malformed'],
    ['sends two', `Bearer ${mintToken('meals', () => Buffer.alloc(32, 1)).token} x`, 'token-malformed'],
    ['made it up', `Bearer ${mintToken('meals', () => Buffer.alloc(32, 7)).token}`, 'token-unknown'],
    ['has one of another domain', `Bearer ${mintToken('scales', () => Buffer.alloc(32, 7)).token}`, 'token-unknown'],
  ]
  test.each(presented)('%s', async (_what, authorization, code) => {
    const { app, events } = await openMealsEdge()
    for (const [method, url] of [
      ['GET', '/v1/targets'],
      ['POST', '/v1/meals'],
      ['DELETE', '/v1/tokens/x'],
    ] as const) {
      const answer = await send(app, { method, url, headers: authorization === undefined ? {} : { authorization } })
      expect(answer).toMatchObject({
        status: 401,
        body: { code },
        headers: { 'www-authenticate': expect.stringContaining('Bearer') },
      })
    }
    expect(events).toHaveLength(0)
  })
})

describe('scopes', () => {
  test('M11 a token that can only read cannot write, and one that can only write cannot read', async () => {
    const { app, token } = await openMealsEdge()
    const [reader, writer] = [await token('ann', ['read']), await token('ann', ['write'])]
    expect(await send(app, { method: 'POST', url: '/v1/meals', token: reader, body: BREAKFAST })).toMatchObject({
      status: 403,
      body: { code: 'scope-missing' },
    })
    expect(await send(app, { url: '/v1/targets', token: writer })).toMatchObject({
      status: 403,
      body: { code: 'scope-missing' },
    })
    expect(await send(app, { method: 'POST', url: '/v1/meals', token: writer, body: BREAKFAST })).toMatchObject({
      status: 201,
    })
    expect(await send(app, { url: '/v1/targets', token: reader })).toMatchObject({ status: 200 })
  })
})

describe('revocation', () => {
  test('a revoked token is refused from the next request on, and other tokens still work', async () => {
    const { app, token } = await openMealsEdge()
    const other = await token('ann')
    const { body } = await send(app, {
      method: 'POST',
      url: '/v1/tokens',
      token: other,
      body: { name: 'phone', scopes: ['read', 'write'] },
    })
    const phone = String(body.token)
    expect(await send(app, { url: '/v1/targets', token: phone })).toMatchObject({ status: 200 })
    expect(await send(app, { method: 'DELETE', url: `/v1/tokens/${body.id}`, token: other })).toMatchObject({
      status: 200,
      body: { revoked: true },
    })
    for (const sent of [{ url: '/v1/targets' }, { method: 'POST', url: '/v1/meals', body: BREAKFAST }] as const) {
      expect(await send(app, { ...sent, token: phone })).toMatchObject({ status: 401, body: { code: 'token-unknown' } })
    }
    expect(await send(app, { url: '/v1/targets', token: other })).toMatchObject({ status: 200 })
  })

  test('a token can revoke itself', async () => {
    const { app, token } = await openMealsEdge()
    const ann = await token('ann')
    const [own] = (await send(app, { url: '/v1/tokens', token: ann })).body.items
    expect(await send(app, { method: 'DELETE', url: `/v1/tokens/${own?.id}`, token: ann })).toMatchObject({
      status: 200,
    })
    expect(await send(app, { url: '/v1/tokens', token: ann })).toMatchObject({ status: 401 })
  })

  test('a revoked token is refused even if the index still contains it', async () => {
    const { app, token, items } = await openMealsEdge()
    const ann = await token('ann')
    expect(await send(app, { url: '/v1/targets', token: ann })).toMatchObject({ status: 200 })
    for (const [key, item] of items)
      if (item.SK.startsWith('PAT#')) items.set(key, { ...item, GSI1PK: `PATHASH#${'0'.repeat(64)}` })
    expect(await send(app, { url: '/v1/targets', token: ann })).toMatchObject({
      status: 401,
      body: { code: 'token-unknown' },
    })
  })
})

/** Requests to every route that names data by an id, with the ids of ann's data. Bob sends them. */
const foreign = (mealId: string, patId: string): readonly EdgeRequest[] => [
  { url: `/v1/meals/${mealId}` },
  { method: 'PATCH', url: `/v1/meals/${mealId}`, body: { calories: 1 } },
  { method: 'PATCH', url: `/v1/meals/${mealId}`, body: { userDate: '2026-11-15' } },
  { method: 'DELETE', url: `/v1/meals/${mealId}` },
  { method: 'POST', url: `/v1/meals/${mealId}/restore` },
  { method: 'DELETE', url: `/v1/tokens/${patId}` },
  { method: 'DELETE', url: '/v1/nutrients/fiber' },
]

const lists = [
  '/v1/meals?day=2026-11-16',
  '/v1/meals?from=2026-11-01&to=2026-11-30',
  '/v1/meals?from=2026-11-01T00:00:00Z&to=2026-11-30T00:00:00Z',
  '/v1/summaries?from=2026-01-01&to=2026-12-31',
  '/v1/days-logged',
  '/v1/targets',
  '/v1/usage',
]

const annsThings = async ({ app, token }: MemoryEdge) => {
  const ann = await token('ann')
  const { body } = await send(app, { method: 'POST', url: '/v1/meals', token: ann, body: BREAKFAST })
  await send(app, { method: 'PATCH', url: '/v1/targets', token: ann, body: { calories: 2000 } })
  await send(app, { method: 'PUT', url: '/v1/nutrients/fiber', token: ann, body: { unit: 'g' } })
  const [pat] = (await send(app, { url: '/v1/tokens', token: ann })).body.items
  return { ann, mealId: String(body.id), patId: String(pat?.id) }
}

describe("a user cannot access another's data", () => {
  test("every route with another's id is 404, and changes nothing of theirs", async () => {
    const edge = await openMealsEdge()
    const { ann, mealId, patId } = await annsThings(edge)
    const bob = await edge.token('bob')
    const before = JSON.stringify(
      [...edge.items].filter(([key]) => key.startsWith('USER#ann\u0000') && !key.includes('PAT#')),
    )
    for (const sent of foreign(mealId, patId))
      expect([sent.url, (await send(edge.app, { ...sent, token: bob })).status]).toEqual([sent.url, 404])
    expect(
      JSON.stringify([...edge.items].filter(([key]) => key.startsWith('USER#ann\u0000') && !key.includes('PAT#'))),
    ).toBe(before)
    expect(await send(edge.app, { url: `/v1/meals/${mealId}`, token: ann })).toMatchObject({ status: 200 })
  })

  test('the same for a meal that was moved or deleted', async () => {
    const edge = await openMealsEdge()
    const { ann, mealId } = await annsThings(edge)
    const bob = await edge.token('bob')
    await send(edge.app, {
      method: 'PATCH',
      url: `/v1/meals/${mealId}`,
      token: ann,
      body: { eatenAt: '2026-11-15T12:00:00Z' },
    })
    for (const sent of foreign(mealId, 'x'))
      expect(await send(edge.app, { ...sent, token: bob })).toMatchObject({ status: 404 })
    await send(edge.app, { method: 'DELETE', url: `/v1/meals/${mealId}`, token: ann })
    for (const sent of foreign(mealId, 'x'))
      expect((await send(edge.app, { ...sent, token: bob })).text).not.toContain('meal-deleted')
  })

  test("every list contains only the caller's own items", async () => {
    const edge = await openMealsEdge()
    await annsThings(edge)
    const [bob, eve] = [await edge.token('bob'), await edge.token('eve')]
    for (const url of lists) {
      const [theirs, empty] = [await send(edge.app, { url, token: bob }), await send(edge.app, { url, token: eve })]
      expect(theirs.status).toBe(200)
      expect(theirs.text).toBe(empty.text)
      expect(theirs.text).not.toMatch(/Oats|2000|fiber/)
    }
  })

  test("users whose ids begin alike do not see each other's items", async () => {
    const edge = await openMealsEdge()
    const { mealId } = await annsThings(edge)
    const anna = await edge.token('anna')
    expect(await send(edge.app, { url: `/v1/meals/${mealId}`, token: anna })).toMatchObject({ status: 404 })
    expect((await send(edge.app, { url: '/v1/tokens', token: anna })).body.items).toHaveLength(1)
  })
})
