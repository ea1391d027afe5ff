import type { BalanceThen } from '../../projections/expenses/as-of.ts'
import { netOf, type Debt } from '../../projections/expenses/debts.ts'
import type { MemberItem, Standing } from '../../projections/expenses/items.ts'
import { decimalText } from '../../projections/expenses/money.ts'
import { text, textOrNull } from '../http/schemas.ts'
import { moneyText } from './expense-views.ts'

export const standingProperties = {
  paid: moneyText,
  share: { ...moneyText, description: 'What they bear of all expenses, their own too.' },
  sent: { ...moneyText, description: 'By settlements that are completed.' },
  received: moneyText,
  net: { ...moneyText, description: 'paid − share + sent − received; over all members it is zero.' },
} as const

export const balanceSchema = {
  type: 'object',
  required: ['currency', 'members'],
  properties: {
    currency: text,
    members: { type: 'array', items: { type: 'object', required: ['userId', 'userName', ...Object.keys(standingProperties)], properties: { userId: text, userName: textOrNull, ...standingProperties } } },
  },
} as const

/** How members are called now. */
export const namesOf = (members: readonly MemberItem[]): ReadonlyMap<string, string | null> => new Map(members.map(({ id, name }) => [id, name]))

export const standingView = (standing: Standing, decimals: number) => ({
  paid: decimalText(standing.paid, decimals),
  share: decimalText(standing.share, decimals),
  sent: decimalText(standing.sent, decimals),
  received: decimalText(standing.received, decimals),
  net: decimalText(netOf(standing), decimals),
})

export const balanceView = ({ currency, exponent, members }: BalanceThen, names: ReadonlyMap<string, string | null>) => ({
  currency,
  members: Object.entries(members).map(([userId, standing]) => ({ userId, userName: names.get(userId) ?? null, ...standingView(standing, exponent) })),
})

export const debtsSchema = {
  type: 'object',
  required: ['currency', 'debts'],
  properties: {
    currency: text,
    debts: {
      type: 'array',
      items: { type: 'object', required: ['fromUserId', 'toUserId', 'amount'], properties: { fromUserId: text, fromUserName: textOrNull, toUserId: text, toUserName: textOrNull, amount: moneyText } },
    },
  },
} as const

export const debtView = ({ from, to, minor }: Debt, decimals: number, names: ReadonlyMap<string, string | null>) => ({
  fromUserId: from,
  fromUserName: names.get(from) ?? null,
  toUserId: to,
  toUserName: names.get(to) ?? null,
  amount: decimalText(minor, decimals),
})
