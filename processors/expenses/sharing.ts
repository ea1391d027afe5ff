import type { ExpenseRecorded, ExpenseRevised } from '../../schemas/generated/expenses.ts'
import type { ExpenseItem } from '../../projections/expenses/items.ts'
import { isId, members } from '../../projections/expenses/keys.ts'
import { MOST_DECIMALS, MOST_MINOR } from '../../projections/expenses/money.ts'
import { misfitOf, MOST_BENEFICIARIES } from '../../projections/expenses/rules.ts'
import type { Refused } from '../../projections/refusal.ts'
import { refuse } from '../../projections/expenses/refusals.ts'
import type { Work } from '../folding/work.ts'
import { exponentFits } from './balances.ts'
import { isCurrency } from './groups.ts'
import { leftGroup } from './group-refusals.ts'
import { isImported } from './rights.ts'

/**
 * Refuses an invalid expense. An expense cannot name a person who left, except if it named this person before the
 * change, or if it is imported.
 */
export const misfit = (
  work: Work,
  event: ExpenseRecorded | ExpenseRevised,
  before?: ExpenseItem,
): Refused | undefined => {
  const { data, meta } = event
  const { amountMinor, payerId, splits, category } = data
  if (category !== null && (category.length === 0 || category.length > 100))
    return refuse('expense-invalid', 'A category has 1 to 100 characters.')
  const others = splits.filter(({ userId }) => userId !== payerId).length
  if (others > MOST_BENEFICIARIES)
    return refuse(
      'too-many-beneficiaries',
      `An expense can be for at most ${MOST_BENEFICIARIES} people besides the payer. This one is for ${others}. Record two expenses.`,
    )
  const named = [payerId, ...splits.map(({ userId }) => userId)]
  return (
    sumMisfit(amountMinor, data) ??
    exponentFits(work, meta.key, data) ??
    splitsMisfit(data) ??
    (isImported(event) ? strangerAmong(work, meta.key, named) : memberMisfit(work, meta.key, named, before))
  )
}

interface Sum {
  readonly currency: string
  readonly exponent: number
}

export const sumMisfit = (amount: bigint, { currency, exponent }: Sum): Refused | undefined => {
  if (!isCurrency(currency))
    return refuse('currency-unknown', 'A currency has a code of 2 to 10 capital letters and digits.')
  if (!Number.isInteger(exponent) || exponent < 0 || exponent > MOST_DECIMALS)
    return refuse('currency-unknown', `A currency has 0 to ${MOST_DECIMALS} decimals.`)
  return amount > 0n && amount <= MOST_MINOR
    ? undefined
    : refuse(
        'amount-invalid',
        `An amount is more than zero and at most ${MOST_MINOR} of the currency’s smallest units.`,
      )
}

const splitsMisfit = ({
  amountMinor,
  splits,
}: ExpenseRecorded['data'] | ExpenseRevised['data']): Refused | undefined => {
  const users = new Set(splits.map(({ userId }) => userId))
  if (splits.length === 0 || users.size < splits.length)
    return refuse('splits-mismatch', 'The splits must name at least one person, and each person once.')
  if (splits.some(({ minor }) => minor < 0n))
    return refuse('splits-mismatch', 'A part of an expense cannot be negative.')
  const sum = splits.reduce((total, { minor }) => total + minor, 0n)
  return sum === amountMinor
    ? undefined
    : refuse('splits-mismatch', `The parts sum up to ${sum}, and the amount is ${amountMinor}.`)
}

/** Refuses the first of these people who was never a member, or else the first who left. People whom the expense named before can stay in it. */
export const memberMisfit = (
  work: Work,
  group: string,
  users: readonly string[],
  before?: ExpenseItem,
): Refused | undefined => {
  const stay = new Set(before === undefined ? [] : [before.payerId, ...before.splits.map(({ userId }) => userId)])
  return strangerAmong(work, group, users) ?? firstMisfit(work, group, users, (user) => stay.has(user))
}

/** Refuses the first of these people who was never a member. */
export const strangerAmong = (work: Work, group: string, users: readonly string[]): Refused | undefined =>
  firstMisfit(work, group, users, () => true)

const firstMisfit = (
  work: Work,
  group: string,
  users: readonly string[],
  canHaveLeft: (user: string) => boolean,
): Refused | undefined => {
  for (const user of users) {
    const member = isId(user) ? work.get(members.key(group, user)) : undefined
    const code = misfitOf(member, canHaveLeft(user))
    if (code === 'member-unknown') return refuse(code, `${user} was never a member of group ${group}.`)
    if (code !== undefined) return leftGroup(user, group, member?.leftAt ?? '')
  }
  return undefined
}
