import type { Event } from '../../../schemas/event.ts'
import type { ExpensesEvent } from '../../../schemas/generated/expenses.ts'

/** What each paid, bears, sent and received: `group currency user` to four sums. Shares nothing with the folds, and begins anew every time. */
export type Reckoning = ReadonlyMap<string, { paid: bigint; share: bigint; sent: bigint; received: bigint }>

interface Spent { payer: string; currency: string; amount: bigint; parts: readonly (readonly [string, bigint])[]; counts: boolean }
interface Owed { from: string; to: string; currency: string; amount: bigint; counts: boolean }

/** From what was accepted, the last word on each expense and settlement; then the sum of those that count. */
export const reckoned = (accepted: readonly Event[]): Reckoning => {
  const spent = new Map<string, Spent>()
  const owed = new Map<string, Owed>()
  for (const event of accepted as readonly ExpensesEvent[]) {
    const of = (id: string): string => `${event.meta.key} ${id}`
    if (event.type === 'ExpenseRecorded' || event.type === 'ExpenseRevised') {
      const { expenseId, payerId, currency, amountMinor, splits } = event.data
      spent.set(of(expenseId), { payer: payerId, currency, amount: amountMinor, parts: splits.map(({ userId, minor }) => [userId, minor] as const), counts: true })
    } else if (event.type === 'ExpenseDeleted' || event.type === 'ExpenseRestored') {
      const one = spent.get(of(event.data.expenseId))
      if (one !== undefined) one.counts = event.type === 'ExpenseRestored'
    } else if (event.type === 'SettlementProposed') {
      const { settlementId, fromUserId, toUserId, currency, amountMinor } = event.data
      owed.set(of(settlementId), { from: fromUserId, to: toUserId, currency, amount: amountMinor, counts: false })
    } else if (event.type === 'SettlementConfirmed') {
      const one = owed.get(of(event.data.settlementId))
      if (one !== undefined) one.counts = true
    }
  }
  return sumsOf(spent, owed)
}

const sumsOf = (spent: ReadonlyMap<string, Spent>, owed: ReadonlyMap<string, Owed>): Reckoning => {
  const sums = new Map<string, { paid: bigint; share: bigint; sent: bigint; received: bigint }>()
  const add = (name: string, user: string, side: 'paid' | 'share' | 'sent' | 'received', minor: bigint) => {
    const sum = sums.get(`${name} ${user}`) ?? { paid: 0n, share: 0n, sent: 0n, received: 0n }
    sum[side] += minor
    sums.set(`${name} ${user}`, sum)
  }
  for (const [id, { payer, currency, amount, parts, counts }] of spent) {
    if (!counts) continue
    const name = `${id.split(' ')[0]} ${currency}`
    add(name, payer, 'paid', amount)
    for (const [user, minor] of parts) add(name, user, 'share', minor)
  }
  for (const [id, { from, to, currency, amount, counts }] of owed) {
    if (!counts) continue
    const name = `${id.split(' ')[0]} ${currency}`
    add(name, from, 'sent', amount)
    add(name, to, 'received', amount)
  }
  for (const [name, { paid, share, sent, received }] of sums) if (paid + share + sent + received === 0n) sums.delete(name)
  return sums
}
