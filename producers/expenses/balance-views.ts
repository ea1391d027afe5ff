import type { BalanceThen } from '../../projections/expenses/as-of.ts'
import { netOf, type Debt } from '../../projections/expenses/debts.ts'
import type { MemberItem, Standing } from '../../projections/expenses/items.ts'
import { decimalText } from '../../projections/expenses/money.ts'
import { text, textOrNull } from '../http/schemas.ts'
import { arrayOf, shape } from '../http/shape.ts'
import { moneyText } from './expense-views.ts'

type Decimals = [decimals: number]
type Names = ReadonlyMap<string, string | null>

const sumOf = (name: keyof Standing) => (standing: Standing, decimals: number): string => decimalText(standing[name], decimals)

export const standing = shape<Standing, Decimals>()({
  paid: { ...moneyText, from: sumOf('paid') },
  share: { ...moneyText, from: sumOf('share'), description: 'What they bear of all expenses, their own too.' },
  sent: { ...moneyText, from: sumOf('sent'), description: 'By settlements that are completed.' },
  received: { ...moneyText, from: sumOf('received') },
  net: { ...moneyText, from: (each, decimals) => decimalText(netOf(each), decimals), description: 'paid − share + sent − received; over all members it is zero.' },
})

const standingOfMember = shape<Standing & { readonly userId: string; readonly userName: string | null }, Decimals>()({ userId: text, userName: textOrNull, ...standing.fields })

export const balance = shape<BalanceThen, [names: Names]>()({
  currency: text,
  members: {
    ...arrayOf(standingOfMember.schema),
    from: ({ members, exponent }, names) => Object.entries(members).map(([userId, each]) => standingOfMember.view({ ...each, userId, userName: names.get(userId) ?? null }, exponent)),
  },
})

/** How members are called now. */
export const namesOf = (members: readonly MemberItem[]): Names => new Map(members.map(({ id, name }) => [id, name]))

const debt = shape<Debt, [decimals: number, names: Names]>()({
  fromUserId: { ...text, from: ({ from }) => from },
  fromUserName: { ...textOrNull, optional: true, from: ({ from }, _decimals, names) => names.get(from) ?? null },
  toUserId: { ...text, from: ({ to }) => to },
  toUserName: { ...textOrNull, optional: true, from: ({ to }, _decimals, names) => names.get(to) ?? null },
  amount: { ...moneyText, from: ({ minor }, decimals) => decimalText(minor, decimals) },
})

export const debtsOfCurrency = shape<Pick<BalanceThen, 'currency' | 'exponent'>, [debts: readonly Debt[], names: Names]>()({
  currency: text,
  debts: { ...arrayOf(debt.schema), from: ({ exponent }, debts, names) => debts.map((each) => debt.view(each, exponent, names)) },
})
