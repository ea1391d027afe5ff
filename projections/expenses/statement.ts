import type { Item } from '../item.ts'
import { isObject } from '../../schemas/object.ts'
import type { Change, Lines, ItemFormatter } from '../item-formatter.ts'
import { netOf } from './debts.ts'
import type { BalanceItem, EntryItem, MemberItem, MemberBalance } from './items.ts'
import { balances, entries, members } from './keys.ts'
import { decimalText } from './money.ts'

/**
 * Formats a balance like a bank statement: each entry with its payer and purpose, the change of each member's balance,
 * and the member's balance after the entry.
 */
export const balanceFormatter: ItemFormatter = {
  sk: balances.prefix,
  head: ['date', 'what', 'amount', 'member', 'change', 'balance'],
  numbers: ['amount', 'change', 'balance'],
  begin: ({ PK, SK }) => {
    const names = new Map<string, string>()
    let last: BalanceItem | undefined
    return {
      lines(changes) {
        for (const { SK: sk, after } of changes)
          if (sk.startsWith(members.prefix) && after !== undefined)
            names.set(sk.slice(members.prefix.length), (after as Item as MemberItem).name ?? '(forgotten)')
        const change = changes.find((each) => each.PK === PK && each.SK === SK)
        if (change?.after === undefined) return []
        last = change.after as Item as BalanceItem
        return linesOf(change, entryIn(changes), names)
      },
      end() {
        if (last === undefined) return []
        const { currency, exponent, members } = last
        const nets = Object.entries(members)
          .map(([user, balance]) => ({ user, net: netOf(balance) }))
          .filter(({ net }) => net !== 0n)
        const sum = nets.reduce((total, { net }) => total + net, 0n)
        const each = nets
          .sort((a, b) => Number(b.net > a.net) - Number(b.net < a.net))
          .map(({ user, net }) => `${names.get(user) ?? user} ${signed(net, exponent)}`)
        return [
          each.length === 0
            ? `Everybody is settled in ${currency}.`
            : `${currency}: ${each.join(', ')}; together ${decimalText(sum, exponent)}.`,
        ]
      },
    }
  },
}

const entryIn = (changes: readonly Change[]): EntryItem | undefined =>
  changes.find(({ SK, after }) => SK.startsWith(entries.prefix) && isObject(after))?.after as EntryItem | undefined

const NOBODY: MemberBalance = { paid: 0, share: 0, sent: 0, received: 0 }

const linesOf = (
  { before, after }: Change,
  entry: EntryItem | undefined,
  names: ReadonlyMap<string, string>,
): Lines => {
  const [earlier, later] = [before as BalanceItem | undefined, after as Item as BalanceItem]
  const balanceOf = (balance: BalanceItem | undefined, user: string): MemberBalance =>
    balance !== undefined && Object.hasOwn(balance.members, user) ? (balance.members[user] ?? NOBODY) : NOBODY
  const users = [...new Set([...Object.keys(earlier?.members ?? {}), ...Object.keys(later.members)])]
  const moved = users
    .flatMap((user) => {
      const [then, now] = [balanceOf(earlier, user), balanceOf(later, user)]
      const same = (Object.keys(NOBODY) as (keyof MemberBalance)[]).every(
        (side) => BigInt(then[side]) === BigInt(now[side]),
      )
      return same ? [] : [{ user, change: netOf(now) - netOf(then), net: netOf(now) }]
    })
    .sort((a, b) => Number(b.change > a.change) - Number(b.change < a.change) || (a.user < b.user ? -1 : 1))
  const head = [
    later.changedAt.slice(0, 16).replace('T', ' '),
    describeEntry(entry, (user) => names.get(user) ?? user),
    amountOf(entry, later),
  ]
  return moved.map(({ user, change, net }, at) => [
    ...(at === 0 ? head : ['', '', '']),
    names.get(user) ?? user,
    signed(change, later.exponent),
    decimalText(net, later.exponent),
  ])
}

const signed = (minor: bigint, decimals: number): string => `${minor > 0n ? '+' : ''}${decimalText(minor, decimals)}`

const amountOf = (entry: EntryItem | undefined, { currency }: BalanceItem): string =>
  entry?.amountMinor === undefined
    ? ''
    : `${decimalText(entry.amountMinor, entry.exponent ?? 0)}${entry.currency === currency ? '' : ` ${entry.currency}`}`

const LONG = 60
const brief = (words: string): string => {
  const line = words.replace(/\s+/g, ' ')
  return line.length > LONG ? `${line.slice(0, LONG)}…` : line
}

const describeEntry = (entry: EntryItem | undefined, nameOf: (user: string) => string): string => {
  if (entry === undefined) return ''
  const { kind, subjectId, fromId, by, after, reason } = entry
  const words = brief(entry.description ?? '(forgotten)')
  if (kind === 'settlement-confirmed') return `${nameOf(fromId ?? by ?? '?')} paid ${nameOf(subjectId ?? '?')} back`
  if (kind === 'expense-recorded') return `${nameOf(after?.payerId ?? by ?? '?')} paid: ${words}`
  const how =
    { 'expense-revised': 'changed', 'expense-deleted': 'deleted', 'expense-restored': 'restored' }[kind as string] ??
    kind
  return `${how}${by === null ? '' : ` by ${nameOf(by)}`}: ${words}${reason ? ` (${brief(reason)})` : ''}`
}
