import { dateOf, dayNumberOf, isoOf, utcDateOf } from '../instant.ts'
import type { Reader } from '../table.ts'
import type { BalanceItem } from './items.ts'
import { balances, dayBalances, entries } from './keys.ts'
import { standingsAfter, type Standings } from './standings.ts'

export type BalanceThen = Pick<BalanceItem, 'currency' | 'exponent' | 'members'>

/** A group's balances now, one a currency. */
export const balancesNow = (reader: Reader, group: string): Promise<readonly BalanceItem[]> =>
  balances.every(reader, group, { limit: 200 })

/** As a UTC day left them: of each currency the last that changed on it or before; one that is younger is not there. */
export const balancesOfDay = async (reader: Reader, group: string, day: string): Promise<readonly BalanceThen[]> => {
  const then = (await balancesNow(reader, group)).map((balance) => leftBy(reader, group, balance, day))
  return (await Promise.all(then)).filter((balance) => balance !== undefined)
}

/** What is on the statement never changes any more, and is in order: what came before now, or before a later change, was all there is. */
const leftBy = async (reader: Reader, group: string, balance: BalanceItem, day: string): Promise<BalanceThen | undefined> => {
  if (balance.changedAt.slice(0, 10) <= day) return balance
  const { items: [last] } = await dayBalances.page(reader, group, { under: balance.currency, from: '', to: day, reverse: true, limit: 1 })
  return last
}

/** As they were at an instant: as the day before left them, with the lines of the statement since. */
export const balancesAt = async (reader: Reader, group: string, ms: number): Promise<readonly BalanceThen[]> => {
  const [at, day] = [isoOf(ms), utcDateOf(ms)]
  const dayBefore = dateOf((dayNumberOf(day) ?? 0) - 1)
  const now = await balancesNow(reader, group)
  if (now.every(({ changedAt }) => changedAt <= at)) return now
  // `$` comes right after the `#` behind the instant.
  const since = await entries.every(reader, group, { from: day, to: `${at}$`, limit: 500 })
  const then = now.map(async (balance): Promise<BalanceThen | undefined> => {
    if (balance.changedAt <= at) return balance
    const start = await leftBy(reader, group, balance, dayBefore)
    const moves = since.map(({ moved }) => moved?.[balance.currency]).filter((deltas) => deltas !== undefined)
    if (start === undefined && moves.length === 0) return undefined
    return { currency: balance.currency, exponent: balance.exponent, members: moves.reduce<Standings>(standingsAfter, start?.members ?? {}) }
  })
  return (await Promise.all(then)).filter((balance) => balance !== undefined)
}
