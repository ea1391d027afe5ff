import type { ReceivedItem, SettlementItem } from '../../projections/expenses/items.ts'
import { text, textOrNull } from '../http/schemas.ts'
import { optional, shape } from '../http/shape.ts'
import { amountField } from './expense-views.ts'

export const settlement = shape<Omit<SettlementItem, '_heard'> | ReceivedItem>()({
  id: text,
  groupId: text,
  groupTitle: optional(text),
  fromUserId: text,
  fromUserName: textOrNull,
  toUserId: text,
  toUserName: textOrNull,
  amount: amountField,
  currency: text,
  txHash: textOrNull,
  comment: { ...text, optional: true, description: 'A TON payment with this text comment completes the settlement.' },
  status: { type: 'string', enum: ['pending', 'completed', 'failed'] },
  createdAt: text,
  createdBy: optional(textOrNull),
  completedAt: optional(text),
  confirmedBy: {
    type: 'string',
    enum: ['manual', 'ton'],
    optional: true,
    description: 'manual: the payee confirmed the payment. ton: the chain did.',
  },
})
