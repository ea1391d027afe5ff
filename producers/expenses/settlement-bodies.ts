import type { ConfirmedBy, SettlementConfirmedData, SettlementFailedData, SettlementProposedData, TransactionClaimedData } from '../../schemas/generated/expenses.ts'
import type { MemberItem, SettlementItem } from '../../projections/expenses/items.ts'
import { oneTxHash, transactionLogKey } from '../../projections/expenses/keys.ts'
import { mistake, Problem } from '../http/problem.ts'
import type { Decision } from '../http/route.ts'
import { amountIn, currencyIn, currencySchema, moneySchema } from './amounts.ts'
import { idSchema } from './params.ts'

export const TON = 'TON'

const txHash = { type: 'string', minLength: 16, maxLength: 128, pattern: '^[A-Za-z0-9_+/=-]+$', description: 'The hash of the TON transaction on the payee\'s account, in hex or base64.' } as const

export const newSettlementSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['toUserId', 'amount', 'currency'],
  properties: {
    toUserId: idSchema,
    fromUserId: { ...idSchema, description: 'Default: you. The payee can name the payer.' },
    amount: moneySchema,
    currency: currencySchema,
    txHash,
  },
} as const

export const settlementStatusSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['status'],
  properties: { status: { type: 'string', enum: ['completed', 'failed'] }, txHash },
} as const

export interface NewSettlement {
  readonly toUserId: string
  readonly fromUserId?: string
  readonly amount: number | string
  readonly currency: string
  readonly txHash?: string
}

export interface Proposing {
  readonly group: string
  readonly settlementId: string
  readonly user: string
  readonly members: readonly MemberItem[]
  readonly now: number
}

/** Between the caller and another who is or was a member: who left may still owe. */
export const settlementProposed = (body: NewSettlement, { group, settlementId, user, members, now }: Proposing): Decision => {
  const { toUserId, fromUserId = user } = body
  const currency = currencyIn(body.currency, '/currency')
  const amountMinor = amountIn(body.amount, currency, '/amount')
  if (toUserId === fromUserId) throw mistake(409, { pointer: '/toUserId', code: 'settlement-to-self', detail: '/toUserId: nobody settles with themselves: name another member.' })
  if (user !== fromUserId && user !== toUserId) throw mistake(403, { pointer: '/fromUserId', code: 'party-only', detail: '/fromUserId: a settlement is proposed by who pays or who is paid.' })
  for (const [userId, pointer] of [[fromUserId, '/fromUserId'], [toUserId, '/toUserId']] as const) {
    if (!members.some(({ id }) => id === userId)) throw mistake(409, { pointer, code: 'member-unknown', detail: `${pointer}: ${userId} was never a member of this group.` })
  }
  const data: SettlementProposedData = {
    settlementId, fromUserId, toUserId, amountMinor, currency: currency.code, exponent: currency.decimals, txHash: body.txHash === undefined ? null : oneTxHash(body.txHash), proposedAt: now, rowHash: null,
  }
  return { key: group, id: settlementId, draft: { type: 'SettlementProposed', data, personal: null } }
}

/** A request to change the status of a settlement. */
export interface StatusChange {
  readonly settlement: SettlementItem
  readonly user: string
  readonly status: 'completed' | 'failed'
  /** The transaction that this request names. */
  readonly named: string | undefined
  /** The transaction that this request or the proposal names. */
  readonly txHash: string | null
}

/** Rejects requests of others than the payer and the payee, and changes of a final status. */
export const statusChangeOf = (settlement: SettlementItem, user: string, { status, txHash: hash }: { readonly status: 'completed' | 'failed'; readonly txHash?: string }): StatusChange => {
  const named = hash === undefined ? undefined : oneTxHash(hash)
  const change: StatusChange = { settlement, user, status, named, txHash: named ?? settlement.txHash }
  if (user !== settlement.fromUserId && user !== settlement.toUserId) throw new Problem(403, 'party-only', 'Only the payer and the payee of this settlement can change its status.')
  if (isTooLate(change)) throw new Problem(409, 'settlement-final', `This settlement is ${settlement.status}, which is final. Propose another one.`)
  return change
}

/** A repeated request is answered as before. Every other change of a final status comes too late. */
const isTooLate = ({ settlement, status, named }: StatusChange): boolean =>
  settlement.status !== 'pending' && (settlement.status !== status || (status === 'completed' && named !== undefined && named !== settlement.txHash))

/** Only the payee can complete the settlement; `why` says why the payer can not. */
export const receiverOnly = ({ toUserId, toUserName }: SettlementItem, why: string): Problem =>
  mistake(403, { pointer: '/txHash', code: 'receiver-only', detail: `/txHash: ${why}. Only ${toUserName ?? toUserId}, who is paid, can confirm this settlement.` })

export const confirmed = ({ settlement: { id, groupId }, txHash: hash }: StatusChange, confirmedBy: ConfirmedBy, verifiedAt: number): Decision => {
  if (hash === null) {
    const data: SettlementConfirmedData = { settlementId: id, txHash: null, verifiedAt, confirmedBy }
    return { key: groupId, id, draft: { type: 'SettlementConfirmed', data, personal: null } }
  }
  const data: TransactionClaimedData = { txHash: hash, groupId, settlementId: id, verifiedAt, confirmedBy }
  return { key: transactionLogKey(hash), id, draft: { type: 'TransactionClaimed', data, personal: null } }
}

export const failed = ({ settlement: { id, groupId }, txHash: hash }: StatusChange): Decision => {
  const data: SettlementFailedData = { settlementId: id, txHash: hash, confirmedBy: 'manual' }
  return { key: groupId, id, draft: { type: 'SettlementFailed', data, personal: null } }
}
