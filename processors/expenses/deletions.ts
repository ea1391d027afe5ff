import type { ExpenseDeleted, ExpenseRestored } from '../../schemas/generated/expenses.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import { bare } from '../../projections/item.ts'
import type { ExpenseNameItem } from '../../projections/expenses/items.ts'
import { heardBefore, hearing } from '../access/heard.ts'
import { startWork } from '../access/work.ts'
import { expenseHeld, payerOnly, settled } from './expenses.ts'
import { refuse } from './refusal.ts'

/** It leaves with all its participants and what it contributed (E43); its name keeps what it was. */
export const expenseDeleted = (event: ExpenseDeleted, get: Get): Result => {
  const { meta } = event
  const found = expenseHeld(get, event)
  if ('refusal' in found) return found
  const { name: { PK, SK, at, state }, expense } = found
  if (state === 'deleted' || heardBefore(expense._heard, event)) return DUPLICATE
  const forbidden = payerOnly(event, expense)
  if (forbidden !== undefined) return forbidden
  const work = startWork(get)
  const kept = { ...bare(expense), _heard: hearing(expense._heard, event) }
  work.put({ PK, SK, at, state: 'deleted', expense: kept, deletedAt: isoOf(meta.occurredAt), deletedBy: meta.actorId } satisfies ExpenseNameItem)
  return settled(work, event, { kind: 'expense-deleted', before: expense, after: undefined })
}

/** Exactly as it was, whoever left or was renamed since (E-g). */
export const expenseRestored = (event: ExpenseRestored, get: Get): Result => {
  const found = expenseHeld(get, event)
  if ('refusal' in found) return found
  const { name: { PK, SK, at, state }, expense } = found
  if (heardBefore(expense._heard, event)) return DUPLICATE
  if (state !== 'deleted') return refuse('expense-not-deleted', `Expense ${expense.id} is not deleted.`)
  const forbidden = payerOnly(event, expense)
  if (forbidden !== undefined) return forbidden
  const work = startWork(get)
  work.put({ PK, SK, at, state: 'present' } satisfies ExpenseNameItem)
  return settled(work, event, { kind: 'expense-restored', before: undefined, after: { ...expense, _heard: hearing(expense._heard, event) } })
}
