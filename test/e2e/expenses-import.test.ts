import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fileOf, SPLIIT, type Report } from './imports.ts'
import { freshFolder, run, runOk } from './program.ts'

const at = (second: number): string => new Date(Date.UTC(2024, 0, 20, 18, 0, second)).toISOString()
const rows = [
  { PK: 'GROUP#g1', SK: 'PART#e0#2', expenseId: 'e0', amount: 5 },
  ...Array.from({ length: 700 }, (_, nth) => ({
    PK: 'GROUP#g1',
    SK: `TX#${at(nth)}`,
    id: `e${nth}`,
    payerId: '1',
    amount: 10.01,
    currency: 'EUR',
    description: `Meal ${nth}`,
    splitType: 'equal',
    splits: [
      { userId: '1', amount: 5.005 },
      { userId: '2', amount: 5.005 },
    ],
    createdAt: at(nth),
  })),
  {
    PK: 'GROUP#g1',
    SK: 'SETTLE#2024-01-21T10:00:00.000Z',
    id: 's1',
    fromUserId: '2',
    toUserId: '1',
    amount: 20,
    currency: 'EUR',
    status: 'completed',
    createdAt: '2024-01-21T10:00:00.000Z',
    completedAt: '2024-01-21T10:00:05.000Z',
  },
  {
    PK: 'GROUP#g1',
    SK: 'TX#2024-01-22T10:00:00.000Z',
    id: 'odd',
    payerId: '1',
    amount: 10,
    currency: 'EUR',
    splitType: 'exact',
    splits: [{ userId: '2', amount: 4 }],
    createdAt: '2024-01-22T10:00:00.000Z',
  },
  {
    PK: 'GROUP#g2',
    SK: 'TX#2024-01-22T10:00:00.000Z',
    id: 'lost',
    payerId: '1',
    amount: 10,
    currency: 'EUR',
    splitType: 'exact',
    splits: [{ userId: '2', amount: 10 }],
    createdAt: '2024-01-22T10:00:00.000Z',
  },
  { PK: 'GROUP#g1', SK: 'USER#1', id: '1', telegramId: 1, name: 'Ann', joinedAt: '2024-01-15T10:35:00.000Z' },
  {
    PK: 'GROUP#g1',
    SK: 'METADATA',
    id: 'g1',
    title: 'Roommates',
    currency: 'EUR',
    createdAt: '2024-01-15T10:30:00.000Z',
  },
]

describe('import expenses', { timeout: 120_000 }, () => {
  test('E45: every row is reported as imported, known or refused with line and reason; a second import appends nothing', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const file = join(freshFolder(), 'fracti.ndjson')
    writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'))
    const first = await run(['import', 'expenses', file, '--json'], env)
    expect(first.code).toBe(1)
    expect(JSON.parse(first.stdout)).toMatchObject({
      // Bob has a part in an expense of g1 and is no member in the file, so the import appends that he joins and leaves. The file does not create
      // group g2, so the expense of g2 is not appended.
      rows: 706,
      changed: 703,
      events: 706,
      known: 0,
      derived: 1,
      visible: true,
      unreadable: [{ line: 703, reason: expect.stringContaining('4.00') }],
      refused: [{ line: 704, reason: expect.stringContaining('group-not-found') }],
    })
    const again = JSON.parse((await run(['import', 'expenses', file, '--json'], env)).stdout) as Report
    expect(again).toMatchObject({ rows: 706, changed: 0, events: 0, known: 703 })
    const [balance] = (
      JSON.parse(await runOk(['explain', 'expenses', 'GROUP#g1', 'BALANCE#EUR', '--json'], env)) as {
        items: readonly { members: Record<string, { sent: number; share: number }> }[]
      }
    ).items
    expect(balance?.members['2']?.sent).toBe(2000)
    expect((balance?.members['1']?.share ?? 0) + (balance?.members['2']?.share ?? 0)).toBe(700_700)
    await runOk(['verify', 'expenses'], env)
  })

  test('E45: each row of an own export counts once, and the whole file completes a cut one', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const when = '2024-02-01T00:00:00.000Z'
    const expense = (id: string) => ({
      kind: 'expense',
      groupId: 'g1',
      id,
      date: at(1),
      createdAt: at(1),
      createdBy: 'ann',
      payerId: 'ann',
      amount: '8.00',
      currency: 'EUR',
      splitType: 'equal',
      splits: ['ann', 'bob', 'cy', 'dan'].map((userId) => ({ userId, amount: '2.00' })),
    })
    const own = [
      {
        kind: 'group',
        id: 'g1',
        title: 'Trip',
        currency: 'EUR',
        createdAt: at(0),
        createdBy: 'ann',
        ownerId: 'bob',
        ownerSince: when,
        archivedAt: when,
      },
      ...['ann', 'bob', 'cy', 'dan'].map((id) => ({
        kind: 'member',
        groupId: 'g1',
        id,
        name: id,
        joinedAt: at(0),
        ...(id === 'cy' && { leftAt: when }),
        ...(id === 'dan' && { leftAt: when, removedAt: when }),
      })),
      { kind: 'balance', groupId: 'g1', currency: 'EUR' },
      expense('e1'),
      expense('e2'),
      expense('e3'),
    ]
    const imported = async (name: string, rowsOf: readonly object[]) =>
      JSON.parse(await runOk(['import', 'expenses', fileOf(rowsOf, name), '--json'], env)) as unknown
    expect(await imported('cut.ndjson', own.slice(0, 7))).toMatchObject({
      rows: 7,
      changed: 6,
      known: 0,
      derived: 1,
      events: 10,
      refused: [],
      unreadable: [],
    })
    expect(await imported('whole.ndjson', own)).toMatchObject({
      rows: 9,
      changed: 2,
      known: 6,
      derived: 1,
      events: 2,
      refused: [],
      unreadable: [],
    })
    expect(await runOk(['import', 'expenses', fileOf(own)], env)).toContain(
      '9 rows: 0 imported (0 events), 8 known already, 1 derived row left out, 0 refused, 0 unreadable',
    )
    const [balance] = (
      JSON.parse(await runOk(['explain', 'expenses', 'GROUP#g1', 'BALANCE#EUR', '--json'], env)) as {
        items: readonly { members: Record<string, { share: number }> }[]
      }
    ).items
    expect(balance?.members['dan']?.share).toBe(600)
  })

  test('a CSV file is rejected with one message', async () => {
    const file = join(freshFolder(), 'group.csv')
    writeFileSync(file, 'kind,date,id,userId\r\ngroup,2024-01-20,g1,\r\nmember,2024-01-20,g1,ann\r\n')
    const { code, stdout, stderr } = await run(['import', 'expenses', file], { TRIBUTARY_DATA: freshFolder() })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^tributary: bad-usage: .*group\.csv is CSV/m)
    expect(stderr).not.toContain('line 1')
  })

  test('E45: a Spliit export becomes a group, and a second import of it appends nothing', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    expect(JSON.parse(await runOk(['import', 'expenses', SPLIIT, '--json'], env))).toMatchObject({
      events: 12,
      known: 0,
      refused: [],
      unreadable: [],
    })
    expect(JSON.parse(await runOk(['import', 'expenses', SPLIIT, '--json'], env))).toMatchObject({
      events: 0,
      known: 11,
      refused: [],
      unreadable: [],
    })
  })
})
