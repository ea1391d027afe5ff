import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { netOf } from '../../../../projections/expenses/debts.ts'
import { expensesImporter } from '../../../../projections/expenses/import/importer.ts'
import type { BalanceItem, ExpenseItem, MemberBalance } from '../../../../projections/expenses/items.ts'
import { expensesTable } from '../../../../projections/expenses/table.ts'
import type { Reader } from '../../../../projections/table.ts'
import type { ImportLine, ReadRow } from '../../../../projections/importing.ts'
import type { Event } from '../../../../schemas/event.ts'
import { contents } from '../../../../testing/folds.ts'
import { foldInto, tableOf } from '../../../processors/expenses/given.ts'
import { invited, joined, left, metaOf, ownerChanged, SECRET, unarchived } from '../../../processors/expenses/events.ts'
import { readerOf } from '../../reader.ts'

const group = {
  PK: 'GROUP#g1',
  SK: 'METADATA',
  id: 'g1',
  chatId: '-1001234567890',
  title: 'Roommates',
  currency: 'EUR',
  createdAt: '2024-01-15T10:30:00.000Z',
  memberCount: 3,
}
const member = (id: string, more: object = {}) => ({
  PK: 'GROUP#g1',
  SK: `USER#${id}`,
  GSI1PK: `USER#${id}`,
  GSI1SK: 'GROUP#g1',
  id,
  telegramId: Number(id),
  name: `Name ${id}`,
  joinedAt: '2024-01-15T10:35:00.000Z',
  ...more,
})
const people = [member('1'), member('2', { wallet: 'EQBvI0aFLnw2XHNc7mpXc', username: 'bob' }), member('3')]
const expense = (id: string, more: object = {}) => ({
  PK: 'GROUP#g1',
  SK: 'TX#2024-01-20T18:30:00.000Z',
  GSI2PK: `EXPENSE#${id}`,
  GSI2SK: 'g1',
  id,
  groupId: 'g1',
  payerId: '1',
  payerName: 'Name 1',
  amount: 100,
  currency: 'EUR',
  description: 'Dinner',
  splitType: 'equal',
  splits: ['1', '2', '3'].map((userId) => ({ userId, userName: `Name ${userId}`, amount: 33.333333333333336 })),
  category: 'food',
  createdAt: '2024-01-20T18:30:00.000Z',
  ...more,
})
const settlement = (id: string, more: object = {}) => ({
  PK: 'GROUP#g1',
  SK: 'SETTLE#2024-01-21T10:00:00.000Z',
  id,
  groupId: 'g1',
  fromUserId: '2',
  fromUserName: 'Name 2',
  toUserId: '1',
  toUserName: 'Name 1',
  amount: 33.33,
  currency: 'EUR',
  txHash: 'a1b2c3d4'.repeat(8),
  status: 'completed',
  createdAt: '2024-01-21T10:00:00.000Z',
  completedAt: '2024-01-21T10:00:05.000Z',
  ...more,
})
const part = {
  PK: 'GROUP#g1',
  SK: 'PART#e1#2',
  GSI1PK: 'USER#2',
  GSI1SK: 'OWES#2024-01-20T18:30:00.000Z',
  expenseId: 'e1',
  amount: 33.33,
}

const linesOf = (rows: readonly unknown[]): readonly ImportLine[] =>
  rows.map((row, index) => ({ line: index + 1, text: JSON.stringify(row) }))
const ORIGIN = { importId: 'import-1', rowHash: 'row', at: Date.parse('2026-11-16T12:00:00.000Z') }
const readAll = (
  rows: readonly unknown[],
  options = {},
): readonly { readonly line: number; readonly read: ReadRow }[] =>
  (expensesImporter.sortLines?.(linesOf(rows), options) ?? []).map(({ line, text }) => ({
    line,
    read: expensesImporter.read(JSON.parse(text), { ...ORIGIN, rowHash: text }),
  }))

const eventsOf = (rows: readonly unknown[], options = {}): readonly Event[] =>
  readAll(rows, options).flatMap(({ read }) =>
    read.kind !== 'events'
      ? []
      : read.events.map(({ key, person, occurredAt, type, data, personal }): Event => ({
          type,
          data,
          personal,
          meta: metaOf({ key, occurredAt, actorId: person, subjectId: person, source: 'import' }),
        })),
  )
