import { paidAt, type DeletedExpenseItem, type EntryItem, type ExpenseItem, type ExpenseThen, type Minor, type ParticipantItem } from '../../projections/expenses/items.ts'
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
  date: { ...text, description: 'When it was paid. Lists are sorted by it.' },
  createdAt: { ...text, description: 'When it was recorded.' },
  createdBy: { ...textOrNull, description: 'The person who recorded it.' },
  updatedAt: text,
  revision: { ...integer, description: 'Send it with a PUT, so that no other edit is lost.' },
  deletedAt: { ...text, description: 'Present if the expense is deleted.' },
  deletedBy: { ...textOrNull, description: 'The person who deleted it. Present if the expense is deleted.' },
} as const

export const expenseSchema = {
  type: 'object',
  required: ['id', 'groupId', 'payerId', 'payerName', 'amount', 'currency', 'description', 'splitType', 'splits', 'category', 'date', 'createdAt', 'revision'],
  properties: expenseProperties,
} as const

export const expenseView = (expense: ExpenseItem) => ({
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
  date: paidAt(expense),
  createdAt: expense.createdAt,
  createdBy: expense.createdBy,
  updatedAt: expense.updatedAt,
  revision: expense.revision,
})

export const deletedExpenseView = ({ expense, deletedAt, deletedBy }: DeletedExpenseItem) => ({ ...expenseView(expense), deletedAt, deletedBy })

export const owedSchema = {
  type: 'object',
  required: ['expenseId', 'groupId', 'groupTitle', 'userId', 'userName', 'amount', 'currency', 'payerId', 'payerName', 'description', 'totalAmount', 'date', 'createdAt'],
  properties: {
    expenseId: text, groupId: text, groupTitle: text, userId: text, userName: textOrNull, amount: moneyText, currency: text, payerId: text, payerName: textOrNull,
    description: textOrNull, totalAmount: moneyText, date: expenseProperties.date, createdAt: expenseProperties.createdAt,
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
  date: paidAt(part),
  createdAt: part.createdAt,
})

const afterSchema = {
  type: ['object', 'null'],
  description: 'The expense after this change. Null if it is deleted.',
  properties: { date: expenseProperties.date, payerId: text, splitType: text, category: textOrNull, splits: { type: 'array', items: { type: 'object', properties: { userId: text, amount: moneyText } } } },
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
    after: entry.after && afterView(entry.after, money),
  }
}

const afterView = ({ spentAt, splits, ...after }: ExpenseThen, money: (minor: Minor) => string) =>
  ({ date: spentAt, ...after, splits: splits.map(({ userId, amountMinor }) => ({ userId, amount: money(amountMinor) })) })
