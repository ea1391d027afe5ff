import type { MemberBalance } from './items.ts'
import { plus } from './money.ts'

export type MemberBalances = { readonly [user: string]: MemberBalance }
/** Changes of balances. Unchanged sums are left out. */
export type Deltas = { readonly [user: string]: Partial<MemberBalance> }

export const ZERO_BALANCE: MemberBalance = { paid: 0, share: 0, sent: 0, received: 0 }

/** The balances after a change. A member whose sums are all zero has no balance. */
export const memberBalancesAfter = (balances: MemberBalances, deltas: Deltas): MemberBalances => {
  const after: { [user: string]: MemberBalance } = { ...balances }
  for (const [user, delta] of Object.entries(deltas)) {
    const balance = added(Object.hasOwn(after, user) ? (after[user] ?? ZERO_BALANCE) : ZERO_BALANCE, delta)
    if (balance.paid !== 0 || balance.share !== 0 || balance.sent !== 0 || balance.received !== 0) after[user] = balance
    else delete after[user]
  }
  return after
}

const added = ({ paid, share, sent, received }: MemberBalance, delta: Partial<MemberBalance>): MemberBalance => ({
  paid: plus(paid, delta.paid ?? 0),
  share: plus(share, delta.share ?? 0),
  sent: plus(sent, delta.sent ?? 0),
  received: plus(received, delta.received ?? 0),
})