const unreadable = (rows: readonly unknown[], options = {}) =>
  readAll(rows, options).flatMap(({ line, read }) =>
    read.kind === 'unreadable' ? [{ line, reason: read.reason }] : [],
  )

/** Reads rows, and returns type and person of the events that the table does not contain yet. */
const fresh = async (rows: readonly unknown[], reader: Reader): Promise<readonly unknown[]> => {
  const importedEvents = readAll(rows).flatMap(({ read }) => (read.kind === 'events' ? read.events : []))
  const known = await Promise.all(importedEvents.map(async (one) => expensesImporter.isPresent?.(one, reader)))
  return importedEvents.filter((_, at) => known[at] !== true).map(({ type, person }) => [type, person])
}

const folded = (rows: readonly unknown[], options = {}) => {
  const table = tableOf([])
  const refusals = eventsOf(rows, options).flatMap((event, at) =>
    foldInto(table, event, at).flatMap(({ refusal }) => refusal?.code ?? []),
  )
  return { items: contents(table), refusals }
}
const netsIn = (balance: unknown): Record<string, bigint> =>
  Object.fromEntries(
    Object.entries((balance as BalanceItem).members).map(([user, sums]: [string, MemberBalance]) => [
      user,
      netOf(sums),
    ]),
  )

/** Returns the items as text, without statement entries and without the names of the events that made the items. */
const bare = (items: Record<string, unknown>): string =>
  JSON.stringify(
    Object.entries(items).filter(([name]) => !name.includes(' / LOG#')),
    (name, value: unknown) => (name === '_heard' || name === 'event' ? undefined : value),
  )

const E1 = 'GROUP#g1 / TX#2024-01-20T18:30:00.000Z#e1'

