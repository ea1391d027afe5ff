import type { Activity } from '../../projections/expenses/activity.ts'
import { paidAt, type ReceivedItem, type SettlementItem, type Standing } from '../../projections/expenses/items.ts'
import { NO_STANDING, standingsAfter } from '../../projections/expenses/standings.ts'
import { expensesQueries, type ExpensesQueries } from '../../projections/expenses/queries.ts'
import { listOf, pagingOf, pagingSchema } from '../http/lists.ts'
import { question, type Call, type Route } from '../http/route.ts'
import { integer, text } from '../http/schemas.ts'
import { standingProperties, standingView } from './balance-views.ts'
import { expenseSchema, expenseView, owedSchema, owedView } from './expense-views.ts'
import { settlementSchema, settlementView } from './settlement-views.ts'
import { personSchema, profileView } from './views.ts'

const paged = { type: 'object', additionalProperties: false, properties: pagingSchema } as const
const asking = ({ caller: { reader } }: Pick<Call, 'caller'>): ExpensesQueries => expensesQueries(reader)

/** Leaves out the groups from which the caller was removed, so a page can contain fewer items than its limit. */
const readable = async <I extends { readonly groupId: string }>(call: Pick<Call, 'caller'>, items: readonly I[]): Promise<readonly I[]> => {
  const removed = await asking(call).removedFrom(call.caller.user, items.map(({ groupId }) => groupId))
  return items.filter(({ groupId }) => !removed.has(groupId))
}

const me = question({
  method: 'GET',
  url: '/api/users/me',
  operationId: 'getMe',
  summary: 'Your profile: the newest one of your groups, or the one of your sign-in if no group has one.',
  result: personSchema,
  answer: async (call) => profileView(call.caller.user, (await asking(call).profile(call.caller.user)) ?? call.caller.profile),
})

const paid = question({
  method: 'GET',
  url: '/api/users/me/expenses',
  operationId: 'listMyExpenses',
  byIndex: true,
  summary: 'What you paid, in all groups, the newest first.',
  query: paged,
  result: listOf(expenseSchema),
  answer: async (call) => {
    const { items, ...rest } = await asking(call).paidBy(call.caller.user, pagingOf(call.query))
    return { items: (await readable(call, items)).map(expenseView), ...rest }
  },
})

const owed = question({
  method: 'GET',
  url: '/api/users/me/debts',
  operationId: 'listMyDebts',
  byIndex: true,
  summary: 'What others paid for you, in all groups, the newest first.',
  query: paged,
  result: listOf(owedSchema),
  answer: async (call) => {
    const { items, ...rest } = await asking(call).owedBy(call.caller.user, pagingOf(call.query))
    return { items: (await readable(call, items)).map(owedView), ...rest }
  },
})

const settled = question({
  method: 'GET',
  url: '/api/users/me/settlements',
  operationId: 'listMySettlements',
  byIndex: true,
  summary: 'What you sent or received by settlements, in all groups, the newest first.',
  query: { type: 'object', additionalProperties: false, properties: { direction: { type: 'string', enum: ['sent', 'received'], description: 'Default: sent.' }, ...pagingSchema } },
  result: listOf(settlementSchema),
  answer: async (call) => {
    const [queries, { user }] = [asking(call), call.caller]
    const { items, ...rest } = await (call.query.direction === 'received' ? queries.receivedBy : queries.sentBy)(user, pagingOf(call.query))
    return { items: (await readable<SettlementItem | ReceivedItem>(call, items)).map(settlementView), ...rest }
  },
})

const activitySchema = {
  type: 'object',
  required: ['kind', 'at'],
  properties: {
    kind: { type: 'string', enum: ['paid', 'owed', 'sent', 'received'] },
    at: text,
    expense: { ...expenseSchema, description: 'What you paid.' },
    debt: { ...owedSchema, description: 'What was paid for you.' },
    settlement: settlementSchema,
  },
} as const

const activityView = (activity: Activity) => {
  const { kind, item } = activity
  if (kind === 'paid') return { kind, at: paidAt(item), expense: expenseView(item) }
  return kind === 'owed' ? { kind, at: paidAt(item), debt: owedView(item) } : { kind, at: item.createdAt, settlement: settlementView(item) }
}

const activity = question({
  method: 'GET',
  url: '/api/users/me/activity',
  operationId: 'listMyActivity',
  byIndex: true,
  summary: 'What you paid, owe, sent and received, in all groups, the newest first.',
  query: paged,
  result: listOf(activitySchema),
  answer: async (call) => {
    const { limit, cursor } = pagingOf(call.query)
    const page = await asking(call).activityOf(call.caller.user, { limit, ...(cursor !== undefined && { cursor: Buffer.from(cursor, 'base64url').toString() }) })
    const shown = new Set(await readable(call, page.items.map(({ item }) => item)))
    return { items: page.items.filter(({ item }) => shown.has(item)).map(activityView), ...(page.cursor !== undefined && { cursor: Buffer.from(page.cursor).toString('base64url') }) }
  },
})

const summarySchema = { type: 'object', required: ['currency', 'groups', ...Object.keys(standingProperties)], properties: { currency: text, groups: { ...integer, description: 'In how many.' }, ...standingProperties } } as const

interface Sum {
  readonly currency: string
  readonly exponent: number
  standing: Standing
  groups: number
}

const summary = question({
  method: 'GET',
  url: '/api/users/me/summary',
  operationId: 'getMySummary',
  byIndex: true,
  summary: 'What you paid, bear, sent and received, by currency, in the groups you are in and those you left. Groups that removed you do not count.',
  result: listOf(summarySchema),
  answer: async (call) => {
    const sums = await summed(asking(call), call.caller.user)
    return { items: sums.map(({ currency, exponent, standing, groups }) => ({ currency, groups, ...standingView(standing, exponent) })) }
  },
})

/** From the balances, which are sums already (E-d); groups are asked for by pages, so that no answer waits for all at once. */
const summed = async (queries: ExpensesQueries, user: string): Promise<readonly Sum[]> => {
  const sums = new Map<string, Sum>()
  for (const of of ['now', 'left'] as const) {
    let cursor: string | undefined
    do {
      const page = await queries.membershipsOf(user, of, { limit: GROUPS_AT_ONCE, ...(cursor !== undefined && { cursor }) })
      const balances = (await Promise.all(page.items.map(({ GSI1SK }) => queries.balances(GSI1SK.slice(GSI1SK.indexOf('#') + 1))))).flat()
      for (const { currency, exponent, members } of balances) if (Object.hasOwn(members, user)) add(sums, { currency, exponent, standing: members[user] ?? NO_STANDING, groups: 1 })
      cursor = page.cursor
    } while (cursor !== undefined)
  }
  return [...sums.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1))
}

const GROUPS_AT_ONCE = 50

/** Amounts of other decimals are no amounts of the same currency. */
const add = (sums: Map<string, Sum>, more: Sum): void => {
  const key = `${more.currency} ${more.exponent}`
  const sum = sums.get(key)
  if (sum === undefined) return void sums.set(key, more)
  sum.standing = standingsAfter({ of: sum.standing }, { of: more.standing })['of'] ?? NO_STANDING
  sum.groups += 1
}

export const meRoutes: readonly Route[] = [me, paid, owed, settled, activity, summary]
