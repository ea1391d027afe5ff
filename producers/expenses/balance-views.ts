import type { PastBalance } from '../../projections/expenses/as-of.ts'
import { netOf, type Debt } from '../../projections/expenses/debts.ts'
import type { MemberItem, MemberBalance } from '../../projections/expenses/items.ts'
import { decimalText } from '../../projections/expenses/money.ts'
import { text, textOrNull } from '../http/schemas.ts'
import { arrayOf, shape } from '../http/shape.ts'
import { moneyText } from './expense-views.ts'

type Decimals = [decimals: number]
type Names = ReadonlyMap<string, string | null>

const sumOf =
  (name: keyof MemberBalance) =>
  (balance: MemberBalance, decimals: number): string =>
    decimalText(balance[name], decimals)

export const memberBalance = shape<MemberBalance, Decimals>()({
  paid: { ...moneyText, from: sumOf('paid') },
  share: {
    ...moneyText,
    from: sumOf('share'),
    description: 'Their share of all expenses, also of those that they paid.',
  },
  sent: { ...moneyText, from: sumOf('sent'), description: 'By completed settlements.' },
  received: { ...moneyText, from: sumOf('received') },
  net: {
    ...moneyText,
    from: (each, decimals) => decimalText(netOf(each), decimals),
    description: 'paid − share + sent − received. The nets of all members sum up to zero.',
  },
})

const namedMemberBalance = shape<
  MemberBalance & { readonly userId: string; readonly userName: string | null },
  Decimals
>()({ userId: text, userName: textOrNull, ...memberBalance.fields })

export const balance = shape<PastBalance, [names: Names]>()({
  currency: text,
  members: {
    ...arrayOf(namedMemberBalance.schema),
    from: ({ members, exponent }, names) =>
      Object.entries(members).map(([userId, each]) =>
        namedMemberBalance.view({ ...each, userId, userName: names.get(userId) ?? null }, exponent),
      ),
  },
})

/** Returns the current names of the members, by the id of the user. */
export const namesOf = (members: readonly MemberItem[]): Names => new Map(members.map(({ id, name }) => [id, name]))

const debt = shape<Debt, [decimals: number, names: Names]>()({
  fromUserId: { ...text, from: ({ from }) => from },
  fromUserName: { ...textOrNull, optional: true, from: ({ from }, _decimals, names) => names.get(from) ?? null },
  toUserId: { ...text, from: ({ to }) => to },
  toUserName: { ...textOrNull, optional: true, from: ({ to }, _decimals, names) => names.get(to) ?? null },
  amount: { ...moneyText, from: ({ minor }, decimals) => decimalText(minor, decimals) },
})

export const debtsOfCurrency = shape<
  Pick<PastBalance, 'currency' | 'exponent'>,
  [debts: readonly Debt[], names: Names]
>()({
  currency: text,
  debts: {
    ...arrayOf(debt.schema),
    from: ({ exponent }, debts, names) => debts.map((each) => debt.view(each, exponent, names)),
  },
})
