import { expect, test } from 'vitest'
import { expenses } from '../../../processors/expenses/domain.ts'
import type { DeletedExpenseItem } from '../../../projections/expenses/items.ts'
import type { Item } from '../../../projections/item.ts'
import type { MemoryEdge } from '../../../testing/edge/edge.ts'
import { DINNER, openGroupOfThree } from './group-of-three.ts'

/** Returns an expense, or a part of an expense, in the form of fold version 2: `createdAt` is the time of the payment, and there is no `spentAt`. */
const older = ({ spentAt, ...item }: Item): Item => (spentAt === undefined ? item : { ...item, createdAt: spentAt })

/** Replaces all items by those of fold version 2. There, the item `EXPENSE#…` of a deleted expense contains the expense. */
const makeOlder = ({ items }: MemoryEdge): void => {
  for (const [id, item] of items) {
    items.set(id, older(item))
    if (!item.SK.startsWith('DELETED#')) continue
    const { expense, deletedAt, deletedBy } = item as Item as DeletedExpenseItem
    items.delete(id)
    const [nameId, name] = [...items].find(([, { SK }]) => SK === `EXPENSE#${expense.id}`) ?? []
    if (nameId !== undefined && name !== undefined)
      items.set(nameId, { ...name, expense: older(expense), deletedAt, deletedBy })
  }
}

test('the edge answers from items of fold version 2', async () => {
  const { edge, group, ann, bob } = await openGroupOfThree()
  const date = '2026-11-10T12:00:00.000Z'
  const {
    body: { id },
  } = await ann.sendCommand('POST', `${group}/expenses`, { ...DINNER, date })
  const {
    body: { id: gone },
  } = await ann.sendCommand('POST', `${group}/expenses`, { ...DINNER, date })
  await ann.sendCommand('DELETE', `${group}/expenses/${gone}`)
  makeOlder(edge)
  expect(await ann.getPath(`${group}/expenses/${id}`)).toMatchObject({ status: 200, body: { id, date } })
  expect(await ann.getPath(`${group}/expenses`)).toMatchObject({ status: 200, body: { items: [{ id, date }] } })
  expect(await bob.getPath('/api/users/me/debts')).toMatchObject({
    status: 200,
    body: { items: [{ expenseId: id, date }] },
  })
  for (const person of [ann, bob])
    expect(await person.getPath('/api/users/me/activity')).toMatchObject({
      status: 200,
      body: { items: [{ at: date }] },
    })
  expect(await ann.getPath(`${group}/expenses/${gone}`)).toMatchObject({
    status: 404,
    body: { code: 'expense-deleted' },
  })
  expect(await ann.getPath(`${group}/expenses/${gone}/history`)).toMatchObject({ status: 200 })
})

test('older edges do not answer from items of fold version 3', () => expect(expenses.readableFrom).toBe(3))
