import { describe, expect, test } from 'vitest'
import {
  balances,
  chats,
  credits,
  deletedExpenses,
  entries,
  expenses,
  groups,
  members,
  participants,
  profiles,
  settlements,
  transactions,
} from '../../../projections/expenses/keys.ts'
import { expensesQueries } from '../../../projections/expenses/queries.ts'
import { expensesTable } from '../../../projections/expenses/table.ts'
import type { Query } from '../../../projections/table.ts'
import type { Event } from '../../../schemas/event.ts'
import { tableOf } from '../../processors/expenses/given.ts'
import {
  at,
  chatLinked,
  chatUnlinked,
  claimed,
  confirmed,
  created,
  DAY,
  deleted,
  GROUP,
  HASH,
  joined,
  left,
  NOW,
  profileTold,
  proposed,
  recorded,
  renamed,
  revised,
  splits,
  trip,
} from '../../processors/expenses/events.ts'
import { readerOf } from '../reader.ts'

const all = { limit: 100 }
const after = (...events: readonly Event[]) => {
  const reader = readerOf(tableOf(events), NOW, () => {}, expensesTable)
  return { reader, ...expensesQueries(reader) }
}
const at2 = (minutes: number) => ({ spentAt: NOW + minutes * 60_000 })
const elsewhere = { key: 'g2' }

describe('a group', () => {
  test('E10 E11 E12: its metadata, its members, and one of them', async () => {
    const ask = after(...trip, left('cy'))
    expect(await groups.get(ask.reader, GROUP)).toMatchObject({ title: 'Trip', memberCount: 2 })
    expect((await members.page(ask.reader, GROUP, all)).items.map(({ id }) => id)).toEqual(['ann', 'bob', 'cy'])
    expect((await ask.everyMember(GROUP)).map(({ id }) => id)).toEqual(['ann', 'bob', 'cy'])
    expect(await members.get(ask.reader, GROUP, 'cy')).toMatchObject({ leftAt: expect.any(String) as string })
    expect(await ask.rightsOf(GROUP, 'eve')).toMatchObject({ group: { id: GROUP }, member: undefined })
  })

  test('E13 E28: its expenses, the newest first, a page at a time', async () => {
    const ask = after(
      ...trip,
      recorded(at2(1)),
      recorded({ expenseId: 'e2', ...at2(2) }),
      recorded({ expenseId: 'e3', ...at2(0) }),
    )
    const page = await expenses.page(ask.reader, GROUP, { limit: 2, reverse: true })
    expect(page.items.map(({ id }) => id)).toEqual(['e2', 'e1'])
    expect(
      (await expenses.page(ask.reader, GROUP, { limit: 2, reverse: true, cursor: page.cursor ?? '' })).items.map(
        ({ id }) => id,
      ),
    ).toEqual(['e3'])
  })

  test('E14 E33: its settlements, and not their names', async () =>
    expect(
      (
        await settlements.page(
          after(...trip, proposed(), proposed({ settlementId: 's2', proposedAt: NOW + 1 })).reader,
          GROUP,
          { reverse: true, ...all },
        )
      ).items.map(({ id }) => id),
    ).toEqual(['s2', 's1']))

  test('E15: the people who owe for an expense, and for no other expense whose id begins with the same text', async () => {
    const ask = after(...trip, recorded(), recorded({ expenseId: 'e10', splits: splits({ bob: 3000n }) }))
    expect((await participants.every(ask.reader, GROUP, { under: 'e1', ...all })).map(({ userId }) => userId)).toEqual([
      'bob',
      'cy',
    ])
  })

  test('E16 E17: an expense and a settlement by their ids, in the group or anywhere', async () => {
    const ask = after(...trip, recorded(), proposed())
    expect(await ask.expense(GROUP, 'e1')).toMatchObject({ state: 'present', expense: { amount: 30 } })
    expect(await ask.expense('g2', 'e1')).toBeUndefined()
    expect(await ask.expenseNamed('e1')).toMatchObject({ groupId: GROUP })
    expect(await ask.settlement(GROUP, 's1')).toMatchObject({ status: 'pending' })
    expect(await ask.settlement(GROUP, 's2')).toBeUndefined()
    expect(await ask.settlementNamed('s1')).toMatchObject({ groupId: GROUP })
  })

  test('E-g: a deleted expense is found with the person who deleted it, and its complete history', async () => {
    const ask = after(
      ...trip,
      recorded(),
      revised(at(1)),
      deleted(at(2)),
      created({ meta: elsewhere }),
      recorded({ payerId: 'ann', splits: splits({ ann: 3000n }), meta: elsewhere }),
    )
    expect(await ask.expense(GROUP, 'e1')).toMatchObject({ state: 'deleted', expense: { revision: 2 } })
    expect((await deletedExpenses.page(ask.reader, GROUP, all)).items).toMatchObject([
      { deletedBy: 'ann', deletedAt: '2026-11-16T12:02:00.000Z', expense: { revision: 2 } },
    ])
    expect((await deletedExpenses.page(ask.reader, 'g2', all)).items).toEqual([])
    expect((await ask.history(GROUP, 'e1', all)).items.map(({ kind }) => kind)).toEqual([
      'expense-recorded',
      'expense-revised',
      'expense-deleted',
    ])
    expect(await ask.expenseNamed('e1')).toMatchObject({ groupId: 'g2' })
  })

  test('its entries, the newest first', async () =>
    expect(
      (
        await entries.page(after(...trip, recorded(at(1)), renamed(at(2))).reader, GROUP, { limit: 2, reverse: true })
      ).items.map(({ kind }) => kind),
    ).toEqual(['group-renamed', 'expense-recorded']))

  test('E-h: the group is found by its chat, until it moves', async () => {
    expect(await chats.get(after(chatLinked()).reader, '-100')).toMatchObject({ groupId: GROUP })
    expect(await chats.get(after(chatLinked(), chatUnlinked()).reader, '-100')).toMatchObject({ groupId: null })
  })

  test('E-j: the settlement that a transaction settles', async () =>
    expect(await transactions.get(after(claimed()).reader, HASH)).toMatchObject({ settlementId: 's1' }))
})

