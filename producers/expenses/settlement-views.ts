import type { ReceivedItem, SettlementItem } from '../../projections/expenses/items.ts'
import { decimalText } from '../../projections/expenses/money.ts'
import { text, textOrNull } from '../http/schemas.ts'
import { moneyText } from './expense-views.ts'

export const settlementSchema = {
  type: 'object',
  required: ['id', 'groupId', 'fromUserId', 'fromUserName', 'toUserId', 'toUserName', 'amount', 'currency', 'txHash', 'status', 'createdAt'],
  properties: {
    id: text, groupId: text, groupTitle: text, fromUserId: text, fromUserName: textOrNull, toUserId: text, toUserName: textOrNull, amount: moneyText, currency: text, txHash: textOrNull,
    comment: { ...text, description: 'A TON payment with this text comment completes the settlement.' },
    status: { type: 'string', enum: ['pending', 'completed', 'failed'] }, createdAt: text, createdBy: textOrNull, completedAt: text,
    confirmedBy: { type: 'string', enum: ['manual', 'ton'], description: 'manual: the payee confirmed the payment. ton: the chain did.' },
  },
} as const

export const settlementView = (settlement: Omit<SettlementItem, '_heard'> | ReceivedItem) => ({
  id: settlement.id,
  groupId: settlement.groupId,
  groupTitle: settlement.groupTitle,
  fromUserId: settlement.fromUserId,
  fromUserName: settlement.fromUserName,
  toUserId: settlement.toUserId,
  toUserName: settlement.toUserName,
  amount: decimalText(settlement.amountMinor, settlement.exponent),
  currency: settlement.currency,
  txHash: settlement.txHash,
  comment: settlement.comment,
  status: settlement.status,
  createdAt: settlement.createdAt,
  createdBy: settlement.createdBy,
  completedAt: settlement.completedAt,
  confirmedBy: settlement.confirmedBy,
})