describe('rows of the source document', () => {
  test('E45: participants and index keys are derived from the expense, in any order of the rows, with or without their rows', () => {
    const rows = [part, settlement('s1'), expense('e1'), ...people, group]
    const { items, refusals } = folded(rows)
    expect(refusals).toEqual([])
    expect(items[E1]).toMatchObject({
      GSI2PK: 'EXPENSE#e1',
      GSI3PK: 'USER#1',
      GSI3SK: 'TX#2024-01-20T18:30:00.000Z#e1',
      payerName: 'Name 1',
      category: 'food',
      description: 'Dinner',
    })
    expect(['2', '3'].map((user) => items[`GROUP#g1 / PART#e1#${user}`]?.['GSI1PK'])).toEqual(['USER#2', 'USER#3'])
    expect(items['GROUP#g1 / SETTLE#2024-01-21T10:00:00.000Z#s1']).toMatchObject({
      GSI3PK: 'USER#2',
      status: 'completed',
      completedAt: '2024-01-21T10:00:05.000Z',
      confirmedBy: 'ton',
    })
    expect(bare(folded([...rows].reverse()).items)).toEqual(bare(items))
  })

  test('E45: floats become whole units that sum up to the amount, and balances are zero-sum', () => {
    const { items } = folded([group, ...people, expense('e1'), settlement('s1')])
    const splits = (items[E1] as ExpenseItem).splits.map(({ amountMinor }) => Number(amountMinor))
    expect([...splits].sort()).toEqual([3333, 3333, 3334])
    expect(Object.values(netsIn(items['GROUP#g1 / BALANCE#EUR'])).reduce((sum, net) => sum + net)).toBe(0n)
  })

  test('E45: for a percentage without an amount the amount is computed, not an equal part', () => {
    const splits = [
      { userId: '1', percentage: 50 },
      { userId: '2', percentage: 33.33 },
      { userId: '3', percentage: 16.67 },
    ]
    const { items } = folded([group, ...people, expense('e1', { splitType: 'percentage', splits })])
    expect(items[E1]).toMatchObject({
      splits: [
        { amountMinor: 5000, percentage: 50 },
        { amountMinor: 3333, percentage: 33.33 },
        { amountMinor: 1667, percentage: 16.67 },
      ],
    })
  })

  test('E45: two ids of one person in old rows are matched by the member row that has both', () => {
    const rows = [
      group,
      member('1', { id: '7d1f-uuid' }),
      ...people.slice(1),
      expense('e1', {
        payerId: '7d1f-uuid',
        splits: [
          { userId: 1, amount: 50 },
          { userId: 2, amount: 50 },
        ],
      }),
    ]
    const { items, refusals } = folded(rows)
    expect(refusals).toEqual([])
    expect(netsIn(items['GROUP#g1 / BALANCE#EUR'])).toEqual({ 1: 5000n, 2: -5000n })
  })

  test('E45: a person who has a part and is not a member joined before and left', () => {
    const { items, refusals } = folded([group, ...people.slice(0, 2), expense('e1')])
    expect(refusals).toEqual([])
    expect(items['GROUP#g1 / USER#3']).toMatchObject({
      name: 'Name 3',
      joinedAt: '2024-01-20T18:30:00.000Z',
      leftAt: '2024-01-20T18:30:00.000Z',
    })
    expect(items['GROUP#g1 / METADATA']).toMatchObject({ memberCount: 2 })
  })

  test('E45: only completed settlements count; a transaction settles once, and is claimed', () => {
    const rows = [
      group,
      ...people,
      expense('e1'),
      settlement('s1'),
      settlement('s2', { status: 'pending', txHash: null }),
      settlement('s3', { status: 'failed', txHash: null }),
      settlement('s4'),
    ]
    const { items, refusals } = folded(rows)
    expect(refusals).toEqual([])
    expect(
      ['s1', 's2', 's3', 's4'].map((id) => items[`GROUP#g1 / SETTLE#2024-01-21T10:00:00.000Z#${id}`]?.['status']),
    ).toEqual(['completed', 'pending', 'failed', undefined])
    expect(items['GROUP#g1 / BALANCE#EUR']).toMatchObject({ members: { 2: { sent: 3333 } } })
    expect(items[`TXHASH#${'a1b2c3d4'.repeat(8)} / CLAIM`]).toMatchObject({ settlementId: 's1' })
    expect(unreadable(rows)).toEqual([{ line: 9, reason: expect.stringContaining('s1 already') }])
  })

  test('E45 E-j: a transaction that settled something in an earlier file does not settle again', async () => {
    const before = tableOf(eventsOf([group, ...people, settlement('s1')]))
    const reader = readerOf(before, ORIGIN.at, () => {}, expensesTable)
    expect(await fresh([...people, settlement('s9')], reader)).toEqual([
      ['SettlementProposed', '2'],
      ['TransactionClaimed', '2'],
    ])
    const claim = eventsOf([...people, settlement('s9')]).at(-1)
    expect(claim && foldInto(before, claim, 99).map(({ refusal }) => refusal?.code)).toEqual(['transaction-claimed'])
    expect(await fresh([...people, settlement('s1')], reader)).toEqual([])
  })

  test('E45: an invalid hash is reported, and the settlement counts as confirmed by the payee', () => {
    const rows = [group, ...people, settlement('s1', { txHash: 'a1b2c3d4e5f6...' })]
    expect(folded(rows).items['GROUP#g1 / SETTLE#2024-01-21T10:00:00.000Z#s1']).toMatchObject({
      status: 'completed',
      confirmedBy: 'manual',
      txHash: null,
    })
    expect(
      readAll(rows).flatMap(({ read }) => (read.kind === 'events' && read.note !== undefined ? [read.note] : [])),
    ).toEqual([expect.stringContaining('a1b2c3d4e5f6...')])
  })

  test('E45: the balances of each day are right: rows are in the order of time', () => {
    const later = expense('e0', {
      SK: 'TX#2024-01-10T00:00:00.000Z',
      createdAt: '2024-01-10T00:00:00.000Z',
      amount: 30,
      splits: [{ userId: '2', amount: 30 }],
    })
    const { items } = folded([group, ...people, expense('e1'), later])
    expect(items['GROUP#g1 / ASOF#EUR#2024-01-10']).toMatchObject({ members: { 1: { paid: 3000 } } })
  })

  test('E45: a settlement changes balances at its completion, however long it was pending', () => {
    const slow = settlement('s1', {
      SK: 'SETTLE#2024-01-15T10:40:00.000Z',
      createdAt: '2024-01-15T10:40:00.000Z',
      completedAt: '2024-03-01T10:00:00.000Z',
    })
    const { items } = folded([group, ...people, slow, expense('e1')])
    expect(items['GROUP#g1 / ASOF#EUR#2024-01-20']).toMatchObject({ members: { 1: { paid: 10_000, received: 0 } } })
    expect(items['GROUP#g1 / BALANCE#EUR']).toMatchObject({
      changedAt: '2024-03-01T10:00:00.000Z',
      members: { 1: { received: 3333 } },
    })
  })

  test('E45: a clock that was ahead does not put balances into the future', () => {
    const { items } = folded([
      group,
      ...people,
      expense('e1', { createdAt: '2099-01-01T00:00:00.000Z' }),
      settlement('s1', { completedAt: '2099-01-01T00:00:00.000Z' }),
    ])
    expect(items['GROUP#g1 / BALANCE#EUR']).toMatchObject({ changedAt: '2026-11-16T12:00:00.000Z' })
  })

  test('E45: rows without their members do not remove members who were there before', async () => {
    const before = eventsOf([group, ...people.slice(0, 2)])
    const reader = readerOf(tableOf(before), ORIGIN.at, () => {}, expensesTable)
    // Person 3 was not a member before, so the import appends that they join and leave. The members 1 and 2 stay.
    expect(await fresh([expense('e1')], reader)).toEqual([
      ['MemberJoined', '3'],
      ['ExpenseRecorded', '1'],
      ['MemberLeft', '3'],
    ])
  })

  test('E45: a person who joined by the rows of a file leaves after them, wherever they are in the file', async () => {
    const [joins, leaves] = [
      eventsOf([group, expense('e1')]).slice(0, 4),
      readAll([expense('e1')])
        .flatMap(({ read }) => (read.kind === 'events' ? read.events : []))
        .filter(({ type }) => type === 'MemberLeft'),
    ]
    const reader = readerOf(tableOf(joins), ORIGIN.at, () => {}, expensesTable)
    expect(await Promise.all(leaves.map(async (leave) => expensesImporter.isPresent?.(leave, reader)))).toEqual([
      false,
      false,
      false,
    ])
  })

  test('E45: the same rows again change nothing', () => {
    const events = eventsOf([group, ...people, expense('e1'), settlement('s1')])
    const [once, twice] = [tableOf(events), tableOf([...events, ...events])]
    expect(bare(contents(twice))).toBe(bare(contents(once)))
    expect(Object.keys(contents(twice))).toEqual(Object.keys(contents(once)))
  })

  test.each([
    [
      'splits that are off by more than rounding',
      expense('e1', {
        splits: [
          { userId: '1', amount: 50 },
          { userId: '2', amount: 40 },
        ],
      }),
      '90.00',
    ],
    ['no splits', expense('e1', { splits: [] }), 'no splits'],
    ['an amount of nothing', expense('e1', { amount: 0 }), 'amount'],
    [
      'an amount that is too large',
      expense('e1', { amount: 1e25, splits: [{ userId: '2', amount: 1e25 }] }),
      'at most 10000000000000000.00',
    ],
    ['an amount below zero', expense('e1', { amount: -5 }), 'amount'],
    ['a currency that is none', expense('e1', { currency: 'DOGE' }), 'DOGE'],
    [
      'a part below zero',
      expense('e1', {
        splits: [
          { userId: '1', amount: -1 },
          { userId: '2', amount: 101 },
        ],
      }),
      'split of 1',
    ],
    ['a part of nobody', expense('e1', { splits: [{ amount: 100 }] }), 'names no user'],
    ['something else', 'row', 'not an item'],
  ])('E45: %s is refused with its line and the reason', (_, row, named) =>
    expect(unreadable([group, ...people, row])).toEqual([{ line: 5, reason: expect.stringContaining(named) }]),
  )

  test('E45: DynamoDB JSON gives the same amounts, to the last unit beyond 2^53', () => {
    const typed = {
      Item: {
        PK: { S: 'GROUP#g1' },
        SK: { S: 'TX#2024-01-20T18:30:00.000Z#e1' },
        id: { S: 'e1' },
        payerId: { S: '1' },
        amountMinor: { N: '123456789012345678' },
        exponent: { N: '9' },
        currency: { S: 'TON' },
        splitType: { S: 'exact' },
        splits: { L: [{ M: { userId: { S: '2' }, amountMinor: { N: '123456789012345678' } } }] },
        createdAt: { S: '2024-01-20T18:30:00.000Z' },
      },
    }
    expect(netsIn(folded([group, ...people, typed]).items['GROUP#g1 / BALANCE#TON'])).toEqual({
      1: 123456789012345678n,
      2: -123456789012345678n,
    })
  })

  test('any row is read or reported with a reason, and nothing is thrown', () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.jsonValue(),
            fc
              .dictionary(
                fc.constantFrom(...Object.keys(expense('e')), ...Object.keys(settlement('s'))),
                fc.jsonValue(),
              )
              .map((odd) => ({ ...expense('e1'), ...odd })),
            fc
              .dictionary(fc.constantFrom('id', 'name', 'participants', 'expenses', 'currencyCode'), fc.jsonValue())
              .map((odd) => ({ ...holiday, ...odd })),
          ),
          { maxLength: 4 },
        ),
        (rows) => {
          folded([group, ...people, ...rows])
        },
      ),
      { numRuns: 500 },
    ))
})

