import { describe, expect, test } from 'vitest'
import type { ExpenseRecorded } from '../../../schemas/generated/expenses.ts'
import { given } from './given.ts'
import {
  at,
  BALANCE,
  created,
  creditName,
  DAY,
  EXPENSE,
  EXPENSE_NAME,
  joined,
  left,
  NOW,
  partName,
  recorded,
  renamed,
  revised,
  splits,
  trip,
} from './events.ts'

describe('ExpenseRecorded', () => {
  test('E7 E8 E42: the expense, a part per person except the payer, balances, credits and a line of the statement are one result', () => {
    const event = recorded()
    const when = given(...trip).when(event)
    when.thenWrites(
      EXPENSE,
      EXPENSE_NAME,
      partName('bob'),
      partName('cy'),
      BALANCE,
      creditName('ann'),
      `GROUP#g1 / LOG#2026-11-16T12:00:00.000Z#${event.meta.eventId}`,
    )
    when.then({
      [EXPENSE]: {
        GSI2PK: 'EXPENSE#e1',
        GSI2SK: 'g1',
        GSI3PK: 'USER#ann',
        GSI3SK: 'TX#2026-11-16T12:00:00.000Z#e1',
        id: 'e1',
        groupId: 'g1',
        payerId: 'ann',
        payerName: 'Ann',
        amount: 30,
        amountMinor: 3000,
        currency: 'EUR',
        exponent: 2,
        description: 'Dinner',
        splitType: 'equal',
        category: 'food',
        createdAt: '2026-11-16T12:00:00.000Z',
        revision: 1,
        splits: [
          { userId: 'ann', userName: 'Ann', amount: 10, amountMinor: 1000 },
          { userId: 'bob', userName: 'Bob' },
          { userId: 'cy' },
        ],
      },
      [partName('bob')]: {
        GSI1PK: 'USER#bob',
        GSI1SK: 'OWES#2026-11-16T12:00:00.000Z#e1',
        expenseId: 'e1',
        groupTitle: 'Trip',
        userId: 'bob',
        userName: 'Bob',
        amount: 10,
        amountMinor: 1000,
        payerId: 'ann',
        payerName: 'Ann',
        description: 'Dinner',
        totalAmount: 30,
        createdAt: '2026-11-16T12:00:00.000Z',
      },
      [BALANCE]: {
        currency: 'EUR',
        exponent: 2,
        changedAt: '2026-11-16T12:00:00.000Z',
        members: {
          ann: { paid: 3000, share: 1000, sent: 0, received: 0 },
          bob: { paid: 0, share: 1000, sent: 0, received: 0 },
          cy: { paid: 0, share: 1000, sent: 0, received: 0 },
        },
      },
      [creditName('ann')]: { payerId: 'ann', owed: { bob: 1000, cy: 1000 } },
    })
  })

  test('E7 E8: the time of the recording and the date of the expense are two fields', () =>
    given(...trip)
      .when(recorded({ spentAt: NOW - DAY, ...at(5) }))
      .then({
        'GROUP#g1 / TX#2026-11-15T12:00:00.000Z#e1': {
          spentAt: '2026-11-15T12:00:00.000Z',
          createdAt: '2026-11-16T12:05:00.000Z',
        },
        [partName('bob')]: {
          spentAt: '2026-11-15T12:00:00.000Z',
          createdAt: '2026-11-16T12:05:00.000Z',
          GSI1SK: 'OWES#2026-11-15T12:00:00.000Z#e1',
        },
      }))

  test('E-a: two expenses of one millisecond are not merged', () => {
    const { items } = given(...trip, recorded()).when(recorded({ expenseId: 'e2' }))
    expect(Object.keys(items).filter((name) => name.includes(' / TX#'))).toHaveLength(2)
  })

  test('E42: the same expense again, at a later offset, changes nothing', () => {
    const first = recorded()
    given(...trip, first)
      .when(first)
      .thenDuplicate()
    given(...trip, first)
      .when(recorded({ amountMinor: 1n, splits: splits({ bob: 1n }) }))
      .thenDuplicate()
  })

  test('E8: a person with a share of 0 is no participant, and stays in the split', () => {
    const when = given(...trip).when(recorded({ splits: splits({ bob: 3000n, cy: 0n }) }))
    when.then({
      [partName('bob')]: { amount: 30 },
      [partName('cy')]: null,
      [EXPENSE]: { splits: [{ userId: 'bob' }, { userId: 'cy', amountMinor: 0 }] },
    })
  })

  test('E-c: each currency has balances of its own', () =>
    given(...trip, recorded())
      .when(recorded({ expenseId: 'e2', currency: 'TON', exponent: 9, amountMinor: 5n, splits: splits({ bob: 5n }) }))
      .then({
        [BALANCE]: { members: { bob: { share: 1000 } } },
        'GROUP#g1 / BALANCE#TON': { exponent: 9, members: { ann: { paid: 5 }, bob: { share: 5 } } },
      }))

  test('E-k: earlier items keep their title and names', () =>
    given(...trip, recorded(), renamed())
      .when(recorded({ expenseId: 'e2' }))
      .then({ [partName('bob')]: { groupTitle: 'Trip' }, 'GROUP#g1 / PART#e2#bob': { groupTitle: 'Journey' } }))

  test('the balances of a past day are stored when a later day changes them', () => {
    const when = given(...trip, recorded()).when(recorded({ expenseId: 'e2', meta: { occurredAt: NOW + DAY } }))
    when.then({
      'GROUP#g1 / ASOF#EUR#2026-11-16': { day: '2026-11-16', members: { ann: { paid: 3000 } } },
      [BALANCE]: { changedAt: '2026-11-17T12:00:00.000Z', members: { ann: { paid: 6000 } } },
    })
  })

  test('a clock that goes back does not decrease the time of balances', () =>
    given(...trip, recorded(at(5)))
      .when(recorded({ expenseId: 'e2', ...at(-5) }))
      .then({ [BALANCE]: { changedAt: '2026-11-16T12:05:00.000Z' } }))

  test('a user id can be the name of an inherited property', () =>
    given(...trip, joined('constructor'))
      .when(recorded({ splits: splits({ constructor: 3000n }) }))
      .then({
        [BALANCE]: { members: { constructor: { paid: 0, share: 3000 } } },
        [creditName('ann')]: { owed: { constructor: 3000 } },
      }))

  test('amounts beyond the exact range of a number are exact', () =>
    given(...trip)
      .when(recorded({ amountMinor: 10n ** 18n, splits: splits({ bob: 10n ** 18n - 1n, cy: 1n }) }))
      .then({ [BALANCE]: { members: { bob: { share: 10n ** 18n - 1n }, cy: { share: 1 } } } }))

  const bad: readonly [string, string, Partial<ExpenseRecorded['data']>, RegExp][] = [
    ['of parts that do not sum up', 'splits-mismatch', { splits: splits({ ann: 1000n, bob: 1000n }) }, /2000.*3000/],
    ['of a part below zero', 'splits-mismatch', { splits: splits({ ann: 4000n, bob: -1000n }) }, /cannot be negative/],
    [
      'of one person twice',
      'splits-mismatch',
      { splits: [...splits({ bob: 1500n }), ...splits({ bob: 1500n })] },
      /once/,
    ],
    ['for nobody', 'splits-mismatch', { splits: [] }, /at least one person/],
    ['of zero', 'amount-invalid', { amountMinor: 0n, splits: splits({ bob: 0n }) }, /more than zero/],
    ['below zero', 'amount-invalid', { amountMinor: -5n, splits: splits({ bob: -5n }) }, /more than zero/],
    [
      'above 10^18',
      'amount-invalid',
      { amountMinor: 10n ** 18n + 1n, splits: splits({ bob: 10n ** 18n + 1n }) },
      /at most/,
    ],
    ['in no currency', 'currency-unknown', { currency: 'eur' }, /capital/],
    ['with decimals that no currency has', 'currency-unknown', { exponent: 19 }, /0 to 18/],
    ['for a stranger', 'member-unknown', { splits: splits({ eve: 3000n }) }, /^eve/],
    ['paid by a stranger', 'member-unknown', { payerId: 'eve' }, /^eve/],
    ['without an id', 'expense-invalid', { expenseId: 'a#b' }, /id/],
    [
      'for 46 others',
      'too-many-beneficiaries',
      { splits: splits(Object.fromEntries(Array.from({ length: 46 }, (_, n) => [`u${n}`, 1n]))) },
      /45.*46/,
    ],
  ]
  test.each(bad)('an expense %s is refused: %s', (_, code, fields, detail) =>
    given(...trip)
      .when(recorded(fields))
      .thenRefused(code, detail),
  )

  test('E-c: decimals that differ from those of the balance are refused', () =>
    given(...trip, recorded())
      .when(recorded({ expenseId: 'e2', exponent: 3 }))
      .thenRefused('exponent-changed', /EUR has 2/))
  test('E-i: a person who left cannot be in a new expense', () =>
    given(...trip, left('bob'))
      .when(recorded())
      .thenRefused('member-left', /^bob/))
  test('in an unknown group it is refused', () => given().when(recorded()).thenRefused('group-not-found'))

  describe('at the limit of one commit', () => {
    const people = (from: number) => Array.from({ length: 45 }, (_, n) => `u${from + n}`)
    const crowd = [created(), ...people(0).map((user) => joined(user)), ...people(45).map((user) => joined(user))]
    const each = (users: readonly string[]) => ({
      amountMinor: BigInt(users.length),
      splits: splits(Object.fromEntries(users.map((user) => [user, 1n]))),
    })
    const revision = (fields: Parameters<typeof revised>[0]) =>
      given(...crowd, recorded(each(people(0)))).when(revised({ meta: { occurredAt: NOW + DAY }, ...fields }))
    const spentAt = NOW - DAY
    const fitting: readonly [string, Parameters<typeof revised>[0], number][] = [
      ['45 other beneficiaries', each(people(45)), 95],
      ['another payer among 45 other beneficiaries', { ...each(people(45)), payerId: 'u45' }, 95],
      ['another date', { ...each(people(0)), spentAt }, 51],
      ['another date and 43 other beneficiaries', { ...each(people(45).slice(2)), spentAt }, 95],
    ]
    test.each(fitting)('E-f: a revision to %s on another day fits', (_, fields, changes) => {
      const { result } = revision(fields)
      expect(result.refusal).toBeUndefined()
      expect(result.items).toHaveLength(changes)
    })
    const beyond: readonly [string, Parameters<typeof revised>[0]][] = [
      ['another payer and 45 other beneficiaries', { ...each(people(45)), payerId: 'u0' }],
      ['another date and 45 other beneficiaries', { ...each(people(45)), spentAt }],
      [
        'another date, and another payer among 45 other beneficiaries',
        { ...each(people(45)), payerId: 'u45', spentAt },
      ],
    ]
    test.each(beyond)('E-f: a revision to %s on another day is refused', (_, fields) =>
      revision(fields).thenRefused('too-many-changes', /two steps/),
    )
  })
})
