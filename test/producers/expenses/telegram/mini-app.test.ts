import { describe, expect, test } from 'vitest'
import { mealsEdge } from '../../../../producers/meals/edge.ts'
import { miniAppScheme } from '../../../../producers/expenses/telegram/mini-app.ts'
import { BREAKFAST, openMealsEdge } from '../../meals/edge.ts'
import type { MemoryEdgeOptions } from '../../../../testing/edge/edge.ts'
import { send } from '../../../../testing/edge/request.ts'
import { BOT_TOKEN, openedBy, ZOFIE } from './signed.ts'

/** Opens the edge of meals with the authentication by the Mini App, because any domain can use this scheme. */
const open = (botToken: string | undefined = BOT_TOKEN, options: Partial<MemoryEdgeOptions> = {}) =>
  openMealsEdge({ ...options, edge: { ...mealsEdge, schemes: [miniAppScheme(botToken)] } })

const tma = (initData: string) => ({ authorization: `tma ${initData}` })
const zofie = tma(openedBy(ZOFIE))

describe('a request with initData', () => {
  test('E-l authenticates the user of Telegram, who can read and write their own data', async () => {
    const { app, events } = await open()
    expect(await send(app, { method: 'POST', url: '/v1/meals', headers: zofie, body: BREAKFAST })).toMatchObject({
      status: 201,
    })
    expect(events.map(({ type, meta }) => [type, meta.key, meta.actorId])).toEqual([
      ['MealLogged', '279058397', '279058397'],
    ])
    const listed = await send(app, {
      url: '/v1/meals?day=2026-11-16',
      headers: { authorization: `TMA ${openedBy(ZOFIE)}` },
    })
    expect(listed.body.items).toHaveLength(1)
    expect(
      (await send(app, { url: '/v1/meals?day=2026-11-16', headers: tma(openedBy({ ...ZOFIE, id: 5 })) })).body.items,
    ).toHaveLength(0)
  })

  test('has the same data as their tokens', async () => {
    const { app, token } = await open()
    await send(app, { method: 'POST', url: '/v1/meals', headers: zofie, body: BREAKFAST })
    expect(
      (await send(app, { url: '/v1/meals?day=2026-11-16', token: await token('279058397') })).body.items,
    ).toHaveLength(1)
  })

  const refused: readonly (readonly [what: string, authorization: string, code: string])[] = [
    ['was forged', `tma ${openedBy(ZOFIE, { botToken: '1:x' })}`, 'init-data-invalid'],
    ['is too old', `tma ${openedBy(ZOFIE, { at: Date.parse('2026-11-15T11:59:59Z') })}`, 'init-data-expired'],
    ['is empty', 'tma ', 'init-data-invalid'],
    ['is empty, and trimmed', 'tma', 'init-data-invalid'],
    ['is huge', `tma ${'a=b&'.repeat(3000)}`, 'init-data-invalid'],
    ['comes as a token', `Bearer ${openedBy(ZOFIE)}`, 'token-malformed'],
    ['comes without its scheme', openedBy(ZOFIE), 'token-malformed'],
  ]
  test.each(refused)('is rejected if it %s', async (_what, authorization, code) => {
    const { app, events } = await open()
    expect(
      await send(app, { method: 'POST', url: '/v1/meals', headers: { authorization }, body: BREAKFAST }),
    ).toMatchObject({ status: 401, body: { code }, headers: { 'www-authenticate': expect.any(String) } })
    expect(events).toHaveLength(0)
  })

  test('is rejected without a configured bot, and tokens still work', async () => {
    const edge = await openMealsEdge({ edge: { ...mealsEdge, schemes: [miniAppScheme(undefined)] } })
    expect(await send(edge.app, { url: '/v1/targets', headers: zofie })).toMatchObject({
      status: 401,
      body: { code: 'telegram-not-configured' },
    })
    expect(await send(edge.app, { url: '/v1/targets', token: await edge.token('ann') })).toMatchObject({ status: 200 })
  })

  test('is rejected in a domain without the scheme', async () => {
    const { app } = await openMealsEdge()
    expect(await send(app, { url: '/v1/targets', headers: zofie })).toMatchObject({
      status: 401,
      body: { code: 'token-malformed' },
    })
  })
})

describe('the limits apply to them as to tokens', () => {
  test('requests are counted, also without a token', async () => {
    const { app, events } = await open(BOT_TOKEN, { limits: { usageSample: 1 } })
    await send(app, { url: '/v1/targets', headers: zofie })
    expect(events.map(({ type, meta }) => [type, meta.key])).toEqual([['ApiUsageSampled', '279058397']])
  })

  test('the daily quota is shared by all schemes', async () => {
    const edge = await open(BOT_TOKEN, { limits: { usageSample: 1, quota: { reads: 2, writes: null } } })
    const token = await edge.token('279058397')
    expect((await send(edge.app, { url: '/v1/targets', headers: zofie })).status).toBe(200)
    expect((await send(edge.app, { url: '/v1/targets', token })).status).toBe(200)
    expect(await send(edge.app, { url: '/v1/targets', headers: zofie })).toMatchObject({
      status: 429,
      body: { code: 'quota-exceeded' },
    })
    expect((await send(edge.app, { url: '/v1/targets', headers: tma(openedBy({ ...ZOFIE, id: 5 })) })).status).toBe(200)
  })

  test('all signatures of a person share the rate', async () => {
    const { app } = await open(BOT_TOKEN, { limits: { rate: { max: 2, windowMs: 60_000 } } })
    const again = tma(openedBy(ZOFIE, { more: { start_param: 'again' } }))
    expect([
      (await send(app, { url: '/v1/targets', headers: zofie })).status,
      (await send(app, { url: '/v1/targets', headers: again })).status,
    ]).toEqual([200, 200])
    expect(await send(app, { url: '/v1/targets', headers: zofie })).toMatchObject({
      status: 429,
      body: { code: 'rate-limited' },
    })
    expect((await send(app, { url: '/v1/targets', headers: tma(openedBy({ ...ZOFIE, id: 5 })) })).status).toBe(200)
  })
})

test('the OpenAPI document of the edge contains the scheme and the token', async () => {
  const { app } = await open()
  const { body } = await send(app, { url: '/openapi.json' })
  expect(body).toMatchObject({
    components: { securitySchemes: { token: { scheme: 'bearer' }, tma: { type: 'http', scheme: 'tma' } } },
  })
  expect(body.paths['/v1/targets']).toMatchObject({ get: { security: [{ token: [] }, { tma: [] }] } })
})
