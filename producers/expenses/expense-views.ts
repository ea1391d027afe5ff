import {
  paidAt,
  type DeletedExpenseItem,
  type EntryItem,
  type ExpenseItem,
  type ExpenseState,
  type Minor,
  type ParticipantItem,
  type SplitValue,
} from '../../projections/expenses/items.ts'
import { decimalText } from '../../projections/expenses/money.ts'
import { integer, number, text, textOrNull } from '../http/schemas.ts'
import { arrayOf, optional, orNull, shape } from '../http/shape.ts'

export const moneyText = { ...text, description: 'A decimal, exact.' } as const

interface Amount {
  readonly amountMinor: Minor
  readonly exponent: number
}

/** The field of an answer that shows an item's amount as decimal text. The item's `exponent` is the number of decimals of its currency. */
export const amountField = {
  ...moneyText,
  from: ({ amountMinor, exponent }: Amount) => decimalText(amountMinor, exponent),
} as const
const partField = {
  ...moneyText,
  from: ({ amountMinor }: Pick<Amount, 'amountMinor'>, decimals: number) => decimalText(amountMinor, decimals),
} as const
const dateField = { ...text, from: paidAt, description: 'When it was paid. Lists are sorted by it.' } as const
const createdAt = { ...text, description: 'When it was recorded.' } as const

const split = shape<SplitValue, [decimals: number]>()({
  userId: text,
  userName: textOrNull,
  amount: partField,
  percentage: optional(number),
  shares: optional(integer),
})

export const expense = shape<ExpenseItem & Partial<Pick<DeletedExpenseItem, 'deletedAt' | 'deletedBy'>>>()({
  id: text,
  groupId: text,
  groupTitle: optional(text),
  payerId: text,
  payerName: textOrNull,
  amount: amountField,
  currency: text,
  description: textOrNull,
  splitType: text,
  splits: {
    ...arrayOf(split.schema),
    from: ({ splits, exponent }) => splits.map((each) => split.view(each, exponent)),
  },
  category: textOrNull,
  date: dateField,
  createdAt,
  createdBy: { ...textOrNull, optional: true, description: 'The person who recorded it.' },
  updatedAt: optional(text),
  revision: { ...integer, description: 'Send it with a PUT, so that no other edit is lost.' },
  deletedAt: { ...text, optional: true, description: 'Present if the expense is deleted.' },
  deletedBy: {
    ...textOrNull,
    optional: true,
    description: 'The person who deleted it. Present if the expense is deleted.',
  },
})

export const owed = shape<ParticipantItem>()({
  expenseId: text,
  groupId: text,
  groupTitle: text,
  userId: text,
  userName: textOrNull,
  amount: amountField,
  currency: text,
  payerId: text,
  payerName: textOrNull,
  description: textOrNull,
  totalAmount: { ...moneyText, from: ({ totalMinor, exponent }) => decimalText(totalMinor, exponent) },
  date: dateField,
  createdAt,
})

const partState = shape<ExpenseState['splits'][number], [decimals: number]>()({
  userId: optional(text),
  amount: optional(partField),
})

const expenseState = shape<ExpenseState, [decimals: number]>()({
  date: { ...dateField, optional: true, from: ({ spentAt }) => spentAt },
  payerId: optional(text),
  splitType: optional(text),
  category: optional(textOrNull),
  splits: {
    ...arrayOf(partState.schema),
    optional: true,
    from: ({ splits }, decimals) => splits.map((part) => partState.view(part, decimals)),
  },
})

export const entry = shape<EntryItem>()({
  kind: text,
  at: text,
  by: textOrNull,
  byName: textOrNull,
  event: text,
  userId: {
    ...text,
    optional: true,
    from: ({ subjectId }) => subjectId,
    description: 'The person who joined, left, was removed or became the owner; the payee of a settlement.',
  },
  fromUserId: { ...text, optional: true, from: ({ fromId }) => fromId },
  expenseId: optional(text),
  settlementId: optional(text),
  invitationId: optional(text),
  revision: optional(integer),
  currency: optional(text),
  amount: {
    ...moneyText,
    optional: true,
    from: ({ amountMinor, exponent = 0 }) =>
      amountMinor === undefined ? undefined : decimalText(amountMinor, exponent),
  },
  description: optional(textOrNull),
  reason: optional(textOrNull),
  title: optional(text),
  after: {
    ...orNull(expenseState.schema),
    optional: true,
    from: ({ after, exponent = 0 }) => after && expenseState.view(after, exponent),
    description: 'The expense after this change. Null if it is deleted.',
  },
})