describe('a user', () => {
  const lived = [
    ...trip,
    recorded(at2(1)),
    recorded({ expenseId: 'e2', payerId: 'bob', ...at2(2) }),
    proposed({ proposedAt: NOW + 3 * 60_000 }),
    created({ title: 'Home', meta: { ...elsewhere, actorId: 'bob', subjectId: 'bob' } }),
    recorded({ expenseId: 'e3', payerId: 'bob', splits: splits({ bob: 3000n }), ...at2(4), meta: elsewhere }),
    proposed({ settlementId: 's2', fromUserId: 'cy', toUserId: 'bob', proposedAt: NOW }),
  ]

  test('E2 E18: their groups, without those that they left', async () => {
    expect((await after(...lived).groupsOf('bob', all)).items.map(({ title }) => title)).toEqual(['Trip', 'Home'])
    expect((await after(...lived, left('bob')).groupsOf('bob', all)).items.map(({ title }) => title)).toEqual(['Home'])
    expect((await after(...lived).membershipsOf('bob', 'now', all)).items.map(({ GSI1SK }) => GSI1SK)).toEqual([
      'GROUP#g1',
      'GROUP#g2',
    ])
  })

  test('E4 E19 E20 E21 E-e: the amounts that they owe, paid, sent and received', async () => {
    const ask = after(...lived)
    expect((await ask.owedBy('bob', all)).items.map(({ expenseId }) => expenseId)).toEqual(['e1'])
    expect((await ask.paidBy('bob', all)).items.map(({ id }) => id)).toEqual(['e3', 'e2'])
    expect((await ask.sentBy('bob', all)).items.map(({ id }) => id)).toEqual(['s1'])
    expect((await ask.receivedBy('bob', all)).items.map(({ id }) => id)).toEqual(['s2'])
  })

  test('E22: all their activity by time, the newest first, page by page', async () => {
    const ask = after(...lived)
    const told = async (limit: number, cursor?: string): Promise<string[]> => {
      const page = await ask.activityOf('bob', { limit, ...(cursor !== undefined && { cursor }) })
      const ids = page.items.map(({ kind, item }) => `${kind} ${'expenseId' in item ? item.expenseId : item.id}`)
      return page.cursor === undefined ? ids : [...ids, ...(await told(limit, page.cursor))]
    }
    const expected = ['paid e3', 'sent s1', 'paid e2', 'owed e1', 'received s2']
    for (const limit of [1, 2, 3, 4, 5, 100]) expect(await told(limit)).toEqual(expected)
    await expect(ask.activityOf('bob', { limit: 1, cursor: 'x' })).rejects.toMatchObject({ code: 'bad-cursor' })
  })

  test('E22: entries with the same time and the same id in several groups are all in its pages, whatever their size', async () => {
    const groups = ['g1', 'g2', 'g3', 'g4', 'g5']
    const ask = after(
      ...groups.flatMap((key) => {
        const meta = { key }
        return [
          created({ meta }),
          joined('bob', { meta }),
          recorded({ payerId: 'bob', splits: splits({ ann: 1000n, bob: 2000n }), meta }),
          recorded({ expenseId: 'e2', splits: splits({ ann: 1000n, bob: 2000n }), meta }),
          proposed({ meta: { key, actorId: 'bob' } }),
        ]
      }),
      recorded({ expenseId: 'e0', spentAt: NOW - DAY, payerId: 'bob', splits: splits({ ann: 1000n, bob: 2000n }) }),
    )
    const expected = [
      ...groups.flatMap((group) => [`${group} paid e1`, `${group} owed e2`, `${group} sent s1`]),
      'g1 paid e0',
    ].sort()
    for (const limit of [1, 2, 3, 4, 7, 100]) {
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await ask.activityOf('bob', { limit, ...(cursor !== undefined && { cursor }) })
        seen.push(
          ...page.items.map(
            ({ kind, item }) => `${item.groupId} ${kind} ${'expenseId' in item ? item.expenseId : item.id}`,
          ),
        )
        cursor = page.cursor
      } while (cursor !== undefined)
      expect(seen.at(-1)).toBe('g1 paid e0')
      expect([...seen].sort(), `${limit} a page`).toEqual(expected)
    }
  })

  test('E-m: their profile', async () =>
    expect(await profiles.get(after(profileTold()).reader, '4711')).toMatchObject({ name: 'Ann' }))
})

