import type { Activity } from '../../projections/expenses/activity.ts'
import { paidAt, type ReceivedItem, type SettlementItem, type MemberBalance } from '../../projections/expenses/items.ts'
import type { Page } from '../../projections/table.ts'
import { ZERO_BALANCE, memberBalancesAfter } from '../../projections/expenses/member-balances.ts'
import type { ExpensesQueries } from '../../projections/expenses/queries.ts'
import { listing, listOf } from '../http/lists.ts'
import { question, type Call, type Route } from '../http/route.ts'
import { integer, text } from '../http/schemas.ts'
import { shape } from '../http/shape.ts'
import { memberBalance } from './balance-views.ts'
import { expense, owed } from './expense-views.ts'
import { queriesOf } from './params.ts'
import { settlement } from './settlement-views.ts'
import { person, profileView } from './views.ts'
import { profiles } from '../../projections/expenses/keys.ts'

/** Drops the items of groups from which the caller was removed. The page can then contain fewer items than its limit. */
const readable = async <I>(
  call: Pick<Call, 'caller'>,
  { items, ...rest }: Page<I>,
  groupIdOf: (item: I) => string,
): Promise<Page<I>> => {
  const removed = await queriesOf(call).removedFrom(call.caller.user, items.map(groupIdOf))
  return { items: items.filter((item) => !removed.has(groupIdOf(item))), ...rest }
}

const groupIdOf = ({ groupId }: { readonly groupId: string }): string => groupId

const me = question({
  method: 'GET',
  url: '/api/users/me',
  operationId: 'getMe',
  summary: 'Get your profile: the latest one from your groups, else the one from your sign-in.',
  result: person.schema,
  answer: async (call) =>
    profileView(call.caller.user, (await profiles.get(call.caller.reader, call.caller.user)) ?? call.caller.profile),
})

const listMyExpenses = listing({
  url: '/api/users/me/expenses',
  operationId: 'listMyExpenses',
  byIndex: true,
  summary: 'List the expenses that you paid in all groups, the newest first.',
  of: expense,
  page: async (call, paging) => readable(call, await queriesOf(call).paidBy(call.caller.user, paging), groupIdOf),
})

const listMyDebts = listing({
  url: '/api/users/me/debts',
  operationId: 'listMyDebts',
  byIndex: true,
  summary: 'List what others paid for you in all groups, the newest first.',
  of: owed,
  page: async (call, paging) => readable(call, await queriesOf(call).owedBy(call.caller.user, paging), groupIdOf),
})

const listMySettlements = listing({
  url: '/api/users/me/settlements',
  operationId: 'listMySettlements',
  byIndex: true,
  summary: 'List the settlements that you sent or received in all groups, the newest first.',
  query: { direction: { type: 'string', enum: ['sent', 'received'], description: 'Default: sent.' } },
  of: settlement,
  page: async (call, paging) => {
    const { receivedBy, sentBy } = queriesOf(call)
    const page: Page<SettlementItem | ReceivedItem> = await (call.query.direction === 'received' ? receivedBy : sentBy)(
      call.caller.user,
      paging,
    )
    return readable(call, page, groupIdOf)
  },
})

const activity = shape<Activity>()({
  kind: { type: 'string', enum: ['paid', 'owed', 'sent', 'received'] },
  at: { ...text, from: ({ kind, item }) => (kind === 'paid' || kind === 'owed' ? paidAt(item) : item.createdAt) },
  expense: {
    ...expense.schema,
    optional: true,
    description: 'What you paid.',
    from: ({ kind, item }) => (kind === 'paid' ? expense.view(item) : undefined),
  },
  debt: {
    ...owed.schema,
    optional: true,
    description: 'What was paid for you.',
    from: ({ kind, item }) => (kind === 'owed' ? owed.view(item) : undefined),
  },
  settlement: {
    ...settlement.schema,
    optional: true,
    from: ({ kind, item }) => (kind === 'sent' || kind === 'received' ? settlement.view(item) : undefined),
  },
})

const listMyActivity = listing({
  url: '/api/users/me/activity',
  operationId: 'listMyActivity',
  byIndex: true,
  summary: 'List what you paid, owe, sent and received in all groups, the newest first.',
  of: activity,
  page: async (call, { limit, cursor }) => {
    const { items, cursor: next } = await queriesOf(call).activityOf(call.caller.user, {
      limit,
      ...(cursor !== undefined && { cursor: Buffer.from(cursor, 'base64url').toString() }),
    })
    return readable(
      call,
      { items, ...(next !== undefined && { cursor: Buffer.from(next).toString('base64url') }) },
      ({ item }) => item.groupId,
    )
  },
})

const sumOfCurrency = shape<MemberBalance & Pick<Sum, 'currency' | 'groups'>, [decimals: number]>()({
  currency: text,
  groups: { ...integer, description: 'Number of groups.' },
  ...memberBalance.fields,
})

interface Sum {
  readonly currency: string
  readonly exponent: number
  balance: MemberBalance
  groups: number
}

const summary = question({
  method: 'GET',
  url: '/api/users/me/summary',
  operationId: 'getMySummary',
  byIndex: true,
  summary:
    'Get your sums by currency: paid, share, sent and received, in your groups and in those that you left. Groups that removed you do not count.',
  result: listOf(sumOfCurrency.schema),
  answer: async (call) => {
    const sums = await summed(queriesOf(call), call.caller.user)
    return {
      items: sums.map(({ currency, exponent, balance: each, groups }) =>
        sumOfCurrency.view({ ...each, currency, groups }, exponent),
      ),
    }
  },
})

/** Returns the sums of a user by currency, over the groups that the user is in or has left (E-d). Reads these groups in pages. */
const summed = async (queries: ExpensesQueries, user: string): Promise<readonly Sum[]> => {
  const sums = new Map<string, Sum>()
  for (const of of ['now', 'left'] as const) {
    let cursor: string | undefined
    do {
      const page = await queries.membershipsOf(user, of, {
        limit: GROUPS_AT_ONCE,
        ...(cursor !== undefined && { cursor }),
      })
      const balances = (
        await Promise.all(page.items.map(({ GSI1SK }) => queries.balances(GSI1SK.slice(GSI1SK.indexOf('#') + 1))))
      ).flat()
      for (const { currency, exponent, members } of balances)
        if (Object.hasOwn(members, user))
          add(sums, { currency, exponent, balance: members[user] ?? ZERO_BALANCE, groups: 1 })
      cursor = page.cursor
    } while (cursor !== undefined)
  }
  return [...sums.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1))
}

const GROUPS_AT_ONCE = 50

/** Adds `more` to the sum of the same currency and number of decimals. If there is no such sum, `more` becomes the sum. */
const add = (sums: Map<string, Sum>, more: Sum): void => {
  const key = `${more.currency} ${more.exponent}`
  const sum = sums.get(key)
  if (sum === undefined) return void sums.set(key, more)
  sum.balance = memberBalancesAfter({ of: sum.balance }, { of: more.balance })['of'] ?? ZERO_BALANCE
  sum.groups += 1
}

export const meRoutes: readonly Route[] = [me, listMyExpenses, listMyDebts, listMySettlements, listMyActivity, summary]
