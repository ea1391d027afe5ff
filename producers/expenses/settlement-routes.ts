import { setTimeout as delay } from 'node:timers/promises'
import type { SettlementItem } from '../../projections/expenses/items.ts'
import { decimalText } from '../../projections/expenses/money.ts'
import { expensesQueries } from '../../projections/expenses/queries.ts'
import { listOf, pagingOf, pagingSchema } from '../http/lists.ts'
import { Problem } from '../http/problem.ts'
import { command, question, type Call, type Decision, type Route } from '../http/route.ts'
import { groupOf, noSettlement, settlementOf } from './params.ts'
import { alsoForWhoLeft } from './rights.ts'
import { confirmed, failed, newSettlementSchema, receiverOnly, settlementProposed, settlementStatusSchema, statusChangeOf, TON, type StatusChange } from './settlement-bodies.ts'
import { settlementSchema, settlementView } from './settlement-views.ts'
import type { TonCheck, TonMismatch } from './ton.ts'

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
  operationId: 'listSettlements',
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
  operationId: 'getSettlement',
  summary: 'One settlement.',
  result: settlementSchema,
  answer: async (call) => settlementView(await here(call)),
})

const propose = command({
  method: 'POST',
  url: '/api/groups/:groupId/settlements',
  operationId: 'proposeSettlement',
  summary: 'Propose a payment to another member. It counts when it is completed. A TON payment carries the comment of the answer.',
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

/** The payee completes a settlement by a request, the payer only by a transaction that the chain confirms (E-j). */
const decided = async (call: Call, change: StatusChange, ton: TonCheck | undefined): Promise<Decision> => {
  const { settlement, user, status, named, txHash } = change
  if (status === 'failed') return failed(change)
  // A repeated request.
  if (settlement.status === 'completed') return confirmed(change, 'manual', call.now)
  const queries = expensesQueries(call.caller.reader)
  // The fold of a claim does not read the group: the claim is keyed by the transaction.
  if ((await queries.group(settlement.groupId))?.archivedAt !== undefined) throw new Problem(409, 'group-archived', 'This group is archived. Its owner can unarchive it.')
  if (user !== settlement.toUserId) return confirmedByChain(call, change, ton)
  const claim = named === undefined && txHash !== null ? await queries.transaction(txHash) : undefined
  const isOwn = claim === undefined || (claim.groupId === settlement.groupId && claim.settlementId === settlement.id)
  // If the payer named a transaction that completes another settlement, the payee can confirm this one without it.
  return confirmed(isOwn ? change : { ...change, txHash: null }, 'manual', call.now)
}

const confirmedByChain = async (call: Call, change: StatusChange, ton: TonCheck | undefined): Promise<Decision> => {
  const { settlement, txHash } = change
  if (settlement.currency !== TON) throw receiverOnly(settlement, 'a transaction proves a payment in TON only')
  if (ton === undefined) throw receiverOnly(settlement, 'this server does not look up transactions')
  if (txHash === null) throw receiverOnly(settlement, 'name the transaction that paid')
  const payee = await expensesQueries(call.caller.reader).member(settlement.groupId, settlement.toUserId)
  const found = await ton.check({ txHash, to: payee?.wallet ?? null, amountMinor: BigInt(settlement.amountMinor), comment: settlement.comment, after: Date.parse(settlement.createdAt) })
  if (found === 'unknown') throw new Problem(503, 'transaction-unconfirmed', 'The chain does not contain this transaction yet, or the API did not answer. Send the request again later.', { retryAfter: RETRY_SECONDS })
  if (found !== 'confirmed') throw receiverOnly(settlement, MISMATCHES[found](settlement))
  return confirmed(change, 'ton', call.now)
}

const MISMATCHES: Readonly<Record<TonMismatch, (settlement: SettlementItem) => string>> = {
  'no-wallet': () => 'the payee has set no TON wallet',
  'hash': () => 'this is not the hash of a TON transaction',
  'receiver': () => 'the transaction did not go to the payee\'s wallet',
  'amount': ({ amountMinor, exponent }) => `the transaction did not bring exactly ${decimalText(amountMinor, exponent)} TON`,
  'comment': ({ comment }) => `the transaction does not carry the comment ${comment}`,
  'early': () => 'the transaction is not later than the settlement',
  'bounced': () => 'the transaction bounced',
}

const RETRY_SECONDS = 10
const [FIRST_WAIT_MS, LAST_WAIT_MS] = [10, 640]

/** The claim of a transaction completes the settlement by a derived event. Waits about a second for it. */
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
  operationId: 'changeSettlementStatus',
  summary: 'Change the status of a settlement. The payee can complete it. The payer can complete it by a TON transaction with its comment, if the server looks up transactions. Both can mark it as failed.',
  body: settlementStatusSchema,
  status: 200,
  result: settlementSchema,
  decide: async (call) => decided(call, statusChangeOf(await here(call), call.caller.user, call.body), ton),
  answer: async (call) => {
    const settlement = await followed(call)
    return settlement && settlementView(settlement)
  },
})

export const settlementRoutes = (ton: TonCheck | undefined): readonly Route[] => alsoForWhoLeft([listSettlements, oneSettlement, propose, decideOn(ton)])
