import type { Row } from '../../rows.ts'
import { isObject } from '../../../schemas/object.ts'
import { decimalsOf } from '../currencies.ts'
import { divided } from '../splits.ts'

/**
 * A group as the program Spliit exports it (src/app/groups/[groupId]/expenses/export/json of its repository). Amounts are
 * whole numbers of the smallest unit. If an amount cannot be divided evenly, the odd units are given to the same people
 * as in Spliit, so that the import changes nobody's balance.
 */
export interface SpliitGroup {
  readonly id: string
  readonly name: string
  readonly currency?: string
  readonly currencyCode?: string | null
  readonly participants: readonly unknown[]
  readonly expenses: readonly unknown[]
}

interface SpliitExpense {
  readonly id: string
  readonly createdAt?: string
  readonly expenseDate: string
  readonly title: string
  readonly category?: { readonly name?: string | null } | null
  readonly amount: number
  readonly paidById: string
  readonly paidFor: readonly { readonly participantId: string; readonly shares: number }[]
  readonly isReimbursement?: boolean
  readonly splitMode: 'EVENLY' | 'BY_SHARES' | 'BY_PERCENTAGE' | 'BY_AMOUNT'
  readonly notes?: string | null
}

export const isSpliit = (document: unknown): document is SpliitGroup =>
  isObject(document) &&
  typeof document['id'] === 'string' &&
  Array.isArray(document['participants']) &&
  Array.isArray(document['expenses']) &&
  document['PK'] === undefined

const isExpense = (value: unknown): value is SpliitExpense =>
  isObject(value) &&
  [value['id'], value['title'], value['paidById'], value['expenseDate']].every((text) => typeof text === 'string') &&
  Number.isSafeInteger(value['amount']) &&
  Object.hasOwn(TYPES, String(value['splitMode'])) &&
  Array.isArray(value['paidFor']) &&
  value['paidFor'].every(
    (paid) => isObject(paid) && typeof paid['participantId'] === 'string' && Number.isSafeInteger(paid['shares']),
  )

/** Adds a prefix, because an id of Spliit can begin with a character with which no id of this program can begin. */
const idOf = (id: string): string => `spliit:${id}`

/** Spliit stores amounts of these currencies without decimals. Amounts of other currencies, and of groups without a currency code, have two. */
const WHOLE = new Set(['JPY', 'HUF', 'ISK', 'IDR', 'KRW', 'VND', 'COP'])

export interface SpliitRow {
  /** The number of the expense, from 1. */
  readonly line: number
  readonly row: Row
}

/** The rows of a Spliit group. A row that cannot be imported has the reason in `unreadable`. `assumed`: the currency if the group names no code. */
export const spliitRows = (group: SpliitGroup, assumed: string | undefined): readonly SpliitRow[] => {
  const groupId = idOf(group.id)
  const code = typeof group.currencyCode === 'string' && group.currencyCode !== '' ? group.currencyCode : undefined
  const currency = code ?? assumed
  const decimals = decimalsOf(currency ?? '')
  if (currency === undefined || decimals === undefined) {
    return [
      {
        line: 1,
        row: {
          unreadable: `the group names ${currency === undefined ? `only the sign ${JSON.stringify(group.currency ?? '')}` : `the currency ${JSON.stringify(currency)}`}. Name the currency with --currency`,
        },
      },
    ]
  }
  const times = group.expenses
    .filter(isExpense)
    .flatMap(({ createdAt, expenseDate }) => [createdAt, expenseDate])
    .filter((at) => typeof at === 'string')
    .sort()
  const since = times[0] === undefined ? {} : { createdAt: times[0], joinedAt: times[0] }
  const people = group.participants.flatMap((person): readonly SpliitRow[] => {
    if (!isObject(person) || typeof person['id'] !== 'string' || typeof person['name'] !== 'string') return []
    return [{ line: 1, row: { kind: 'member', groupId, id: idOf(person['id']), name: person['name'], ...since } }]
  })
  const scale = { from: code !== undefined && WHOLE.has(code) ? 0 : 2, to: decimals }
  return [
    { line: 1, row: { kind: 'group', id: groupId, title: String(group.name).slice(0, 200), currency, ...since } },
    ...people,
    ...group.expenses.flatMap((expense, index) =>
      rowsOf(expense, { groupId, currency, scale }).map((row) => ({ line: index + 1, row })),
    ),
  ]
}

interface Within {
  readonly groupId: string
  readonly currency: string
  readonly scale: { readonly from: number; readonly to: number }
}

const rowsOf = (expense: unknown, within: Within): readonly Row[] => {
  if (!isExpense(expense)) return [{ unreadable: 'it does not have the fields of an expense' }]
  try {
    const rows =
      expense.isReimbursement === true
        ? reimbursement(expense, within)
        : expense.amount < 0
          ? income(expense, within)
          : [spending(expense, within)]
    // A payment to oneself changes no balance and gives no rows. Then the result is one row of the kind `derived`, which appends no event.
    return rows.length === 0 ? [{ kind: 'derived' }] : rows
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return [{ unreadable: `expense ${JSON.stringify(expense.id)}: ${error.message}` }]
  }
}

