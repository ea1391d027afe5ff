import { compareText } from '../order.ts'
import { minorOf } from './money.ts'
import type { Minor, MemberBalance } from './items.ts'
import { zeroSumGroups } from './zero-sums.ts'

export interface Debt {
  readonly from: string
  readonly to: string
  readonly minor: bigint
}

/** The net balance of a member: paid − share + sent − received (E-d). Above zero if other members owe money to this member. */
export const netOf = ({ paid, share, sent, received }: MemberBalance): bigint =>
  minorOf(paid) - minorOf(share) + minorOf(sent) - minorOf(received)

/** `simplified` finds the fewest payments for at most this number of people with a balance other than zero, in about a millisecond. */
export const MOST_EXACT = 14

type Net = readonly [user: string, net: bigint]

const unsettled = (nets: ReadonlyMap<string, bigint>): readonly Net[] =>
  [...nets].filter(([, net]) => net !== 0n).sort(([a], [b]) => compareText(a, b))

/** True if more than MOST_EXACT people have a balance other than zero. Then the caller must pass the pairwise debts to `simplified`. */
export const needsPairs = (nets: ReadonlyMap<string, bigint>): boolean => unsettled(nets).length > MOST_EXACT

/**
 * Returns few payments after which nobody owes anything. For up to MOST_EXACT people, they are the fewest possible: the
 * people are divided into as many groups as possible whose balances sum up to zero, and a group of n people needs at most
 * n - 1 payments. More people are treated as one group. If that gives more payments than the pairwise debts (`pairs`),
 * returns the pairwise debts.
 */
export const simplified = (nets: ReadonlyMap<string, bigint>, pairs: readonly Debt[] = []): readonly Debt[] => {
  const people = unsettled(nets)
  if (people.length <= MOST_EXACT) {
    const groups = zeroSumGroups(people.map(([, net]) => net)).map((group) =>
      group.map((index) => people[index] as Net),
    )
    return groups.flatMap(paymentsInOrder).sort((a, b) => compareText(a.from, b.from) || compareText(a.to, b.to))
  }
  const debts = paymentsInOrder(people)
  return pairs.length > 0 && pairs.length < debts.length ? pairs : debts
}

/**
 * Returns payments that settle all debts of people whose balances sum up to zero. There are at most as many payments as people minus one. In
 * the order of their ids, each debtor pays the first creditors who are not paid completely. After one of these payments was made, the same
 * calculation returns the remaining payments unchanged.
 */
const paymentsInOrder = (people: readonly Net[]): readonly Debt[] => {
  const debtors = people.filter(([, net]) => net < 0n).map(([id, net]) => ({ id, left: -net }))
  const creditors = people.filter(([, net]) => net > 0n).map(([id, net]) => ({ id, left: net }))
  const debts: Debt[] = []
  let at = 0
  for (const debtor of debtors) {
    for (let creditor = creditors[at]; debtor.left > 0n && creditor !== undefined; creditor = creditors[at]) {
      const minor = debtor.left < creditor.left ? debtor.left : creditor.left
      debts.push({ from: debtor.id, to: creditor.id, minor })
      debtor.left -= minor
      creditor.left -= minor
      if (creditor.left === 0n) at += 1
    }
  }
  return debts
}

/** The debts between every two people. Debts in both directions are netted, so there is at most one debt per pair. */
export const pairwise = (
  credits: readonly { readonly payerId: string; readonly owed: { readonly [user: string]: Minor } }[],
): readonly Debt[] => {
  const pairs = new Map<string, { readonly first: string; readonly second: string; minor: bigint }>()
  for (const { payerId, owed } of credits) {
    for (const [user, minor] of Object.entries(owed)) {
      const [first, second] = payerId < user ? [payerId, user] : [user, payerId]
      const pair = pairs.get(`${first}\u0000${second}`) ?? { first, second, minor: 0n }
      pair.minor += payerId === first ? minorOf(minor) : -minorOf(minor)
      pairs.set(`${first}\u0000${second}`, pair)
    }
  }
  return [...pairs.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, pair]) => pair)
    .filter(({ minor }) => minor !== 0n)
    .map(({ first, second, minor }) =>
      minor > 0n ? { from: second, to: first, minor } : { from: first, to: second, minor: -minor },
    )
}
