import type { Event } from '../../schemas/event.ts'
import type { ExpensesEvent } from '../../schemas/generated/expenses.ts'

/** The sums that each member paid, shares, sent and received, by `group currency user`. This file shares no code with the folds. */
export type MemberSums = ReadonlyMap<string, { paid: bigint; share: bigint; sent: bigint; received: bigint }>

interface ExpenseState {
  payer: string
  currency: string
  amount: bigint
  parts: readonly (readonly [string, bigint])[]
  counts: boolean
}
interface SettlementState {
  from: string
  to: string
  currency: string
  amount: bigint
  counts: boolean
}

/** Adds up the last states of all expenses and settlements, without deleted expenses and unconfirmed settlements. */
export const sumAccepted = (accepted: readonly Event[]): MemberSums => {
  const expenses = new Map<string, ExpenseState>()
  const settlements = new Map<string, SettlementState>()
  for (const event of accepted as readonly ExpensesEvent[]) {
    const of = (id: string): string => `${event.meta.key} ${id}`
    if (event.type === 'ExpenseRecorded' || event.type === 'ExpenseRevised') {
      const { expenseId, payerId, currency, amountMinor, splits } = event.data
      expenses.set(of(expenseId), {
        payer: payerId,
        currency,
        amount: amountMinor,
        parts: splits.map(({ userId, minor }) => [userId, minor] as const),
        counts: true,
      })
    } else if (event.type === 'ExpenseDeleted' || event.type === 'ExpenseRestored') {
      const expense = expenses.get(of(event.data.expenseId))
      if (expense !== undefined) expense.counts = event.type === 'ExpenseRestored'
    } else if (event.type === 'SettlementProposed') {
      const { settlementId, fromUserId, toUserId, currency, amountMinor } = event.data
      settlements.set(of(settlementId), {
        from: fromUserId,
        to: toUserId,
        currency,
        amount: amountMinor,
        counts: false,
      })
    } else if (event.type === 'SettlementConfirmed') {
      const settlement = settlements.get(of(event.data.settlementId))
      if (settlement !== undefined) settlement.counts = true
    }
  }
  return sumsOf(expenses, settlements)
}

const sumsOf = (
  expenses: ReadonlyMap<string, ExpenseState>,
  settlements: ReadonlyMap<string, SettlementState>,
): MemberSums => {
  const sums = new Map<string, { paid: bigint; share: bigint; sent: bigint; received: bigint }>()
  const add = (name: string, user: string, side: 'paid' | 'share' | 'sent' | 'received', minor: bigint) => {
    const sum = sums.get(`${name} ${user}`) ?? { paid: 0n, share: 0n, sent: 0n, received: 0n }
    sum[side] += minor
    sums.set(`${name} ${user}`, sum)
  }
  for (const [id, { payer, currency, amount, parts, counts }] of expenses) {
    if (!counts) continue
    const name = `${id.split(' ')[0]} ${currency}`
    add(name, payer, 'paid', amount)
    for (const [user, minor] of parts) add(name, user, 'share', minor)
  }
  for (const [id, { from, to, currency, amount, counts }] of settlements) {
    if (!counts) continue
    const name = `${id.split(' ')[0]} ${currency}`
    add(name, from, 'sent', amount)
    add(name, to, 'received', amount)
  }
  for (const [name, { paid, share, sent, received }] of sums)
    if (paid + share + sent + received === 0n) sums.delete(name)
  return sums
}
