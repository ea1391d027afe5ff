import { expect } from 'vitest'
import { client, runOk, type Answer, type Client, type Env } from './program.ts'

const HASH = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
export const DINNER = { amount: 100, description: 'Dinner' } as const

export interface SharedExpenses {
  readonly tokens: readonly [ann: string, bob: string]
  readonly groupId: string
  readonly group: string
  readonly expense: string
}

/** Creates a group of two people, with an expense that is revised, deleted and restored, a confirmed settlement, and one with a transaction. */
export const createSharedExpenses = async (env: Env, url: string): Promise<SharedExpenses> => {
  const token = (user: string) => runOk(['token', 'create', '--user', user, '--domain', 'expenses'], env)
  const tokens = [await token('123'), await token('456')] as const
  const [ann, bob] = [client(url, tokens[0]), client(url, tokens[1])]
  const made = await ann.post(
    '/api/groups',
    { title: 'Roommates', currency: 'EUR', name: 'Ann' },
    { 'idempotency-key': 'group-1' },
  )
  expect(made.status).toBe(201)
  const groupId = String(made.body['id'])
  const group = `/api/groups/${groupId}`
  const {
    body: { secret },
  } = await ann.post(`${group}/invitations`, {})
  const joined = await bob.post(`${group}/join`, { invitation: secret, name: 'Bob' })
  expect(joined).toMatchObject({ status: 200, body: { memberCount: 2 } })
  // The profile is stored by a derived event, so the request waits for the derived event, too.
  expect(await bob.get('/api/users/me', after(joined))).toMatchObject({ status: 200, body: { name: 'Bob' } })
  for (const name of ['Rob', 'Robert', 'Bob'])
    expect(await bob.get('/api/users/me', after(await bob.send('PUT', `${group}/profile`, { name })))).toMatchObject({
      status: 200,
      body: { name },
    })
  const expense = await spend(ann, bob, group)
  await settle(ann, bob, group)
  return { tokens, groupId, group, expense }
}

const after = ({ headers }: Answer): Record<string, string> => ({
  'tributary-after': headers.get('tributary-event') ?? '',
})

const spend = async (ann: Client, bob: Client, group: string): Promise<string> => {
  const dinner = await ann.post(`${group}/expenses`, DINNER, { 'idempotency-key': 'dinner' })
  expect(dinner).toMatchObject({ status: 201, body: { amount: '100.00' } })
  const expense = `${group}/expenses/${String(dinner.body['id'])}`
  expect(await bob.send('DELETE', expense)).toMatchObject({ status: 403, body: { code: 'payer-only' } })
  expect(await ann.send('PUT', expense, { ...DINNER, amount: '90.01', revision: 1 })).toMatchObject({
    status: 200,
    body: { revision: 2 },
  })
  expect(await ann.send('PUT', expense, { ...DINNER, revision: 1 })).toMatchObject({
    status: 409,
    body: { code: 'revision-stale', revision: 2 },
  })
  expect(await ann.send('DELETE', expense)).toMatchObject({ status: 200 })
  expect(await ann.send('POST', `${expense}/restore`)).toMatchObject({ status: 200, body: { revision: 2 } })
  expect(
    await bob.post(`${group}/expenses`, { amount: '900000000.000000003', description: 'Gas', currency: 'TON' }),
  ).toMatchObject({ status: 201 })
  return expense
}

const settle = async (ann: Client, bob: Client, group: string): Promise<void> => {
  const paid = await bob.post(`${group}/settlements`, { toUserId: '123', amount: 40, currency: 'EUR' })
  expect(
    await ann.send('PUT', `${group}/settlements/${String(paid.body['id'])}`, { status: 'completed' }),
  ).toMatchObject({ status: 200, body: { status: 'completed' } })
  const byChain = await ann.post(`${group}/settlements`, { toUserId: '456', amount: '0.000000001', currency: 'TON' })
  const place = `${group}/settlements/${String(byChain.body['id'])}`
  // The settlement is completed by an event that the claim of the transaction derives.
  const claimed = await bob.send('PUT', place, { status: 'completed', txHash: HASH }, { prefer: 'respond-async' })
  expect(claimed.status).toBe(202)
  expect(await ann.get(place, after(claimed))).toMatchObject({ status: 200, body: { status: 'completed' } })
}

/** Returns the answers of both people to all requests that read the group or their own data. */
export const readAnswers = (
  { tokens, group, expense }: SharedExpenses,
  url: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const paths = [
    '/api/groups',
    group,
    `${group}/expenses`,
    expense,
    `${expense}/history`,
    `${group}/activity`,
    `${group}/balances`,
    `${group}/balances?as-of=2100-01-01`,
    `${group}/debts`,
    `${group}/debts?simplify=false`,
    `${group}/settlements`,
    '/api/users/me',
    '/api/users/me/expenses',
    '/api/users/me/debts',
    '/api/users/me/settlements',
    '/api/users/me/settlements?direction=received',
    '/api/users/me/activity',
    '/api/users/me/summary',
  ]
  return Promise.all(
    tokens.flatMap((token) =>
      paths.map(async (path) => {
        const { status, body } = await client(url, token).get(path)
        expect(status, path).toBe(200)
        return body
      }),
    ),
  )
}
