import { expect, test } from 'vitest'
import { expenseRevised, type ExpenseContext, type Revision } from '../../../producers/expenses/expense-bodies.ts'
import type { ExpenseItem, GroupItem, MemberItem } from '../../../projections/expenses/items.ts'

const people = Array.from({ length: 90 }, (_, n) => `u${n}`)
const [before, others] = [people.slice(0, 45), people.slice(45)]
const splits = before.map((userId) => ({ userId, userName: null, amount: 1, amountMinor: 100 }))
const current = {
  id: 'e1',
  payerId: 'ann',
  currency: 'EUR',
  exponent: 2,
  splitType: 'equal',
  splits,
  category: null,
  spentAt: '2026-11-16T12:00:00.000Z',
} as Partial<ExpenseItem> as ExpenseItem
const members = ['ann', ...people].map((id) => ({ id }) as MemberItem)
const around: ExpenseContext = { group: { id: 'g1', currency: 'EUR' } as GroupItem, members, user: 'ann', now: 0 }
const revise = (users: readonly string[], more: Partial<Revision> = {}) =>
  expenseRevised(
    { amount: 45, description: 'Dinner', revision: 1, splits: users.map((userId) => ({ userId })), ...more },
    current,
    around,
  )

test('E-f: a new date with more other participants than fit one commit is refused before it is appended', () => {
  for (const more of [{ date: '2026-11-01' }, { date: '2026-11-01', payerId: 'u45' }])
    expect(() => revise(others, more)).toThrowError(expect.objectContaining({ status: 409, code: 'too-many-changes' }))
})

test.each([
  ['other participants at the same date', others, {}],
  ['other participants and the date that it has', others, { date: '2026-11-16T12:00:00Z' }],
  ['another payer among other participants', others, { payerId: 'u45' }],
  ['a new date', before, { date: '2026-11-01' }],
  ['a new date and 43 other participants', others.slice(2), { date: '2026-11-01' }],
])('E-f: %s fit one commit', (_, users, more) =>
  expect(revise(users, more)).toMatchObject({ draft: { type: 'ExpenseRevised' } }),
)