const holiday = JSON.parse(readFileSync(new URL('spliit-holiday.json', import.meta.url), 'utf8')) as {
  readonly expenses: readonly { readonly amount: number }[]
}
const [ANN, BOB, CY] = ['spliit:_ann4zXcV0qk8Q2hL9sTe', 'spliit:bobR7-Yx1nWm5uKdJ3pGa', 'spliit:-cyN2vB6tHq9zLw4eXoFi']
const HOLIDAY = 'GROUP#spliit:-hoL1dAy8sXw3Qe7Rt5Yu'

describe('rows of our own export', () => {
  const rows = [
    { ...group, ownerId: '2', archivedAt: '2024-02-01T00:00:00.000Z' },
    member('1', { joinedAt: '2024-01-15T10:31:00.000Z' }),
    member('2'),
    member('3', { leftAt: '2024-01-30T00:00:00.000Z', removedAt: '2024-01-31T00:00:00.000Z' }),
    expense('e1'),
  ]

  test('E45: keep the owner, the removed people, and whether the group is archived', () => {
    for (const each of [rows, [...rows].reverse()]) {
      const { items, refusals } = folded(each)
      expect(refusals).toEqual([])
      expect(items['GROUP#g1 / METADATA']).toMatchObject({
        ownerId: '2',
        archivedAt: '2024-02-01T00:00:00.000Z',
        memberCount: 2,
      })
      expect(items['GROUP#g1 / USER#3']).toMatchObject({ removedAt: '2024-01-31T00:00:00.000Z', GSI1SK: 'REMOVED#g1' })
    }
  })

  test('E45: keep the creator of the group, also if they are neither member nor owner', () => {
    const { items, refusals } = folded([{ ...rows[0], createdBy: '9' }, ...rows.slice(1)])
    expect([refusals, items['GROUP#g1 / USER#9']]).toEqual([[], undefined])
    expect(items['GROUP#g1 / METADATA']).toMatchObject({
      createdBy: '9',
      ownerId: '2',
      memberCount: 2,
      chatId: '-1001234567890',
    })
    expect(folded([{ ...rows[0], createdBy: 'a b' }]).items['GROUP#g1 / METADATA']).toMatchObject({ createdBy: null })
  })

  test('E45: are skipped if they are present', async () => {
    const reader = readerOf(tableOf(eventsOf(rows)), ORIGIN.at, () => {}, expensesTable)
    expect(await fresh(rows, reader)).toEqual([])
  })

  test('E45: the person who recorded an expense has the id of the member; the payer recorded it if the row names no id', () => {
    const createdBy = (more: object) =>
      (
        folded([
          { ...group, createdBy: 42 },
          member('1'),
          member('2', { telegramId: 42 }),
          expense('e1', { splits: [{ userId: '1', amount: 100 }], ...more }),
        ]).items[E1] as ExpenseItem
      ).createdBy
    expect(
      [{ createdBy: 42 }, { createdBy: '2' }, { createdBy: 'a b' }, { createdBy: null }, {}].map(createdBy),
    ).toEqual(['2', '2', '1', '1', '1'])
    expect(
      folded([{ ...group, createdBy: 42 }, member('2', { telegramId: 42 })]).items['GROUP#g1 / METADATA'],
    ).toMatchObject({ createdBy: '2' })
  })

  test('E45: never undo later changes of people, and complete an import that ended early', async () => {
    const dated = [
      { ...rows[0], ownerSince: '2024-01-20T00:00:00.000Z' },
      ...rows.slice(1),
      member('4', { leftAt: '2024-01-25T00:00:00.000Z' }),
    ]
    const undated = [{ ...rows[0], ownerSince: 'soon', archivedAt: '2099-01-01T00:00:00.000Z' }, ...dated.slice(1)]
    const early = tableOf(
      eventsOf(dated).filter(
        ({ type }) => !['MemberLeft', 'GroupMemberRemoved', 'GroupOwnerChanged', 'GroupArchived'].includes(type),
      ),
    )
    expect(
      await fresh(
        dated,
        readerOf(early, ORIGIN.at, () => {}, expensesTable),
      ),
    ).toEqual([
      ['GroupMemberRemoved', null],
      ['MemberLeft', '4'],
      ['GroupOwnerChanged', null],
      ['GroupArchived', null],
    ])
    const changed = tableOf([
      ...eventsOf(dated),
      unarchived({ meta: { actorId: '2' } }),
      invited({ meta: { actorId: '2' } }),
      joined('3', { invitation: SECRET }),
      joined('4', { invitation: SECRET }),
      ownerChanged('1', { meta: { actorId: '2' } }),
    ])
    expect(contents(changed)['GROUP#g1 / METADATA']).toMatchObject({ ownerId: '1', memberCount: 4 })
    const reader = readerOf(changed, ORIGIN.at, () => {}, expensesTable)
    for (const each of [rows, dated, undated]) expect(await fresh(each, reader)).toEqual([])
    const later = [{ ...dated[0], ownerSince: '2026-11-16T11:59:59.999Z' }]
    expect(await fresh(later, reader)).toEqual([])
  })

  test('E45: an owner who left after the import does not own the group again by importing the file again', async () => {
    const reader = readerOf(
      tableOf([...eventsOf(rows.map((row, nth) => (nth === 0 ? { ...row, archivedAt: null } : row))), left('2')]),
      ORIGIN.at,
      () => {},
      expensesTable,
    )
    expect((await reader.get({ PK: 'GROUP#g1', SK: 'METADATA' }))?.['ownerId']).toBe('1')
    expect(await fresh([{ ...rows[0], archivedAt: null }, ...rows.slice(1)], reader)).toEqual([])
  })

  test('E45: rows that an earlier part of the file did not have are added after its members left and the group was archived', async () => {
    const table = tableOf(eventsOf(rows.slice(0, 4)))
    const reader = readerOf(table, ORIGIN.at, () => {}, expensesTable)
    const missing = [
      ...rows,
      member('4', { leftAt: '2024-01-25T00:00:00.000Z' }),
      settlement('s1', { fromUserId: '3' }),
    ]
    expect(await fresh(missing, reader)).toEqual([
      ['MemberJoined', '4'],
      ['ExpenseRecorded', '1'],
      ['SettlementProposed', '3'],
      ['SettlementConfirmed', '3'],
      ['TransactionClaimed', '3'],
      ['MemberLeft', '4'],
    ])
    const importedEvents = eventsOf(missing).filter(
      ({ type, meta }) =>
        ['ExpenseRecorded', 'SettlementProposed', 'SettlementConfirmed'].includes(type) || meta.actorId === '4',
    )
    expect(
      importedEvents.flatMap((event, nth) =>
        foldInto(table, event, 100 + nth).flatMap(({ refusal }) => refusal?.code ?? []),
      ),
    ).toEqual([])
    expect(netsIn(contents(table)['GROUP#g1 / BALANCE#EUR'])).toEqual(
      netsIn(folded(missing).items['GROUP#g1 / BALANCE#EUR']),
    )
    expect(contents(table)['GROUP#g1 / METADATA']).toMatchObject({
      memberCount: 2,
      archivedAt: '2024-02-01T00:00:00.000Z',
    })
  })

  test('without an owner make the member who joined first the owner', () =>
    expect(
      folded([group, member('1'), member('2', { joinedAt: '2024-01-15T10:31:00.000Z' })]).items['GROUP#g1 / METADATA'],
    ).toMatchObject({ ownerId: '2' }))
})