describe('balances', () => {
  const days = [
    ...trip,
    recorded(),
    recorded({ expenseId: 'e2', meta: { occurredAt: NOW + DAY } }),
    proposed(),
    confirmed({ meta: { occurredAt: NOW + DAY + 60_000 } }),
  ]

  test('E46: one item per currency, and the debts to each person', async () => {
    const ask = after(...days)
    expect(await ask.balances(GROUP)).toMatchObject([
      { currency: 'EUR', members: { ann: { paid: 6000, share: 2000, received: 1000 } } },
    ])
    expect(await balances.get(ask.reader, GROUP, 'EUR')).toMatchObject({ exponent: 2 })
    expect(
      (await credits.every(ask.reader, GROUP, { under: 'EUR', ...all })).map(({ payerId, owed }) => [payerId, owed]),
    ).toEqual([['ann', { bob: 1000, cy: 2000 }]])
  })

  test('as of the end of a day, as of an instant, and before the first ones', async () => {
    const ask = after(...days)
    expect(await ask.balancesOfDay(GROUP, '2026-11-16')).toMatchObject([{ members: { ann: { paid: 3000 } } }])
    expect(await ask.balancesOfDay(GROUP, '2026-11-20')).toMatchObject([{ members: { ann: { paid: 6000 } } }])
    expect(await ask.balancesOfDay(GROUP, '2026-11-15')).toEqual([])
    expect(await ask.balancesAt(GROUP, NOW + DAY)).toMatchObject([{ members: { ann: { paid: 6000, received: 0 } } }])
    expect(await ask.balancesAt(GROUP, NOW - 1)).toEqual([])
  })

  test('as of a day they take two reads, for any number of expenses', async () => {
    const asked: Query[] = []
    await expensesQueries(readerOf(tableOf(days), NOW, (query) => asked.push(query), expensesTable)).balancesOfDay(
      GROUP,
      '2026-11-16',
    )
    expect(asked).toEqual([
      { pk: 'GROUP#g1', prefix: 'BALANCE#', limit: 200 },
      { pk: 'GROUP#g1', from: 'ASOF#EUR#', to: 'ASOF#EUR#2026-11-16', reverse: true, limit: 1 },
    ])
  })
})

test('a person can be in many groups', async () => {
  const groups = Array.from({ length: 12 }, (_, n) => created({ title: `G${n}`, meta: { key: `g${n}` } }))
  const ask = after(...groups, joined('bob', { meta: { key: 'g3' } }))
  const page = await ask.groupsOf('ann', { limit: 10 })
  expect([page.items.length, page.cursor !== undefined]).toEqual([10, true])
})
