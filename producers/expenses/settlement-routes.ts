import { setTimeout as delay } from 'node:timers/promises'
import type { SettlementItem } from '../../projections/expenses/items.ts'
import { expensesQueries } from '../../projections/expenses/queries.ts'
import { listOf, pagingOf, pagingSchema } from '../http/lists.ts'
import { Problem } from '../http/problem.ts'
import { command, question, type Call, type Decision, type Route } from '../http/route.ts'
import { groupOf, noSettlement, settlementOf } from './params.ts'
import { alsoForWhoLeft } from './rights.ts'
import { askedOf, confirmed, failed, failedByChain, newSettlementSchema, settlementProposed, settlementStatusSchema, TON, type Asked } from './settlement-bodies.ts'
import { settlementSchema, settlementView } from './settlement-views.ts'
import type { TonCheck } from './ton.ts'

type Here = Pick<Call, 'caller' | 'params'>

const found = (call: Here, id: string): Promise<SettlementItem | undefined> => expensesQueries(call.caller.reader).settlement(groupOf(call), id)

const here = async (call: Here): Promise<SettlementItem> => {
  const settlement = await found(call, settlementOf(call))
  if (settlement === undefined) throw noSettlement(settlementOf(call))
  return settlement
}

const listSettlements = question({
  method: 'GET',
  url: '/api/groups/:groupId/settlements',
  summary: 'The settlements of a group, the newest first.',
  query: { type: 'object', additionalProperties: false, properties: pagingSchema },
  result: listOf(settlementSchema),
  answer: async (call) => {
    const { items, ...rest } = await expensesQueries(call.caller.reader).settlements(groupOf(call), pagingOf(call.query))
    return { items: items.map(settlementView), ...rest }
  },
})

const oneSettlement = question({
  method: 'GET',
  url: '/api/groups/:groupId/settlements/:settlementId',
  summary: 'One settlement.',
  result: settlementSchema,
  answer: async (call) => settlementView(await here(call)),
})

const propose = command({
  method: 'POST',
  url: '/api/groups/:groupId/settlements',
  summary: 'Pay, or say that you paid, what you owe. It counts when it is completed.',
  body: newSettlementSchema,
  status: 201,
  result: settlementSchema,
  decide: async (call) => {
    const [group, settlementId] = [groupOf(call), call.newId()]
    const members = await expensesQueries(call.caller.reader).everyMember(group)
    return settlementProposed(call.body, { group, settlementId, user: call.caller.user, members, now: call.now })
  },
  answer: async (call, { id = '' }) => {
    const settlement = await found(call, id)
    return settlement && settlementView(settlement)
  },
})

/** What the chain says of a transaction is what is said (E-j); where nobody asks it, whoever says so stands for it. */
const decided = async (call: Call, asked: Asked, ton: TonCheck | undefined): Promise<Decision> => {
  const { settlement, user, status, told, txHash } = asked
  if (status === 'failed' || failedByChain(settlement)) return failed(asked, failedByChain(settlement) ? 'ton' : 'manual')
  const isReceiversWord = user === settlement.toUserId && told === undefined
  if (ton === undefined || txHash === null || settlement.currency !== TON || settlement.status === 'completed' || isReceiversWord) return confirmed(asked, 'manual', call.now)
  const queries = expensesQueries(call.caller.reader)
  const [from, to] = await Promise.all([settlement.fromUserId, settlement.toUserId].map((id) => queries.member(settlement.groupId, id)))
  const heard = await ton.check({ txHash, from: from?.wallet ?? null, to: to?.wallet ?? null, amountMinor: BigInt(settlement.amountMinor) })
  if (heard === 'unknown') throw new Problem(503, 'transaction-unconfirmed', 'The chain does not tell (yet) that this transaction is the payment: ask again in a while.', { retryAfter: RETRY_SECONDS })
  return heard === 'confirmed' ? confirmed(asked, 'ton', call.now) : failed(asked, 'ton')
}

const RETRY_SECONDS = 10
const [FIRST_WAIT_MS, LAST_WAIT_MS] = [10, 640]

/** A transaction is claimed by its own key, and the settlement follows: nobody waits longer for it than a moment. */
const followed = async (call: Here, waitMs = FIRST_WAIT_MS): Promise<SettlementItem | undefined> => {
  const settlement = await found(call, settlementOf(call))
  if (settlement !== undefined && settlement.status !== 'pending') return settlement
  if (waitMs > LAST_WAIT_MS) return undefined
  await delay(waitMs)
  return followed(call, 2 * waitMs)
}

const decideOn = (ton: TonCheck | undefined) => command({
  method: 'PUT',
  url: '/api/groups/:groupId/settlements/:settlementId',
  summary: 'Say what became of a settlement: whoever is paid confirms it, or whoever pays, by its transaction; either says that it failed.',
  body: settlementStatusSchema,
  status: 200,
  result: settlementSchema,
  decide: async (call) => decided(call, askedOf(await here(call), call.caller.user, call.body), ton),
  answer: async (call) => {
    const settlement = await followed(call)
    return settlement && settlementView(settlement)
  },
})

export const settlementRoutes = (ton: TonCheck | undefined): readonly Route[] => alsoForWhoLeft([listSettlements, oneSettlement, propose, decideOn(ton)])
