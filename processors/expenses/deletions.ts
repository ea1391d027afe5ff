import type { ExpenseDeleted, ExpenseRestored } from '../../schemas/generated/expenses.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import { bare } from '../../projections/item.ts'
import type { DeletedExpenseItem, ExpenseItem, ExpenseNameItem } from '../../projections/expenses/items.ts'
import { deletedExpenses } from '../../projections/expenses/keys.ts'
import type { Refused } from '../../projections/refusal.ts'
import { refuse } from '../../projections/expenses/refusals.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { startWork } from '../folding/work.ts'
import { findExpense, replaceExpense } from './expenses.ts'
import { isOf } from './rights.ts'

/**
 * Removes the expense, its participants and its contribution to the balances (E43). A DeletedExpenseItem keeps the
 * expense for a restore.
 */
export const expenseDeleted = (event: ExpenseDeleted, get: Get): Result => {
  const { meta } = event
  const found = findExpense(get, event)
  if ('refusal' in found) return found
  const {
    name: { PK, SK, at, state },
    expense,
  } = found
  if (state === 'deleted' || hasApplied(expense._heard, event)) return DUPLICATE
  const forbidden = payerOnly(event, expense)
  if (forbidden !== undefined) return forbidden
  const [work, deletedAt] = [startWork(get), isoOf(meta.occurredAt)]
  const deleted = { ...bare(expense), _heard: withApplied(expense._heard, event) }
  work.put({ PK, SK, at, state: 'deleted', deletedAt } satisfies ExpenseNameItem)
  work.put({
    expense: deleted,
    deletedAt,
    deletedBy: meta.actorId,
    ...deletedExpenses.key(meta.key, deletedAt, expense.id),
  } satisfies DeletedExpenseItem)
  return replaceExpense(work, event, { kind: 'expense-deleted', before: expense, after: undefined })
}

/** Restores the expense exactly as it was, also if members left or changed their names since (E-g). */
export const expenseRestored = (event: ExpenseRestored, get: Get): Result => {
  const found = findExpense(get, event)
  if ('refusal' in found) return found
  const {
    name: { PK, SK, at, state, deletedAt },
    expense,
  } = found
  if (hasApplied(expense._heard, event)) return DUPLICATE
  if (state !== 'deleted') return refuse('expense-not-deleted', `Expense ${expense.id} is not deleted.`)
  const forbidden = payerOnly(event, expense)
  if (forbidden !== undefined) return forbidden
  const work = startWork(get)
  work.put({ PK, SK, at, state: 'present' } satisfies ExpenseNameItem)
  work.remove(deletedExpenses.key(event.meta.key, deletedAt, expense.id))
  return replaceExpense(work, event, {
    kind: 'expense-restored',
    before: undefined,
    after: { ...expense, _heard: withApplied(expense._heard, event) },
  })
}

/**
 * Refuses people who are not the payer: only the payer can delete and restore an expense (E-l). Imports and operators
 * (events without an actor) are not refused. The edge refuses a payer who left the group. The fold does not, because the
 * edge can have appended the event before it read the departure, and older logs contain such events.
 */
const payerOnly = (event: ExpenseDeleted | ExpenseRestored, { id, payerId }: ExpenseItem): Refused | undefined =>
  isOf(event, payerId)
    ? undefined
    : refuse('payer-only', `Only ${payerId}, who paid, can delete or restore expense ${id}.`)