describe('a group that Spliit exported', () => {
  test('E45: every balance is the same to the cent: even, by shares, percentage and amount, income and reimbursements', () => {
    const { items, refusals } = folded([holiday])
    expect([refusals, unreadable([holiday])]).toEqual([[], []])
    // The expected balances were computed by shares.ts and balances.ts of Spliit itself.
    expect(netsIn(items[`${HOLIDAY} / BALANCE#EUR`])).toEqual({ [ANN]: 363n, [BOB]: -5070n, [CY]: 4707n })
  })

  test('E45: each expense keeps its type of split, its notes and its category', () => {
    const { items } = folded([holiday])
    expect(items[`${HOLIDAY} / TX#2026-07-01T00:00:00.000Z#spliit:Zk3vQx9LpR2mWn8sYt5Ba`]).toMatchObject({
      description: 'Dinner\nby the sea',
      category: 'Dining Out',
      splitType: 'equal',
    })
    expect(items[`${HOLIDAY} / TX#2026-07-02T00:00:00.000Z#spliit:_Hj6tGf4Sd2Az1Xc3Vb5N`]).toMatchObject({
      splitType: 'shares',
      splits: [
        { userId: CY, shares: 2, amountMinor: 286 },
        { userId: ANN, shares: 3, amountMinor: 429 },
        { userId: BOB, shares: 2, amountMinor: 286 },
      ],
    })
    expect(items[`${HOLIDAY} / TX#2026-07-03T00:00:00.000Z#spliit:Pq8rLm2Kw5Zx7Cv9Bn1Ms`]).toMatchObject({
      splitType: 'percentage',
      splits: [{ percentage: 33.34 }, { percentage: 33.33 }, { percentage: 33.33 }],
    })
    expect(items[`${HOLIDAY} / SETTLE#2026-07-06T10:00:00.000Z#spliit:Mk6nJb4Hv2Gc8Fx1Dz3Sa`]).toMatchObject({
      createdAt: '2026-07-06T10:00:00.000Z',
      fromUserId: CY,
      toUserId: ANN,
      amountMinor: 2500,
      status: 'completed',
    })
  })

  test('E45: a group without a currency code has two decimals, whatever currency it is imported as', () => {
    const importedEvents = {
      id: 'x1',
      title: 'Ramen',
      expenseDate: '2026-05-01T00:00:00.000Z',
      amount: 100_000,
      paidById: 'a',
      paidFor: ['a', 'b', 'c'].map((participantId) => ({ participantId, shares: 100 })),
      splitMode: 'EVENLY',
    }
    const yen = {
      id: 'yen',
      name: 'Kyoto',
      currency: '¥',
      participants: ['a', 'b', 'c'].map((id) => ({ id, name: id })),
      expenses: [importedEvents],
    }
    const imported = (currencyCode: string | null) => folded([{ ...yen, currencyCode }], { currency: 'JPY' }).items
    expect(imported(null)['GROUP#spliit:yen / TX#2026-05-01T00:00:00.000Z#spliit:x1']).toMatchObject({
      amount: 1000,
      currency: 'JPY',
      exponent: 0,
    })
    expect(new Set(Object.values(netsIn(imported('')['GROUP#spliit:yen / BALANCE#JPY'])))).toEqual(
      new Set([667n, -333n, -334n]),
    )
    expect(imported('JPY')['GROUP#spliit:yen / TX#2026-05-01T00:00:00.000Z#spliit:x1']).toMatchObject({
      amount: 100_000,
    })
    expect(
      unreadable([{ ...yen, currencyCode: null, expenses: [{ ...importedEvents, amount: 100_001 }] }], {
        currency: 'JPY',
      }),
    ).toEqual([{ line: 1, reason: expect.stringContaining('more decimals') }])
  })

  test('E45: a group with only a currency sign needs --currency', () => {
    const signed = { ...holiday, currencyCode: null }
    expect(unreadable([signed])).toEqual([{ line: 1, reason: expect.stringContaining('--currency') }])
    expect(netsIn(folded([signed], { currency: 'CHF' }).items[`${HOLIDAY} / BALANCE#CHF`])).toMatchObject({
      [ANN]: 363n,
    })
  })

  test('E45: if Spliit has no cents and ISO 4217 has them, amounts stay the same', () =>
    expect(netsIn(folded([{ ...holiday, currencyCode: 'HUF' }]).items[`${HOLIDAY} / BALANCE#HUF`])).toMatchObject({
      [ANN]: 36_300n,
    }))

  test('E45: an invalid expense is reported with its number, and the others are imported', () => {
    const odd = {
      ...holiday,
      expenses: [
        { ...holiday.expenses[0], id: 'odd', splitMode: 'BY_AMOUNT', paidFor: [] },
        holiday.expenses[1],
        { id: 'bare' },
      ],
    }
    expect(unreadable([odd]).map(({ line }) => line)).toEqual([1, 3])
    expect(Object.keys(folded([odd]).items).filter((name) => name.includes(' / TX#'))).toHaveLength(1)
  })
})
