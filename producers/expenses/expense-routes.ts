import type { ExpenseItem, GroupItem } from '../../projections/expenses/items.ts'
import { canCorrect } from '../../projections/expenses/rules.ts'
import { listing } from '../http/lists.ts'
import { Problem } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { bool, text } from '../http/schemas.ts'
import {
  expenseRecorded,
  expenseRevised,
  newExpenseSchema,
  revisionSchema,
  type ExpenseContext,
} from './expense-bodies.ts'
import { entry, expense } from './expense-views.ts'
import { event, expenseOf, groupOf, queriesOf, refused } from './params.ts'
import { inGroup } from './rights.ts'
import { deletedExpenses, entries, expenses, groups } from '../../projections/expenses/keys.ts'

type RequestCall = Pick<Call, 'caller' | 'params' | 'now'>

const findExpense = (call: Pick<Call, 'caller' | 'params'>, id: string) => queriesOf(call).expense(groupOf(call), id)

/** Returns the expense of the request, even if it is deleted. The fold decides whether a deleted expense can be changed. */
const requireExpense = async (call: RequestCall): Promise<ExpenseItem> => {
  const found = await findExpense(call, expenseOf(call))
  if (found === undefined) throw expenseOf.missing(expenseOf(call))
  return found.expense
}

const demandPayer = ({ caller: { user } }: RequestCall, { payerId, payerName }: ExpenseItem): void => {
  if (payerId !== user)
    throw refused('payer-only', `Only the payer (${payerName ?? payerId}) can delete or restore this expense.`)
}

/**
 * Throws if the caller cannot correct the expense. Also admits the person who changed the expense last. This change can have made another person
 * the payer. If the caller then repeats the request, the caller must get the same answer.
 */
const demandEditor = ({ caller: { user } }: RequestCall, expense: ExpenseItem, group: GroupItem): void => {
  if (canCorrect(user, expense, group) || expense.describedBy === user) return
  throw refused(
    'editor-only',
    `Only the payer (${expense.payerName ?? expense.payerId}), the person who recorded it and the owner of the group can correct this expense.`,
  )
}

const contextOf = async (call: RequestCall): Promise<ExpenseContext> => {
  const [queries, id] = [queriesOf(call), groupOf(call)]
  const [group, members] = await Promise.all([groups.get(call.caller.reader, id), queries.everyMember(id)])
  if (group === undefined) throw groupOf.missing(id)
  return { group, members, user: call.caller.user, now: call.now }
}

/** Returns the expense as the answer to a command. If the command is repeated after the expense was deleted, returns the deleted expense. */
const stored = async (call: RequestCall, { id = '' }: { readonly id?: string }) => {
  const found = await findExpense(call, id)
  return found && expense.view(found.expense)
}

const listExpenses = listing({
  url: '/api/groups/:groupId/expenses',
  operationId: 'listExpenses',
  summary: 'List the expenses of a group by date, the newest first, or its deleted expenses, the last deleted first.',
  query: {
    deleted: {
      type: 'string',
      enum: ['true', 'false'],
      description: 'true: the deleted expenses, with deletedAt and deletedBy. Default: false.',
    },
  },
  of: expense,
  page: async (call, paging) => {
    if (call.query.deleted !== 'true')
      return expenses.page(call.caller.reader, groupOf(call), { reverse: true, ...paging })
    const { items, ...rest } = await deletedExpenses.page(call.caller.reader, groupOf(call), {
      reverse: true,
      ...paging,
    })
    return {
      items: items.map(({ expense: deleted, deletedAt, deletedBy }) => ({ ...deleted, deletedAt, deletedBy })),
      ...rest,
    }
  },
})

const oneExpense = question({
  method: 'GET',
  url: '/api/groups/:groupId/expenses/:expenseId',
  operationId: 'getExpense',
  summary: 'Get one expense.',
  result: expense.schema,
  answer: async (call) => {
    const id = expenseOf(call)
    const found = await findExpense(call, id)
    if (found === undefined) throw expenseOf.missing(id)
    if (found.state === 'deleted')
      throw new Problem(
        404,
        'expense-deleted',
        `Expense ${id} is deleted. Restore it with POST …/expenses/${id}/restore.`,
      )
    return expense.view(found.expense)
  },
})

const recordExpense = command({
  method: 'POST',
  url: '/api/groups/:groupId/expenses',
  operationId: 'recordExpense',
  summary: 'Record an expense that one person paid for others.',
  body: newExpenseSchema,
  status: 201,
  result: expense.schema,
  decide: async (call) => {
    const id = call.newId()
    const [context, known] = await Promise.all([contextOf(call), findExpense(call, id)])
    return expenseRecorded(call.body, id, { ...context, ...(known && { current: known.expense }) })
  },
  answer: stored,
})

const reviseExpense = command({
  method: 'PUT',
  url: '/api/groups/:groupId/expenses/:expenseId',
  operationId: 'reviseExpense',
  summary:
    'Correct an expense. Fields that are not in the body stay. The payer, the person who recorded the expense and the owner of the group can do this.',
  body: revisionSchema,
  status: 200,
  result: expense.schema,
  decide: async (call) => {
    const [context, current] = await Promise.all([contextOf(call), requireExpense(call)])
    demandEditor(call, current, context.group)
    return expenseRevised(call.body, current, context)
  },
  answer: stored,
  refused: async (call, code) => {
    if (code !== 'revision-stale') return {}
    const found = await findExpense(call, expenseOf(call))
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
    const current = await requireExpense(call)
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
    const current = await requireExpense(call)
    demandPayer(call, current)
    return { key: groupOf(call), id: current.id, draft: event('ExpenseRestored', { expenseId: current.id }) }
  },
  answer: stored,
})

const historyOfExpense = listing({
  url: '/api/groups/:groupId/expenses/:expenseId/history',
  operationId: 'listExpenseHistory',
  byIndex: true,
  summary: 'List the history of an expense, also of a deleted one: each change and its author, the oldest first.',
  of: entry,
  page: async (call, paging) => queriesOf(call).history(groupOf(call), (await requireExpense(call)).id, paging),
})

const activity = listing({
  url: '/api/groups/:groupId/activity',
  operationId: 'listGroupActivity',
  summary: 'List the events of a group, the newest first.',
  of: entry,
  page: (call, paging) => entries.page(call.caller.reader, groupOf(call), { reverse: true, ...paging }),
})

export const expenseRoutes: readonly Route[] = inGroup([
  listExpenses,
  recordExpense,
  oneExpense,
  reviseExpense,
  deleteExpense,
  restoreExpense,
  historyOfExpense,
  activity,
])
