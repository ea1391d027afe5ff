import type { PastBalance } from '../../projections/expenses/as-of.ts'
import { MOST_EXACT, needsPairs, netOf, pairwise, simplified, type Debt } from '../../projections/expenses/debts.ts'
import type { BalanceItem } from '../../projections/expenses/items.ts'
import { dateIn, instantOf } from '../http/instants.ts'
import { listOf } from '../http/lists.ts'
import { question, type Call, type Route } from '../http/route.ts'
import { bool } from '../http/schemas.ts'
import { balance, debtsOfCurrency, namesOf } from './balance-views.ts'
import { groupOf, queriesOf } from './params.ts'
import { inGroup } from './rights.ts'
import { credits, groups } from '../../projections/expenses/keys.ts'

const DAY_LENGTH = '2026-11-16'.length

const balances = question({
  method: 'GET',
  url: '/api/groups/:groupId/balances',
  operationId: 'listBalances',
  summary:
    'Get the balances of the group by currency: the amounts that each person paid, owes as a share, sent and received, now or at an earlier time.',
  query: {
    type: 'object',
    additionalProperties: false,
    properties: {
      'as-of': {
        type: 'string',
        maxLength: 40,
        description: 'An instant (RFC 3339 with its offset), or a day: its end, by UTC.',
      },
    },
  },
  result: listOf(balance.schema),
  answer: async (call) => {
    const [found, members] = await Promise.all([
      balancesAsOf(call, call.query['as-of']),
      queriesOf(call).everyMember(groupOf(call)),
    ])
    const names = namesOf(members)
    return { items: found.map((each) => balance.view(each, names)) }
  },
})

const balancesAsOf = (
  call: Pick<Call, 'caller' | 'params'>,
  asOf: string | undefined,
): Promise<readonly PastBalance[]> => {
  const [queries, group] = [queriesOf(call), groupOf(call)]
  if (asOf === undefined) return queries.balances(group)
  if (asOf.length === DAY_LENGTH) return queries.balancesOfDay(group, dateIn(asOf, 'querystring/as-of'))
  return queries.balancesAt(group, instantOf(asOf, 'querystring/as-of'))
}

const debts = question({
  method: 'GET',
  url: '/api/groups/:groupId/debts',
  operationId: 'listDebts',
  summary: `Get the debts of the group by currency. Simplified: never more payments than pair by pair, and the fewest possible for up to ${MOST_EXACT} people with a balance other than zero (by an exact division into zero-sum groups). Or pair by pair.`,
  query: {
    type: 'object',
    additionalProperties: false,
    properties: {
      simplify: { type: 'string', enum: ['true', 'false'], description: 'Default: the setting of the group.' },
    },
  },
  result: {
    ...listOf(debtsOfCurrency.schema),
    required: ['items', 'simplify'],
    properties: { ...listOf(debtsOfCurrency.schema).properties, simplify: bool },
  },
  answer: async (call) => {
    const [queries, id] = [queriesOf(call), groupOf(call)]
    const [group, members, found] = await Promise.all([
      groups.get(call.caller.reader, id),
      queries.everyMember(id),
      queries.balances(id),
    ])
    if (group === undefined) throw groupOf.missing(id)
    const simplify = call.query.simplify === undefined ? group.simplify : call.query.simplify === 'true'
    const names = namesOf(members)
    const items = await Promise.all(
      found.map(async (each) => {
        const pairs = async (): Promise<readonly Debt[]> =>
          pairwise(await credits.every(call.caller.reader, id, { under: each.currency, limit: 500 }))
        return debtsOfCurrency.view(each, await (simplify ? fewest(each, pairs) : pairs()), names)
      }),
    )
    return { simplify, items }
  },
})

const fewest = async ({ members }: BalanceItem, pairs: () => Promise<readonly Debt[]>): Promise<readonly Debt[]> => {
  const nets = new Map(Object.entries(members).map(([user, balance]) => [user, netOf(balance)]))
  return simplified(nets, needsPairs(nets) ? await pairs() : [])
}

export const balanceRoutes: readonly Route[] = inGroup([balances, debts])
