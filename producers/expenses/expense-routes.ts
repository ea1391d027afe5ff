import type { ExpenseItem, GroupItem } from '../../projections/expenses/items.ts'
import { canCorrect } from '../../projections/expenses/rules.ts'
import { listing } from '../http/lists.ts'
import { Problem } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { bool, text } from '../http/schemas.ts'
import { expenseRecorded, expenseRevised, newExpenseSchema, revisionSchema, type Around } from './expense-bodies.ts'
import { entry, expense } from './expense-views.ts'
import { event, expenseOf, groupOf, queriesOf, refused } from './params.ts'
import { inGroup } from './rights.ts'
import { deletedExpenses, entries, expenses, groups } from '../../projections/expenses/keys.ts'

type Asked = Pick<Call, 'caller' | 'params' | 'now'>

const standing = (call: Pick<Call, 'caller' | 'params'>, id: string) => queriesOf(call).expense(groupOf(call), id)

/** A deleted one, too: what may be done with it, the fold decides. */
const heardOf = async (call: Asked): Promise<ExpenseItem> => {
  const found = await standing(call, expenseOf(call))
  if (found === undefined) throw expenseOf.missing(expenseOf(call))
  return found.expense
}

const demandPayer = ({ caller: { user } }: Asked, { payerId, payerName }: ExpenseItem): void => {
  if (payerId !== user) throw refused('payer-only', `Only the payer (${payerName ?? payerId}) can delete or restore this expense.`)
}

/** Also admits the person who changed the expense last: they may have made another person its payer, and a repeated request is answered as before. */
const demandEditor = ({ caller: { user } }: Asked, expense: ExpenseItem, group: GroupItem): void => {
  if (canCorrect(user, expense, group) || expense.describedBy === user) return
  throw refused('editor-only', `Only the payer (${expense.payerName ?? expense.payerId}), the person who recorded it and the owner of the group can correct this expense.`)
}

const around = async (call: Asked): Promise<Around> => {
  const [queries, id] = [queriesOf(call), groupOf(call)]
  const [group, members] = await Promise.all([groups.get(call.caller.reader, id), queries.everyMember(id)])
  if (group === undefined) throw groupOf.missing(id)
  return { group, members, user: call.caller.user, now: call.now }
}

/** A command that comes again after its expense was deleted is answered as it was: with the expense. */
const stored = async (call: Asked, { id = '' }: { readonly id?: string }) => {
  const found = await standing(call, id)
  return found && expense.view(found.expense)
}

const listExpenses = listing({
  url: '/api/groups/:groupId/expenses',
  operationId: 'listExpenses',
  summary: 'The expenses of a group by date, the newest first; or its deleted expenses, the last deleted first.',
  query: { deleted: { type: 'string', enum: ['true', 'false'], description: 'true: the deleted expenses, with deletedAt and deletedBy. Default: false.' } },
  of: expense,
  page: async (call, paging) => {
    if (call.query.deleted !== 'true') return expenses.page(call.caller.reader, groupOf(call), { reverse: true, ...paging })
    const { items, ...rest } = await deletedExpenses.page(call.caller.reader, groupOf(call), { reverse: true, ...paging })
    return { items: items.map(({ expense: deleted, deletedAt, deletedBy }) => ({ ...deleted, deletedAt, deletedBy })), ...rest }
  },
})

const oneExpense = question({
  method: 'GET',
  url: '/api/groups/:groupId/expenses/:expenseId',
  operationId: 'getExpense',
  summary: 'One expense.',
  result: expense.schema,
  answer: async (call) => {
    const id = expenseOf(call)
    const found = await standing(call, id)
    if (found === undefined) throw expenseOf.missing(id)
    if (found.state === 'deleted') throw new Problem(404, 'expense-deleted', `Expense ${id} was deleted; POST …/expenses/${id}/restore restores it.`)
    return expense.view(found.expense)
  },
})

const recordExpense = command({
  method: 'POST',
  url: '/api/groups/:groupId/expenses',
  operationId: 'recordExpense',
  summary: 'Record what somebody paid for others.',
  body: newExpenseSchema,
  status: 201,
  result: expense.schema,
  decide: async (call) => {
    const id = call.newId()
    const [place, known] = await Promise.all([around(call), standing(call, id)])
    return expenseRecorded(call.body, id, { ...place, ...(known && { current: known.expense }) })
  },
  answer: stored,
})

const reviseExpense = command({
  method: 'PUT',
  url: '/api/groups/:groupId/expenses/:expenseId',
  operationId: 'reviseExpense',
  summary: 'Correct an expense. Fields that the body does not name stay. The payer, the person who recorded the expense and the owner of the group can do this.',
  body: revisionSchema,
  status: 200,
  result: expense.schema,
  decide: async (call) => {
    const [place, current] = await Promise.all([around(call), heardOf(call)])
    demandEditor(call, current, place.group)
    return expenseRevised(call.body, current, place)
  },
  answer: stored,
  refused: async (call, code) => {
    if (code !== 'revision-stale') return {}
    const found = await standing(call, expenseOf(call))
    return { revision: found?.expense.revision }
  },
})

const deleteExpense = command({
  method: 'DELETE',
  url: '/api/groups/:groupId/expenses/:expenseId',
  operationId: 'deleteExpense',
  summary: 'Delete an expense. It can be restored. Only the payer can do this.',
  status: 200,
  result: { type: 'object', required: ['id', 'deleted'], properties: { id: text, deleted: bool } },
  decide: async (call) => {
    const current = await heardOf(call)
    demandPayer(call, current)
    return { key: groupOf(call), id: current.id, draft: event('ExpenseDeleted', { expenseId: current.id }) }
  },
  answer: async (_call, { id }) => ({ id, deleted: true }),
})

const restoreExpense = command({
  method: 'POST',
  url: '/api/groups/:groupId/expenses/:expenseId/restore',
  operationId: 'restoreExpense',
  summary: 'Restore a deleted expense as it was. Only the payer can do this.',
  status: 200,
  result: expense.schema,
  decide: async (call) => {
    const current = await heardOf(call)
    demandPayer(call, current)
    return { key: groupOf(call), id: current.id, draft: event('ExpenseRestored', { expenseId: current.id }) }
  },
  answer: stored,
})

const historyOfExpense = listing({
  url: '/api/groups/:groupId/expenses/:expenseId/history',
  operationId: 'listExpenseHistory',
  byIndex: true,
  summary: 'The history of an expense: each change, and who made it. Oldest first. Deleted expenses have one too.',
  of: entry,
  page: async (call, paging) => queriesOf(call).history(groupOf(call), (await heardOf(call)).id, paging),
})

const activity = listing({
  url: '/api/groups/:groupId/activity',
  operationId: 'listGroupActivity',
  summary: 'What happened in a group, the newest first.',
  of: entry,
  page: (call, paging) => entries.page(call.caller.reader, groupOf(call), { reverse: true, ...paging }),
})

export const expenseRoutes: readonly Route[] = inGroup([listExpenses, recordExpense, oneExpense, reviseExpense, deleteExpense, restoreExpense, historyOfExpense, activity])
