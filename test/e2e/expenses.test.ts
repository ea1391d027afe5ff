import { describe, expect, test } from 'vitest'
import { client, freshFolder, run, startServer, statusOf, runOk } from './program.ts'
import { DINNER, createSharedExpenses, readAnswers } from './shared-expenses.ts'

describe('from a group to what its members owe, embedded', { timeout: 180_000 }, () => {
  test('E46 groups, expenses and settlements become exact balances and debts; kill -9 loses nothing; rebuild, verify and explain agree', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const first = await startServer(env)
    const shared = await createSharedExpenses(env, first.url)
    const {
      groupId,
      group,
      tokens: [ann],
    } = shared
    expect((await client(first.url, ann).get(`${group}/balances`)).body['items']).toMatchObject([
      {
        currency: 'EUR',
        members: [
          { userId: '123', paid: '90.01', received: '40.00' },
          { userId: '456', sent: '40.00' },
        ],
      },
      {
        currency: 'TON',
        members: [
          { userId: '123', sent: '0.000000001' },
          { userId: '456', paid: '900000000.000000003' },
        ],
      },
    ])
    const before = await readAnswers(shared, first.url)
    first.kill('SIGKILL')
    await first.ended
    const second = await startServer(env)
    expect(await readAnswers(shared, second.url)).toEqual(before)
    expect(
      await client(second.url, ann).post(`${group}/expenses`, DINNER, { 'idempotency-key': 'dinner' }),
    ).toMatchObject({ status: 201, body: { amount: '90.01' } })

    await runOk(['rebuild', 'expenses', '--yes'], env)
    expect(await statusOf(env, 'expenses')).toMatchObject({ generation: 2, table: 'FractiTable.g2', parked: 0 })
    expect(await readAnswers(shared, second.url)).toEqual(before)
    expect(await run(['verify', 'expenses'], env)).toMatchObject({ code: 0 })
    expect(
      JSON.parse(await runOk(['explain', 'expenses', `GROUP#${groupId}`, 'BALANCE#EUR', '--json'], env)),
    ).toMatchObject({
      key: groupId,
      steps: [
        { type: 'ExpenseRecorded' },
        { type: 'ExpenseRevised' },
        { type: 'ExpenseDeleted' },
        { type: 'ExpenseRestored' },
        { type: 'SettlementConfirmed' },
      ],
    })
    expect(await second.stop()).toBe(0)
  })
})
