import type { EntryItem, ExpenseItem, ExpenseNameItem, Minor, ParticipantItem } from '../../projections/expenses/items.ts'
import { EXPENSES } from '../../projections/expenses/keys.ts'
import { decimalText } from '../../projections/expenses/money.ts'
import { integer, number, text, textOrNull } from '../http/schemas.ts'

export const moneyText = { ...text, description: 'A decimal, exact.' } as const

const splitSchema = {
  type: 'object',
  required: ['userId', 'userName', 'amount'],
  properties: { userId: text, userName: textOrNull, amount: moneyText, percentage: number, shares: integer },
} as const

const expenseProperties = {
  id: text,
  groupId: text,
  groupTitle: text,
  payerId: text,
  payerName: textOrNull,
  amount: moneyText,
  currency: text,
  description: textOrNull,
  splitType: text,
  splits: { type: 'array', items: splitSchema },
  category: textOrNull,
  date: { ...text, description: 'When it was paid: its place in the list.' },
  createdAt: text,
  createdBy: textOrNull,
  updatedAt: text,
  revision: { ...integer, description: 'Send it with a PUT, so that no other edit is lost.' },
  deletedAt: text,
  deletedBy: textOrNull,
} as const

export const expenseSchema = {
  type: 'object',
  required: ['id', 'groupId', 'payerId', 'payerName', 'amount', 'currency', 'description', 'splitType', 'splits', 'category', 'date', 'createdAt', 'revision'],
  properties: expenseProperties,
} as const

const dateOf = ({ SK }: Pick<ExpenseItem, 'SK'>): string => SK.slice(EXPENSES.length, SK.indexOf('#', EXPENSES.length))

export const expenseView = (expense: ExpenseItem, gone: Pick<ExpenseNameItem, 'deletedAt' | 'deletedBy'> = {}) => ({
  id: expense.id,
  groupId: expense.groupId,
  groupTitle: expense.groupTitle,
  payerId: expense.payerId,
  payerName: expense.payerName,
  amount: decimalText(expense.amountMinor, expense.exponent),
  currency: expense.currency,
  description: expense.description,
  splitType: expense.splitType,
  splits: expense.splits.map(({ userId, userName, amountMinor, percentage, shares }) => ({ userId, userName, amount: decimalText(amountMinor, expense.exponent), percentage, shares })),
  category: expense.category,
  date: dateOf(expense),
  createdAt: expense.createdAt,
  createdBy: expense.createdBy,
  updatedAt: expense.updatedAt,
  revision: expense.revision,
  deletedAt: gone.deletedAt,
  deletedBy: gone.deletedBy,
})

export const owedSchema = {
  type: 'object',
  required: ['expenseId', 'groupId', 'groupTitle', 'userId', 'userName', 'amount', 'currency', 'payerId', 'payerName', 'description', 'totalAmount', 'createdAt'],
  properties: {
    expenseId: text, groupId: text, groupTitle: text, userId: text, userName: textOrNull, amount: moneyText, currency: text, payerId: text, payerName: textOrNull,
    description: textOrNull, totalAmount: moneyText, createdAt: text,
  },
} as const

export const owedView = (part: ParticipantItem) => ({
  expenseId: part.expenseId,
  groupId: part.groupId,
  groupTitle: part.groupTitle,
  userId: part.userId,
  userName: part.userName,
  amount: decimalText(part.amountMinor, part.exponent),
  currency: part.currency,
  payerId: part.payerId,
  payerName: part.payerName,
  description: part.description,
  totalAmount: decimalText(part.totalMinor, part.exponent),
  createdAt: part.createdAt,
})

const afterSchema = {
  type: ['object', 'null'],
  description: 'The expense as it was after it; null where it is none any more.',
  properties: { payerId: text, splitType: text, category: textOrNull, splits: { type: 'array', items: { type: 'object', properties: { userId: text, amount: moneyText } } } },
} as const

export const entrySchema = {
  type: 'object',
  required: ['kind', 'at', 'by', 'byName', 'event'],
  properties: {
    kind: text, at: text, by: textOrNull, byName: textOrNull, event: text, userId: { ...text, description: 'The person who joined, left, was removed or became the owner; the payee of a settlement.' }, fromUserId: text, expenseId: text, settlementId: text, invitationId: text, revision: integer, currency: text, amount: moneyText,
    description: textOrNull, reason: textOrNull, title: text, after: afterSchema,
  },
} as const

export const entryView = (entry: EntryItem) => {
  const money = (minor: Minor): string => decimalText(minor, entry.exponent ?? 0)
  const { after } = entry
  return {
    kind: entry.kind,
    at: entry.at,
    by: entry.by,
    byName: entry.byName,
    event: entry.event,
    userId: entry.subjectId,
    fromUserId: entry.fromId,
    expenseId: entry.expenseId,
    settlementId: entry.settlementId,
    invitationId: entry.invitationId,
    revision: entry.revision,
    currency: entry.currency,
    amount: entry.amountMinor === undefined ? undefined : money(entry.amountMinor),
    description: entry.description,
    reason: entry.reason,
    title: entry.title,
    after: after && { ...after, splits: after.splits.map(({ userId, amountMinor }) => ({ userId, amount: money(amountMinor) })) },
  }
}
