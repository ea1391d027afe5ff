import type { ConfirmedBy, SettlementConfirmedData, SettlementFailedData, SettlementProposedData, TransactionClaimedData } from '../../schemas/generated/expenses.ts'
import type { MemberItem, SettlementItem } from '../../projections/expenses/items.ts'
import { oneTxHash, transactionLogKey } from '../../projections/expenses/keys.ts'
import { mistake, Problem } from '../http/problem.ts'
import type { Decision } from '../http/route.ts'
import { amountIn, currencyIn, currencySchema, moneySchema } from './amounts.ts'
import { idSchema } from './params.ts'

export const TON = 'TON'

const txHash = { type: 'string', minLength: 16, maxLength: 128, pattern: '^[A-Za-z0-9_+/=-]+$', description: 'Of the TON transaction, in hex or base64.' } as const

export const newSettlementSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['toUserId', 'amount', 'currency'],
  properties: {
    toUserId: idSchema,
    fromUserId: { ...idSchema, description: 'You, unless told; whoever received it may say who paid.' },
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


/** What is to become of a settlement: by which transaction, and whose word it is. */
export interface Asked {
  readonly settlement: SettlementItem
  readonly user: string
  readonly status: 'completed' | 'failed'
  /** Said now. */
  readonly told: string | undefined
  /** The transaction that is meant, said now or when it was proposed. */
  readonly txHash: string | null
}

/** The receiver's word is enough; who pays shows a transaction; either may say that it came to nothing. */
export const askedOf = (settlement: SettlementItem, user: string, { status, txHash: hash }: { readonly status: 'completed' | 'failed'; readonly txHash?: string }): Asked => {
  const told = hash === undefined ? undefined : oneTxHash(hash)
  const asked: Asked = { settlement, user, status, told, txHash: told ?? settlement.txHash }
  const { fromUserId, toUserId } = settlement
  if (user !== fromUserId && user !== toUserId) throw new Problem(403, 'party-only', 'Only who pays and who is paid may say what became of this settlement.')
  if (status === 'completed' && user === fromUserId && settlement.status !== 'completed' && !isProof(asked)) {
    throw mistake(403, { pointer: '/txHash', code: 'receiver-only', detail: `/txHash: without a transaction in TON only ${settlement.toUserName ?? toUserId}, who is paid, may confirm this settlement.` })
  }
  if (isOver(asked)) throw new Problem(409, 'settlement-final', `This settlement is ${settlement.status}, for good: propose another.`)
  return asked
}

/** A transaction tells of TON only: of another currency whoever owes it would say what they like. */
const isProof = ({ settlement: { currency }, txHash: hash }: Asked): boolean => hash !== null && currency === TON

/** What was said before may be said again; anything else comes too late. */
const isOver = ({ settlement, status, told }: Asked): boolean => {
  if (settlement.status === 'pending' || failedByChain(settlement)) return false
  return settlement.status !== status || (status === 'completed' && told !== undefined && told !== settlement.txHash)
}

/** Whoever asked for its completion heard that it failed, and hears it again. */
export const failedByChain = ({ status, confirmedBy }: SettlementItem): boolean => status === 'failed' && confirmedBy === 'ton'

export const confirmed = ({ settlement: { id, groupId }, txHash: hash }: Asked, confirmedBy: ConfirmedBy, verifiedAt: number): Decision => {
  if (hash === null) {
    const data: SettlementConfirmedData = { settlementId: id, txHash: null, verifiedAt, confirmedBy }
    return { key: groupId, id, draft: { type: 'SettlementConfirmed', data, personal: null } }
  }
  const data: TransactionClaimedData = { txHash: hash, groupId, settlementId: id, verifiedAt, confirmedBy }
  return { key: transactionLogKey(hash), id, draft: { type: 'TransactionClaimed', data, personal: null } }
}

export const failed = ({ settlement: { id, groupId }, txHash: hash }: Asked, confirmedBy: ConfirmedBy): Decision => {
  const data: SettlementFailedData = { settlementId: id, txHash: hash, confirmedBy }
  return { key: groupId, id, draft: { type: 'SettlementFailed', data, personal: null } }
}
