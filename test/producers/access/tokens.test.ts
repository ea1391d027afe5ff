import { describe, expect, test } from 'vitest'
import { expenses } from '../../../processors/expenses/domain.ts'
import { meals } from '../../../processors/meals/domain.ts'
import { scales } from '../../../processors/scales/domain.ts'
import { expensesEdgeWith } from '../../../producers/expenses/edge.ts'
import { createEdge } from '../../../producers/http/server.ts'
import { mealsEdge } from '../../../producers/meals/edge.ts'
import { domainOfToken, mintToken, type Scope } from '../../../producers/access/pat.ts'
import { scalesEdge } from '../../../producers/scales/edge.ts'
import { tokens } from '../../../projections/access/keys.ts'
import { keyOf } from '../../../projections/item.ts'
import { createMemoryPipeline } from '../../../testing/edge/pipeline.ts'
import { NOON } from '../../../testing/event.ts'
import { OPEN_LIMITS, openMemoryEdge, patIssued } from '../../../testing/edge/edge.ts'
import { send } from '../../../testing/edge/request.ts'
import { BOT_TOKEN, openedBy, ZOFIE } from '../expenses/telegram/signed.ts'

const EXPENSES = expensesEdgeWith({ telegram: { botToken: BOT_TOKEN } })
const SERVED = [
  { domain: meals, edge: mealsEdge },
  { domain: scales, edge: scalesEdge },
  { domain: expenses, edge: EXPENSES },
]
const NAMES = SERVED.map(({ edge }) => edge.name)
/** For each domain, a route that only this domain has. */
const OWN: Readonly<Record<string, string>> = {
  meals: '/v1/targets',
  scales: '/v1/locations/loc-001/taps',
  expenses: '/api/users/me',
}
const PHONE = { name: 'phone', scopes: ['read', 'write'] }

/** All domains behind one edge, as the program serves them. */
const openProgram = async () => {
  const clock = { now: () => NOON }
  const pipelines = new Map(SERVED.map(({ domain }) => [domain.name, createMemoryPipeline({ clock, domain })]))
  const pipelineOf = (name: string) => pipelines.get(name) ?? createMemoryPipeline({ clock, domain: meals })
  let count = 0
  const randomBytes = (size: number) => new Uint8Array(size).fill((count += 1))
  const app = createEdge({
    domains: SERVED.map(({ edge, domain: { topic } }) => {
      const { commands, reader, untilOutcome, untilFolded } = pipelineOf(edge.name)
      return {
        ...edge,
        topic,
        commands,
        serving: async () => ({ reader, generation: 1, outcomes: { untilOutcome, untilFolded } }),
      }
    }),
    clock,
    ids: { uuidv7: () => `id-${(count += 1)}` },
    randomBytes,
    limits: OPEN_LIMITS,
    version: '0.0.0-test',
  })
  await app.ready()
  const token = async (domain: string, user: string, scopes: readonly Scope[] = ['read', 'write']): Promise<string> => {
    const minted = mintToken(domain, randomBytes)
    await pipelineOf(domain).commands.execute(patIssued(user, scopes, minted.hash), { wait: true, timeoutMs: 50 })
    return minted.token
  }
  return { app, token, pipelineOf }
}

