import { setTimeout as delay } from 'node:timers/promises'
import type { SettlementItem } from '../../projections/expenses/items.ts'
import { decimalText } from '../../projections/expenses/money.ts'
import { listing } from '../http/lists.ts'
import { Problem } from '../http/problem.ts'
import { command, question, type Call, type Decision, type Route } from '../http/route.ts'
import { groupOf, queriesOf, refused, settlementOf } from './params.ts'
import { inGroupOrFormer } from './rights.ts'
import {
  confirmed,
  failed,
  newSettlementSchema,
  receiverOnly,
  settlementProposed,
  settlementStatusSchema,
  statusChangeOf,
  TON,
  type StatusChange,
} from './settlement-bodies.ts'
import { settlement } from './settlement-views.ts'
import type { TonCheck, TonMismatch } from './ton.ts'
import { groups, members, settlements, transactions } from '../../projections/expenses/keys.ts'

type RequestCall = Pick<Call, 'caller' | 'params'>

const findSettlement = (call: RequestCall, id: string): Promise<SettlementItem | undefined> =>
  queriesOf(call).settlement(groupOf(call), id)

const requireSettlement = async (call: RequestCall): Promise<SettlementItem> => {
  const item = await findSettlement(call, settlementOf(call))
  if (item === undefined) throw settlementOf.missing(settlementOf(call))
  return item
}

const listSettlements = listing({
  url: '/api/groups/:groupId/settlements',
  operationId: 'listSettlements',
  summary: 'List the settlements of a group, the newest first.',
  of: settlement,
  page: (call, paging) => settlements.page(call.caller.reader, groupOf(call), { reverse: true, ...paging }),
})

const oneSettlement = question({
  method: 'GET',
  url: '/api/groups/:groupId/settlements/:settlementId',
  operationId: 'getSettlement',
  summary: 'Get one settlement.',
  result: settlement.schema,
  answer: async (call) => settlement.view(await requireSettlement(call)),
})

const propose = command({
  method: 'POST',
  url: '/api/groups/:groupId/settlements',
  operationId: 'proposeSettlement',
  summary:
    'Propose a payment to another member. It counts when it is completed. A TON payment carries the comment of the answer.',
  body: newSettlementSchema,
  status: 201,
  result: settlement.schema,
  decide: async (call) => {
    const [group, settlementId] = [groupOf(call), call.newId()]
    const members = await queriesOf(call).everyMember(group)
    return settlementProposed(call.body, { group, settlementId, user: call.caller.user, members, now: call.now })
  },
  answer: async (call, { id = '' }) => {
    const item = await findSettlement(call, id)
    return item && settlement.view(item)
  },
})

/** The payee can complete a settlement by a request. The payer can complete it only by a transaction that the TON blockchain confirms (E-j). */
const decided = async (call: Call, change: StatusChange, ton: TonCheck | undefined): Promise<Decision> => {
  const { settlement, user, status, named, txHash } = change
  if (status === 'failed') return failed(change)
  // A repeated request. The settlement is completed already, so the rules below are not checked again.
  if (settlement.status === 'completed') return confirmed(change, 'manual', call.now)
  const { reader } = call.caller
  // The edge must check this. The fold of TransactionClaimed cannot: the key of this event is the transaction, so its fold does not read the group.
  if ((await groups.get(reader, settlement.groupId))?.archivedAt !== undefined)
    throw refused('group-archived', 'This group is archived. Its owner can unarchive it.')
  if (user !== settlement.toUserId) return confirmedByChain(call, change, ton)
  const claim = named === undefined && txHash !== null ? await transactions.get(reader, txHash) : undefined
  const isOwn = claim === undefined || (claim.groupId === settlement.groupId && claim.settlementId === settlement.id)
  // If the payer named a transaction that completes another settlement, the payee confirms this settlement without a transaction.
  return confirmed(isOwn ? change : { ...change, txHash: null }, 'manual', call.now)
}

const confirmedByChain = async (call: Call, change: StatusChange, ton: TonCheck | undefined): Promise<Decision> => {
  const { settlement, txHash } = change
  if (settlement.currency !== TON) throw receiverOnly(settlement, 'a transaction proves a payment in TON only')
  if (ton === undefined) throw receiverOnly(settlement, 'this server does not look up transactions')
  if (txHash === null) throw receiverOnly(settlement, 'name the transaction that paid')
  const payee = await members.get(call.caller.reader, settlement.groupId, settlement.toUserId)
  const found = await ton.check({
    txHash,
    to: payee?.wallet ?? null,
    amountMinor: BigInt(settlement.amountMinor),
    comment: settlement.comment,
    after: Date.parse(settlement.createdAt),
  })
  if (found === 'unknown')
    throw new Problem(
      503,
      'transaction-unconfirmed',
      'The chain does not contain this transaction yet, or the API did not answer. Send the request again later.',
      { retryAfter: RETRY_SECONDS },
    )
  if (found !== 'confirmed') throw receiverOnly(settlement, MISMATCHES[found](settlement))
  return confirmed(change, 'ton', call.now)
}

const MISMATCHES: Readonly<Record<TonMismatch, (settlement: SettlementItem) => string>> = {
  'no-wallet': () => 'the payee has set no TON wallet',
  hash: () => 'this is not the hash of a TON transaction',
  receiver: () => "the transaction did not go to the payee's wallet",
  amount: ({ amountMinor, exponent }) =>
    `the transaction did not transfer exactly ${decimalText(amountMinor, exponent)} TON`,
  comment: ({ comment }) => `the transaction does not carry the comment ${comment}`,
  early: () => 'the transaction is not later than the settlement',
  bounced: () => 'the transaction bounced',
}

const RETRY_SECONDS = 10
const [FIRST_WAIT_MS, LAST_WAIT_MS] = [10, 640]

/** Waits about a second until the status is not pending. A derived event can change it after the command. Undefined if it stays pending. */
const awaitDecision = async (call: RequestCall, waitMs = FIRST_WAIT_MS): Promise<SettlementItem | undefined> => {
  const item = await findSettlement(call, settlementOf(call))
  if (item !== undefined && item.status !== 'pending') return item
  if (waitMs > LAST_WAIT_MS) return undefined
  await delay(waitMs)
  return awaitDecision(call, 2 * waitMs)
}

const decideOn = (ton: TonCheck | undefined) =>
  command({
    method: 'PUT',
    url: '/api/groups/:groupId/settlements/:settlementId',
    operationId: 'changeSettlementStatus',
    summary:
      'Change the status of a settlement. The payee can complete it. The payer can complete it by a TON transaction with its comment, if the server looks up transactions. Both can mark it as failed.',
    body: settlementStatusSchema,
    status: 200,
    result: settlement.schema,
    decide: async (call) =>
      decided(call, statusChangeOf(await requireSettlement(call), call.caller.user, call.body), ton),
    answer: async (call) => {
      const item = await awaitDecision(call)
      return item && settlement.view(item)
    },
  })

export const settlementRoutes = (ton: TonCheck | undefined): readonly Route[] =>
  inGroupOrFormer([listSettlements, oneSettlement, propose, decideOn(ton)])
