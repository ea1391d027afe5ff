import type { ConfirmedBy } from '../../schemas/generated/expenses.ts'
import type { MemberItem, SettlementItem } from '../../projections/expenses/items.ts'
import { isTooLate } from '../../projections/expenses/rules.ts'
import { oneTxHash, transactionLogKey } from '../../projections/expenses/keys.ts'
import { mistake, Problem } from '../http/problem.ts'
import type { Decision } from '../http/route.ts'
import { amountIn, currencyIn, currencySchema, moneySchema } from './amounts.ts'
import { event, idSchema, refused } from './params.ts'
import { demandMembers } from './person.ts'

export const TON = 'TON'

const txHash = {
  type: 'string',
  minLength: 16,
  maxLength: 128,
  pattern: '^[A-Za-z0-9_+/=-]+$',
  description: "The hash of the TON transaction on the payee's account, in hex or base64.",
} as const

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

export interface ProposalContext {
  readonly group: string
  readonly settlementId: string
  readonly user: string
  readonly members: readonly MemberItem[]
  readonly now: number
}

/** Returns the event of a new settlement. The caller is the payer or the payee. Both can have left the group, because they can still have debts. */
export const settlementProposed = (
  body: NewSettlement,
  { group, settlementId, user, members, now }: ProposalContext,
): Decision => {
  const { toUserId, fromUserId = user } = body
  const currency = currencyIn(body.currency, '/currency')
  const amountMinor = amountIn(body.amount, currency, '/amount')
  if (toUserId === fromUserId)
    throw refused('settlement-to-self', '/toUserId: the payer and the payee must be different members.')
  if (user !== fromUserId && user !== toUserId)
    throw mistake(403, {
      pointer: '/fromUserId',
      code: 'party-only',
      detail: '/fromUserId: only the payer or the payee can propose a settlement.',
    })
  demandMembers(
    members,
    [
      [fromUserId, '/fromUserId'],
      [toUserId, '/toUserId'],
    ],
    () => true,
  )
  const named = body.txHash === undefined ? null : oneTxHash(body.txHash)
  const draft = event('SettlementProposed', {
    settlementId,
    fromUserId,
    toUserId,
    amountMinor,
    currency: currency.code,
    exponent: currency.decimals,
    txHash: named,
    proposedAt: now,
    rowHash: null,
  })
  return { key: group, id: settlementId, draft }
}

/** A request to change the status of a settlement. */
export interface StatusChange {
  readonly settlement: SettlementItem
  readonly user: string
  readonly status: 'completed' | 'failed'
  /** The hash of the transaction that this request names. Undefined if it names none. */
  readonly named: string | undefined
  /** The hash of the transaction that this request names, else the hash that the proposal names. Null if both name none. */
  readonly txHash: string | null
}

/** Returns the requested change. Throws if the caller is neither the payer nor the payee, or if an earlier, different change is final. */
export const statusChangeOf = (
  settlement: SettlementItem,
  user: string,
  { status, txHash: hash }: { readonly status: 'completed' | 'failed'; readonly txHash?: string },
): StatusChange => {
  const named = hash === undefined ? undefined : oneTxHash(hash)
  const change: StatusChange = { settlement, user, status, named, txHash: named ?? settlement.txHash }
  if (user !== settlement.fromUserId && user !== settlement.toUserId)
    throw new Problem(403, 'party-only', 'Only the payer and the payee of this settlement can change its status.')
  if (isTooLate(settlement, status, named ?? null))
    throw refused('settlement-final', `This settlement is ${settlement.status}, which is final. Propose another one.`)
  return change
}

/** Returns the error for a payer who tries to complete a settlement that only the payee can complete. `why`: the reason. */
export const receiverOnly = ({ toUserId, toUserName }: SettlementItem, why: string): Problem =>
  mistake(403, {
    pointer: '/txHash',
    code: 'receiver-only',
    detail: `/txHash: ${why}. Only the payee (${toUserName ?? toUserId}) can confirm this settlement.`,
  })

export const confirmed = (
  { settlement: { id, groupId }, txHash: hash }: StatusChange,
  confirmedBy: ConfirmedBy,
  verifiedAt: number,
): Decision =>
  hash === null
    ? {
        key: groupId,
        id,
        draft: event('SettlementConfirmed', { settlementId: id, txHash: null, verifiedAt, confirmedBy }),
      }
    : {
        key: transactionLogKey(hash),
        id,
        draft: event('TransactionClaimed', { txHash: hash, groupId, settlementId: id, verifiedAt, confirmedBy }),
      }

export const failed = ({ settlement: { id, groupId }, txHash: hash }: StatusChange): Decision => ({
  key: groupId,
  id,
  draft: event('SettlementFailed', { settlementId: id, txHash: hash, confirmedBy: 'manual' }),
})