describe.each(NAMES)('a token of %s', (name) => {
  const others = NAMES.filter((other) => other !== name)

  test('creates a token of the same domain, which no other domain accepts', async () => {
    const { app, token, pipelineOf } = await openProgram()
    const { status, body } = await send(app, {
      method: 'POST',
      url: '/v1/tokens',
      token: await token(name, 'ann'),
      body: PHONE,
    })
    expect({ status, body }).toMatchObject({ status: 201, body: { name: 'phone', scopes: ['read', 'write'] } })
    expect(domainOfToken(body.token)).toBe(name)
    const statusOf = async (domain: string) => (await send(app, { url: OWN[domain] ?? '', token: body.token })).status
    expect(await statusOf(name)).not.toBe(401)
    for (const other of others) expect([other, await statusOf(other)]).toEqual([other, 401])
    for (const other of NAMES)
      expect([other, pipelineOf(other).items.has(keyOf(tokens.key('ann', body.id)))]).toEqual([other, other === name])
  })

  test('lists and revokes tokens of the same domain only', async () => {
    const { app, token } = await openProgram()
    const own = await token(name, 'ann')
    const { body: phone } = await send(app, { method: 'POST', url: '/v1/tokens', token: own, body: PHONE })
    for (const other of others) {
      const foreign = await token(other, 'ann')
      expect((await send(app, { url: '/v1/tokens', token: foreign })).body.items).toHaveLength(1)
      expect(await send(app, { method: 'DELETE', url: `/v1/tokens/${phone.id}`, token: foreign })).toMatchObject({
        status: 404,
        body: { code: 'token-not-found' },
      })
    }
    expect((await send(app, { url: '/v1/tokens', token: own })).body.items.map(({ id }) => id)).toContain(phone.id)
    expect(await send(app, { method: 'DELETE', url: `/v1/tokens/${phone.id}`, token: own })).toMatchObject({
      status: 200,
      body: { id: phone.id, revoked: true },
    })
  })

  test('creates none after it is revoked', async () => {
    const { app, token } = await openProgram()
    const own = await token(name, 'ann')
    const { body: phone } = await send(app, { method: 'POST', url: '/v1/tokens', token: own, body: PHONE })
    await send(app, { method: 'DELETE', url: `/v1/tokens/${phone.id}`, token: own })
    expect(await send(app, { method: 'POST', url: '/v1/tokens', token: phone.token, body: PHONE })).toMatchObject({
      status: 401,
      body: { code: 'token-unknown' },
    })
  })

  test('creates none if it cannot write, and none with a scope that it does not have', async () => {
    const { app, token } = await openProgram()
    for (const scopes of [['read'], ['device'], ['write']] as const) {
      expect(
        await send(app, { method: 'POST', url: '/v1/tokens', token: await token(name, 'ann', scopes), body: PHONE }),
      ).toMatchObject({ status: 403, body: { code: 'scope-missing' } })
    }
  })

  test('reads the usage of its domain', async () => {
    const { app, token } = await openProgram()
    expect(await send(app, { url: '/v1/usage', token: await token(name, 'ann') })).toMatchObject({
      status: 200,
      body: { day: '2026-11-16', reads: 0, writes: 0 },
    })
  })
})

test('a person with the id of a device neither sees nor revokes the tokens of the device', async () => {
  const { app, token, pipelineOf } = await openProgram()
  await token('scales', 'SCALE-0042', ['device'])
  const [item] = [...pipelineOf('scales').items.values()]
  const patId = String(item?.['patId'])
  const person = await token('scales', 'SCALE-0042')
  expect((await send(app, { url: '/v1/tokens', token: person })).body.items.map(({ id }) => id)).not.toContain(patId)
  expect(await send(app, { method: 'DELETE', url: `/v1/tokens/${patId}`, token: person })).toMatchObject({
    status: 404,
    body: { code: 'token-not-found' },
  })
  expect(pipelineOf('scales').items.has(keyOf(tokens.key('SCALE-0042', patId)))).toBe(true)
})

test('a caller without a token cannot create one', async () => {
  const { app } = await openProgram()
  const headers = [
    {},
    { authorization: `tma ${openedBy(ZOFIE)}` },
    { authorization: `Bearer ${mintToken('ghosts', (size) => new Uint8Array(size)).token}` },
  ]
  for (const each of headers)
    expect(await send(app, { method: 'POST', url: '/v1/tokens', headers: each, body: PHONE })).toMatchObject({
      status: 401,
    })
})

test('a caller of the Mini App cannot create one, also if only that domain is served', async () => {
  const { app, events } = await openMemoryEdge({ domain: expenses, edge: EXPENSES })
  expect(
    await send(app, {
      method: 'POST',
      url: '/v1/tokens',
      headers: { authorization: `tma ${openedBy(ZOFIE)}` },
      body: PHONE,
    }),
  ).toMatchObject({ status: 401, body: { code: 'token-missing' } })
  expect(events).toEqual([])
})