const common = (
  { createdAt, expenseDate, title, notes, category }: SpliitExpense,
  { groupId, currency, scale }: Within,
) => ({
  groupId,
  currency,
  exponent: scale.to,
  createdAt: createdAt ?? expenseDate,
  spentAt: expenseDate,
  description: typeof notes === 'string' && notes !== '' ? `${title}\n${notes}` : title,
  category: category?.name ?? null,
})

const spending = (expense: SpliitExpense, within: Within): Row => {
  const shares = sharesOf(expense, within)
  const weights = expense.splitMode === 'BY_SHARES' ? reduced(expense.paidFor.map((paid) => paid.shares)) : []
  const bySharer = new Map(
    expense.paidFor.map(({ participantId, shares: given }, at) => [
      participantId,
      { given, weight: weights[at] ?? null },
    ]),
  )
  return {
    ...common(expense, within),
    kind: 'expense',
    id: idOf(expense.id),
    payerId: idOf(expense.paidById),
    amountMinor: String(scaled(BigInt(expense.amount), within)),
    splitType: TYPES[expense.splitMode],
    splits: shares.map(([user, minor]) => ({
      userId: idOf(user),
      amountMinor: String(minor),
      ...(expense.splitMode === 'BY_PERCENTAGE' && { percentage: (bySharer.get(user)?.given ?? 0) / 100 }),
      ...(expense.splitMode === 'BY_SHARES' && { shares: bySharer.get(user)?.weight ?? null }),
    })),
  }
}

const TYPES = { EVENLY: 'equal', BY_SHARES: 'shares', BY_PERCENTAGE: 'percentage', BY_AMOUNT: 'exact' } as const

/** A reimbursement becomes one completed settlement per person whom it names, except the payer. An amount below zero reverses the direction. */
const reimbursement = (expense: SpliitExpense, within: Within): readonly Row[] => {
  const others = sharesOf(expense, within).filter(([user, minor]) => user !== expense.paidById && minor !== 0n)
  return others.map(([user, minor], at) => {
    const [from, to] = expense.amount > 0 ? [expense.paidById, user] : [user, expense.paidById]
    // A settlement has no day of payment: both of its times are the time at which it was recorded.
    const { description: _, category: __, spentAt: ___, ...rest } = common(expense, within)
    return {
      ...rest,
      kind: 'settlement',
      id: numbered(expense.id, others.length, at),
      fromUserId: idOf(from),
      toUserId: idOf(to),
      amountMinor: String(minor),
      status: 'completed',
      completedAt: rest.createdAt,
    }
  })
}

/**
 * An income (an amount below zero) becomes one expense per other person: this person pays their share of the income for
 * the person who received it. This gives everybody the same balance as in Spliit.
 */
const income = (expense: SpliitExpense, within: Within): readonly Row[] => {
  const others = sharesOf(expense, within).filter(([user, minor]) => user !== expense.paidById && minor !== 0n)
  return others.map(([user, minor], at) => ({
    ...common(expense, within),
    kind: 'expense',
    id: numbered(expense.id, others.length, at),
    payerId: idOf(user),
    amountMinor: String(minor),
    splitType: 'exact',
    splits: [{ userId: idOf(expense.paidById), amountMinor: String(minor) }],
  }))
}

const numbered = (id: string, count: number, at: number): string => (count === 1 ? idOf(id) : `${idOf(id)}.${at + 1}`)

/**
 * Divides the amount as Spliit's shares.ts does: people are sorted by id, the largest remainders get the odd units, and
 * a hash of the expense's id decides between equal remainders. Returns amounts without a sign. If the currency has fewer
 * decimals here than in Spliit, the amount is divided in the currency's own smallest unit.
 */
const sharesOf = (
  { id, amount, splitMode, paidFor }: SpliitExpense,
  within: Within,
): readonly (readonly [string, bigint])[] => {
  const sorted = [...paidFor].sort((a, b) => (a.participantId < b.participantId ? -1 : 1))
  const weights = sorted.map(({ shares }) => (splitMode === 'EVENLY' ? 1n : BigInt(shares)))
  const {
    scale: { from, to },
  } = within
  const parts =
    to < from
      ? divided(scaled(BigInt(amount), within), weights, id)
      : divided(BigInt(amount), weights, id).map((part) => scaled(part, within))
  return parts.map((part, at) => [sorted[at]?.participantId ?? '', part < 0n ? -part : part])
}

const scaled = (minor: bigint, { scale: { from, to } }: Within): bigint => {
  if (to >= from) return minor * 10n ** BigInt(to - from)
  const unit = 10n ** BigInt(from - to)
  if (minor % unit !== 0n) throw new RangeError('its amount has more decimals than the currency')
  return minor / unit
}

/** Divides the shares by their greatest common divisor: Spliit stores shares as hundredths, so 100 and 200 become 1 and 2. */
const reduced = (shares: readonly number[]): readonly number[] => {
  const divisor = shares.reduce(gcd, 0)
  return shares.map((share) => (divisor === 0 ? share : share / divisor))
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b))
