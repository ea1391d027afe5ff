import { isoOf } from '../../projections/instant.ts'
import { bare } from '../../projections/item.ts'
import type {
  BalanceDayItem,
  BalanceItem,
  CreditItem,
  EntryItem,
  Minor,
  MemberBalance,
} from '../../projections/expenses/items.ts'
import { balances, credits, dayBalances } from '../../projections/expenses/keys.ts'
import { negative, plus } from '../../projections/expenses/money.ts'
import { memberBalancesAfter, type Deltas } from '../../projections/expenses/member-balances.ts'
import type { Refused } from '../../projections/refusal.ts'
import { refuse } from '../../projections/expenses/refusals.ts'
import type { Work } from '../folding/work.ts'
import { MOST_MEMBERS } from './members.ts'

type Side = keyof MemberBalance

/** The changes of balances by an expense, or by a completed settlement, in one currency. */
export interface Contribution {
  readonly currency: string
  readonly exponent: number
  readonly moves: readonly { readonly user: string; readonly side: Side; readonly minor: Minor }[]
  /** The amounts that each `user` owes to the `payer`. */
  readonly owed: readonly { readonly payer: string; readonly user: string; readonly minor: Minor }[]
}

interface Spent {
  readonly payerId: string
  readonly amountMinor: Minor
  readonly currency: string
  readonly exponent: number
  readonly splits: readonly { readonly userId: string; readonly amountMinor: Minor }[]
}

export const ofExpense = ({ payerId, amountMinor, currency, exponent, splits }: Spent): Contribution => {
  const shares = splits.map(({ userId, amountMinor: minor }) => ({ user: userId, minor }))
  return {
    currency,
    exponent,
    moves: [
      { user: payerId, side: 'paid', minor: amountMinor },
      ...shares.map(({ user, minor }) => ({ user, side: 'share' as const, minor })),
    ],
    owed: shares.filter(({ user }) => user !== payerId).map(({ user, minor }) => ({ payer: payerId, user, minor })),
  }
}

interface Paid {
  readonly fromUserId: string
  readonly toUserId: string
  readonly amountMinor: Minor
  readonly currency: string
  readonly exponent: number
}

export const ofSettlement = ({ fromUserId, toUserId, amountMinor: minor, currency, exponent }: Paid): Contribution => ({
  currency,
  exponent,
  moves: [
    { user: fromUserId, side: 'sent', minor },
    { user: toUserId, side: 'received', minor },
  ],
  owed: [{ payer: toUserId, user: fromUserId, minor: negative(minor) }],
})

/** The opposite contribution. It removes exactly what the expense or settlement added. */
export const negated = ({ currency, exponent, moves, owed }: Contribution): Contribution => ({
  currency,
  exponent,
  moves: moves.map(({ user, side, minor }) => ({ user, side, minor: negative(minor) })),
  owed: owed.map(({ payer, user, minor }) => ({ payer, user, minor: negative(minor) })),
})

/** Refuses an amount that has another number of decimals than the balance in its currency, because the two cannot be added. */
export const exponentFits = (
  work: Pick<Work, 'get'>,
  group: string,
  { currency, exponent }: Pick<Contribution, 'currency' | 'exponent'>,
): Refused | undefined => {
  const balance = work.get(balances.key(group, currency))
  if (balance === undefined || balance.exponent === exponent) return undefined
  return refuse(
    'exponent-changed',
    `${currency} has ${balance.exponent} decimals in group ${group}. This amount has ${exponent}.`,
  )
}

export interface Moved {
  /** The time of the movement. It is never before the previous movement, so that the balances at any time can be computed. */
  readonly at: string
  readonly moved: NonNullable<EntryItem['moved']>
}

/**
 * Adds contributions to the balances of a group and to the debts to each payer (credits), as one movement. A movement that
 * changes no sum also sets the time of the balances, so that no later movement gets an earlier time.
 */
export const contribute = (
  work: Work,
  group: string,
  occurredAt: number,
  contributions: readonly Contribution[],
): Moved | Refused => {
  const currencies = [...new Set(contributions.map(({ currency }) => currency))]
  const befores = currencies.map((currency) => work.get(balances.key(group, currency))?.changedAt ?? '')
  const at = [isoOf(occurredAt), ...befores].reduce((latest, each) => (each > latest ? each : latest))
  const moved: { [currency: string]: Deltas } = {}
  for (const currency of currencies) {
    const own = contributions.filter((each) => each.currency === currency)
    const deltas = summed(own)
    if (Object.keys(deltas).length > 0) moved[currency] = deltas
    if (!move(work, { group, currency, exponent: own[0]?.exponent ?? 0, at, deltas }))
      return refuse(
        'too-many-members',
        `Too many people have balances in group ${group}: one item cannot contain them. Create another group.`,
      )
    credit(work, group, own)
  }
  return { at, moved }
}

const summed = (contributions: readonly Contribution[]): Deltas => {
  const sums = new Map<string, { -readonly [S in Side]?: Minor }>()
  for (const { moves } of contributions) {
    for (const { user, side, minor } of moves) {
      const sum = sums.get(user) ?? {}
      const after = plus(sum[side] ?? 0, minor)
      if (after !== 0) sum[side] = after
      else delete sum[side]
      sums.set(user, sum)
    }
  }
  return Object.fromEntries([...sums].filter(([, sum]) => Object.keys(sum).length > 0))
}

interface Movement {
  readonly group: string
  readonly currency: string
  readonly exponent: number
  readonly at: string
  readonly deltas: Deltas
}

/** The maximum number of people in a balance item: current members, and former members who still have a balance. */
const MOST_MEMBER_BALANCES = 2 * MOST_MEMBERS

const move = (work: Work, { group, currency, exponent, at, deltas }: Movement): boolean => {
  const before = work.get(balances.key(group, currency))
  const members = memberBalancesAfter(before?.members ?? {}, deltas)
  if (before !== undefined && before.changedAt.slice(0, 10) < at.slice(0, 10)) {
    const day = before.changedAt.slice(0, 10)
    work.put({ ...bare(before), ...dayBalances.key(group, currency, day), day } satisfies BalanceDayItem)
  }
  work.put({ currency, exponent, members, changedAt: at, ...balances.key(group, currency) } satisfies BalanceItem)
  return Object.keys(members).length <= MOST_MEMBER_BALANCES
}

/** Updates the debts to the payers. Each payer has one CreditItem per currency. An item without debts is removed. */
const credit = (work: Work, group: string, contributions: readonly Contribution[]): void => {
  for (const { currency, exponent, owed: debts } of contributions) {
    for (const payerId of new Set(debts.map(({ payer }) => payer))) {
      const key = credits.key(group, currency, payerId)
      const owed: { [user: string]: Minor } = { ...work.get<CreditItem>(key)?.owed }
      for (const { user, minor } of debts.filter(({ payer }) => payer === payerId)) {
        const sum = plus(Object.hasOwn(owed, user) ? (owed[user] ?? 0) : 0, minor)
        if (sum === 0) delete owed[user]
        else owed[user] = sum
      }
      if (Object.keys(owed).length > 0) work.put({ payerId, currency, exponent, owed, ...key } satisfies CreditItem)
      else work.remove(key)
    }
  }
}
