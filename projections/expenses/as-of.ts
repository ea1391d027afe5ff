import { dateOf, dayNumberOf, isoOf, utcDateOf } from '../instant.ts'
import type { Reader } from '../table.ts'
import type { BalanceItem } from './items.ts'
import { balances, dayBalances, entries } from './keys.ts'
import { memberBalancesAfter, type MemberBalances } from './member-balances.ts'

export type PastBalance = Pick<BalanceItem, 'currency' | 'exponent' | 'members'>

/** A group's current balances, one per currency. */
export const balancesNow = (reader: Reader, group: string): Promise<readonly BalanceItem[]> =>
  balances.every(reader, group, { limit: 200 })

/** The balances at the end of a UTC day. A currency whose first change was later is absent. */
export const balancesOfDay = async (reader: Reader, group: string, day: string): Promise<readonly PastBalance[]> => {
  const then = (await balancesNow(reader, group)).map((balance) => balanceAtEndOf(reader, group, balance, day))
  return (await Promise.all(then)).filter((balance) => balance !== undefined)
}

/**
 * The balance at the end of a day: the current balance if it has not changed after that day, else the last stored
 * balance of that day or of an earlier day. Undefined if there was none.
 */
const balanceAtEndOf = async (
  reader: Reader,
  group: string,
  balance: BalanceItem,
  day: string,
): Promise<PastBalance | undefined> => {
  if (balance.changedAt.slice(0, 10) <= day) return balance
  const {
    items: [last],
  } = await dayBalances.page(reader, group, { under: balance.currency, from: '', to: day, reverse: true, limit: 1 })
  return last
}

/** The balances at an instant: the balances at the end of the previous UTC day, plus the movements from then to the instant. */
export const balancesAt = async (reader: Reader, group: string, ms: number): Promise<readonly PastBalance[]> => {
  const [at, day] = [isoOf(ms), utcDateOf(ms)]
  const dayBefore = dateOf((dayNumberOf(day) ?? 0) - 1)
  const now = await balancesNow(reader, group)
  if (now.every(({ changedAt }) => changedAt <= at)) return now
  // The key of an entry continues with `#` after the instant. `$` sorts after `#`, so the range contains all entries of the instant.
  const since = await entries.every(reader, group, { from: day, to: `${at}$`, limit: 500 })
  const then = now.map(async (balance): Promise<PastBalance | undefined> => {
    if (balance.changedAt <= at) return balance
    const start = await balanceAtEndOf(reader, group, balance, dayBefore)
    const moves = since.map(({ moved }) => moved?.[balance.currency]).filter((deltas) => deltas !== undefined)
    if (start === undefined && moves.length === 0) return undefined
    return {
      currency: balance.currency,
      exponent: balance.exponent,
      members: moves.reduce<MemberBalances>(memberBalancesAfter, start?.members ?? {}),
    }
  })
  return (await Promise.all(then)).filter((balance) => balance !== undefined)
}
