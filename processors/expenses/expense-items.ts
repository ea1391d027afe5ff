import { FORGOTTEN } from '../../schemas/event.ts'
import type { ExpenseRecorded, ExpenseRevised, Split } from '../../schemas/generated/expenses.ts'
import { isoOf } from '../../projections/instant.ts'
import { bare } from '../../projections/item.ts'
import type { ExpenseItem, GroupItem, ParticipantItem, SplitValue } from '../../projections/expenses/items.ts'
import { expenses, members, ofUser, OWES, participants } from '../../projections/expenses/keys.ts'
import { decimalNumber, wholeOf } from '../../projections/expenses/money.ts'
import type { Work } from '../folding/work.ts'

interface ExpenseContext {
  readonly group: GroupItem
  readonly spentAt: string
  readonly id: string
}

/** The fields of an expense that its newest event sets, with the present names of the people and the present title of the group (E-k). */
export const expenseFields = (
  work: Work,
  { data, meta, personal }: ExpenseRecorded | ExpenseRevised,
  { group, spentAt, id }: ExpenseContext,
) => {
  const { payerId, amountMinor, currency, exponent, splitType, splits, category } = data
  const nameOf = (user: string): string | null => work.get(members.key(meta.key, user))?.name ?? null
  return {
    GSI3PK: ofUser(payerId),
    GSI3SK: `${expenses.prefix}${spentAt}#${id}`,
    groupTitle: group.title,
    spentAt,
    payerId,
    payerName: nameOf(payerId),
    amount: decimalNumber(amountMinor, exponent),
    amountMinor: wholeOf(amountMinor),
    currency,
    exponent,
    splitType,
    category,
    splits: splits.map((split) => splitValue(split, exponent, nameOf(split.userId))),
    description: personal === null || personal === FORGOTTEN ? null : personal.description,
    // The person whose key seals the description.
    describedBy: personal === null ? null : meta.subjectId,
    updatedAt: isoOf(meta.occurredAt),
  }
}

const splitValue = ({ userId, minor, bp, shares }: Split, exponent: number, userName: string | null): SplitValue => ({
  userId,
  userName,
  amount: decimalNumber(minor, exponent),
  amountMinor: wholeOf(minor),
  ...(bp !== null && { percentage: bp / 100 }),
  ...(shares !== null && { shares }),
})

/** Puts the expense, and one item per person who owes for it: everybody except the payer (E8). */
export const putExpense = (work: Work, expense: ExpenseItem): void => {
  work.put(expense)
  for (const split of owing(expense)) work.put(participantOf(bare(expense), split))
}

export const removeExpense = (work: Work, expense: ExpenseItem): void => {
  work.remove(expense)
  for (const { userId } of owing(expense)) work.remove(participants.key(expense.groupId, expense.id, userId))
}

const owing = ({ payerId, splits }: ExpenseItem): readonly SplitValue[] =>
  splits.filter(({ userId, amountMinor }) => userId !== payerId && amountMinor !== 0)

const participantOf = (
  expense: ExpenseItem,
  { userId, userName, amount, amountMinor }: SplitValue,
): ParticipantItem => {
  const {
    id,
    groupId,
    groupTitle,
    currency,
    exponent,
    payerId,
    payerName,
    description,
    describedBy,
    spentAt,
    createdAt,
    revision,
  } = expense
  // The spread of the key comes last, because each property after a spread in an object literal costs a microsecond.
  return {
    GSI1PK: ofUser(userId),
    GSI1SK: `${OWES}${spentAt}#${id}`,
    expenseId: id,
    groupId,
    groupTitle,
    userId,
    userName,
    amount,
    amountMinor,
    currency,
    exponent,
    payerId,
    payerName,
    description,
    describedBy,
    totalAmount: expense.amount,
    totalMinor: expense.amountMinor,
    spentAt,
    createdAt,
    revision,
    ...participants.key(groupId, id, userId),
  }
}
