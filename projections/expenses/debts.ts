import { minorOf } from './money.ts'
import type { Minor, Standing } from './items.ts'

export interface Debt {
  readonly from: string
  readonly to: string
  readonly minor: bigint
}

/** Paid − share + sent − received (E-d). */
export const netOf = ({ paid, share, sent, received }: Standing): bigint => minorOf(paid) - minorOf(share) + minorOf(sent) - minorOf(received)

/**
 * At most one transfer less than there are people, from debtors to creditors only. Both are laid side by side in the order of their ids,
 * and each pays whom they lie beside: paying any one suggestion takes the same stretch out of both sides, so that the others stay as they
 * were, where always matching the largest would reshuffle them.
 */
export const simplified = (nets: ReadonlyMap<string, bigint>): readonly Debt[] => {
  const sides = [...nets].sort(([a], [b]) => (a < b ? -1 : 1))
  const debtors = sides.filter(([, net]) => net < 0n).map(([id, net]) => ({ id, left: -net }))
  const creditors = sides.filter(([, net]) => net > 0n).map(([id, net]) => ({ id, left: net }))
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

/** Who owes whom by what they really shared, each pair netted. */
export const pairwise = (credits: readonly { readonly payerId: string; readonly owed: { readonly [user: string]: Minor } }[]): readonly Debt[] => {
  const pairs = new Map<string, { readonly one: string; readonly other: string; minor: bigint }>()
  for (const { payerId, owed } of credits) {
    for (const [user, minor] of Object.entries(owed)) {
      const [one, other] = payerId < user ? [payerId, user] : [user, payerId]
      const pair = pairs.get(`${one}\u0000${other}`) ?? { one, other, minor: 0n }
      pair.minor += payerId === one ? minorOf(minor) : -minorOf(minor)
      pairs.set(`${one}\u0000${other}`, pair)
    }
  }
  return [...pairs.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pair]) => pair).filter(({ minor }) => minor !== 0n)
    .map(({ one, other, minor }) => (minor > 0n ? { from: other, to: one, minor } : { from: one, to: other, minor: -minor }))
}
