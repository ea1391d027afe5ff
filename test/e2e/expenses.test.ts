import { describe, expect, test } from 'vitest'
import { client, freshFolder, run, startServer, statusOf, tell, until, type Client } from './program.ts'

const expensesToken = (env: Record<string, string>, user: string) => tell(['token', 'create', '--user', user, '--domain', 'expenses'], env)

const HASH = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'

/** A group of two, an expense that was revised, one that was deleted and restored, a settlement by hand and one by a transaction. */
const live = async (ann: Client, bob: Client): Promise<{ readonly group: string; readonly expense: string }> => {
  const made = await ann.post('/api/groups', { title: 'Roommates', currency: 'EUR', name: 'Ann' }, { 'idempotency-key': 'group-1' })
  expect(made.status).toBe(201)
  const group = `/api/groups/${String(made.body['id'])}`
  expect(await bob.post(`${group}/join`, { name: 'Bob' })).toMatchObject({ status: 200, body: { memberCount: 2 } })
  const dinner = await ann.post(`${group}/expenses`, { amount: 100, description: 'Dinner' }, { 'idempotency-key': 'dinner' })
  expect(dinner).toMatchObject({ status: 201, body: { amount: '100.00' } })
  const expense = `${group}/expenses/${String(dinner.body['id'])}`
  expect(await ann.send('PUT', expense, { amount: '90.01', description: 'Dinner', revision: 1 })).toMatchObject({ status: 200, body: { revision: 2 } })
  expect(await ann.send('DELETE', expense)).toMatchObject({ status: 200 })
  expect(await ann.send('POST', `${expense}/restore`)).toMatchObject({ status: 200, body: { revision: 2 } })
  await bob.post(`${group}/expenses`, { amount: '0.000000003', description: 'Gas', currency: 'TON' })
  const paid = await bob.post(`${group}/settlements`, { toUserId: '123', amount: 40, currency: 'EUR' })
  expect(await ann.send('PUT', `${group}/settlements/${String(paid.body['id'])}`, { status: 'completed' })).toMatchObject({ status: 200, body: { status: 'completed' } })
  const byChain = await ann.post(`${group}/settlements`, { toUserId: '456', amount: '0.000000001', currency: 'TON' })
  const place = `${group}/settlements/${String(byChain.body['id'])}`
  expect([200, 202]).toContain((await ann.send('PUT', place, { status: 'completed', txHash: HASH })).status)
  await until(async () => (await ann.get(place)).body['status'] === 'completed', () => 'the claim of a transaction completes its settlement')
  return { group, expense }
}

describe('from a group to what its members owe, embedded', { timeout: 180_000 }, () => {
  test('E46 groups, expenses and settlements become exact balances and debts; kill -9 loses nothing; rebuild, verify and explain agree', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const first = await startServer(env)
    const [annToken, bobToken] = [await expensesToken(env, '123'), await expensesToken(env, '456')]
    const [ann, bob] = [client(first.url, annToken), client(first.url, bobToken)]
    const { group, expense } = await live(ann, bob)
    const balances = await bob.get(`${group}/balances`)
    expect(balances.body['items']).toMatchObject([
      { currency: 'EUR', members: [{ userId: '123', paid: '90.01', received: '40.00' }, { userId: '456', sent: '40.00' }] },
      { currency: 'TON', members: [{ userId: '123', sent: '0.000000001' }, { userId: '456', paid: '0.000000003' }] },
    ])

    const paths = [
      '/api/groups', group, `${group}/expenses`, expense, `${expense}/history`, `${group}/activity`, `${group}/balances`, `${group}/balances?as-of=2100-01-01`, `${group}/debts`, `${group}/debts?simplify=false`,
      `${group}/settlements`, '/api/users/me', '/api/users/me/expenses', '/api/users/me/debts', '/api/users/me/settlements', '/api/users/me/settlements?direction=received', '/api/users/me/activity', '/api/users/me/summary',
    ]
    const answers = (url: string) => Promise.all([annToken, bobToken].flatMap((token) => paths.map(async (path) => (await client(url, token).get(path)).body)))
    await until(async () => (await client(first.url, bobToken).get('/api/users/me')).body['name'] === 'Bob', () => 'a profile follows from what groups heard')
    const before = await answers(first.url)
    first.kill('SIGKILL')
    await first.ended
    const second = await startServer(env)
    expect(await answers(second.url)).toEqual(before)
    const again = client(second.url, annToken)
    expect(await again.post(`${group}/expenses`, { amount: 100, description: 'Dinner' }, { 'idempotency-key': 'dinner' })).toMatchObject({ status: 201, body: { amount: '90.01' } })

    await tell(['rebuild', 'expenses', '--yes'], env)
    expect(await statusOf(env, 'expenses')).toMatchObject({ generation: 2, table: 'FractiTable.g2', parked: 0 })
    expect(await answers(second.url)).toEqual(before)
    expect(await run(['verify', 'expenses'], env)).toMatchObject({ code: 0 })
    const id = group.slice('/api/groups/'.length)
    expect(JSON.parse(await tell(['explain', 'expenses', `GROUP#${id}`, 'BALANCE#EUR', '--json'], env))).toMatchObject({
      key: id, steps: [{ type: 'ExpenseRecorded' }, { type: 'ExpenseRevised' }, { type: 'ExpenseDeleted' }, { type: 'ExpenseRestored' }, { type: 'SettlementConfirmed' }],
    })
    expect(await second.stop()).toBe(0)
  })
})
