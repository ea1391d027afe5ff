import type { Split, SplitType } from '../../../schemas/generated/expenses.ts'
import type { Row } from '../../rows.ts'
import { field } from '../../rows.ts'
import { decimalText, minorFrom, minorNear } from '../money.ts'
import { divided } from '../splits.ts'

export interface Whole {
  readonly id: string
  readonly amountMinor: bigint
  readonly decimals: number
  readonly splitType: SplitType
}

/**
 * The part of one person in an expense. `exact`: the amount in the smallest unit; undefined if the row has no exact amount. `weight`: the
 * amount in millionths of the smallest unit. `percent`: in millionths of a percent.
 */
interface Part {
  readonly userId: string
  readonly exact: bigint | undefined
  readonly weight: bigint
  readonly percent: bigint | undefined
  readonly shares: number | null
}

const FINER = 6
const FINE = 10n ** BigInt(FINER)

/**
 * The splits of an expense that an older program computed in floats. If the parts sum up to the amount, they stay as
 * they are. If the difference is a rounding error, the amount is divided in the proportion of the parts (E-b). If the
 * difference is larger, returns the reason as text.
 */
export const oldSplits = (listed: readonly Row[], whole: Whole): readonly Split[] | string => {
  const parts = merged(listed.map((row) => partOf(row, whole, listed.length)))
  if (typeof parts === 'string') return parts
  if (parts.length === 0) return 'it has no splits'
  const minors = exactly(parts, whole) ?? nearly(parts, whole)
  if (typeof minors === 'string') return minors
  const points =
    whole.splitType === 'percentage'
      ? divided(
          10_000n,
          parts.map(({ percent }, at) => percent ?? (minors[at] ?? 0n) * FINE),
          whole.id,
        )
      : []
  return parts.map(({ userId, shares }, at) => ({
    userId,
    minor: minors[at] ?? 0n,
    bp: points[at] === undefined ? null : Number(points[at]),
    shares: whole.splitType === 'shares' ? shares : null,
  }))
}

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n)

const exactly = (parts: readonly Part[], { amountMinor }: Whole): readonly bigint[] | undefined => {
  const minors = parts.map(({ exact }) => exact ?? -1n)
  return minors.every((minor) => minor >= 0n) && sum(minors) === amountMinor ? minors : undefined
}

const nearly = (parts: readonly Part[], { amountMinor, decimals, id }: Whole): readonly bigint[] | string => {
  const weights = parts.map(({ weight }) => weight)
  const [total, count] = [sum(weights), BigInt(parts.length)]
  const off = total > amountMinor * FINE ? total - amountMinor * FINE : amountMinor * FINE - total
  // The allowed difference is the largest of three: one smallest unit per part; 0.01 of the currency, which the older
  // program accepted; half a percent of the amount per part, if every part has a percentage.
  const cents = decimals < 2 ? 0n : 10n ** BigInt(decimals - 2) * FINE
  const percents = parts.every(({ percent }) => percent !== undefined) ? (count * amountMinor * FINE) / 200n : 0n
  const allowed = [count * FINE, cents, percents].reduce((most, each) => (each > most ? each : most))
  if (off > allowed || total === 0n)
    return `its splits sum up to ${decimalText(total / FINE, decimals)}, its amount is ${decimalText(amountMinor, decimals)}`
  return divided(amountMinor, weights, id)
}

const partOf = (row: Row, { amountMinor, decimals, splitType }: Whole, count: number): Part | string => {
  const [userId, percentage, shares] = [idIn(row, 'userId'), field(row, 'percentage'), field(row, 'shares')]
  if (userId === undefined) return 'one of its splits names no user'
  const percent = typeof percentage === 'number' ? minorNear(percentage, FINER) : undefined
  const known = { userId, percent, shares: typeof shares === 'number' ? shares : null }
  const amount = amountOf(row, decimals)
  if (typeof amount === 'string' || (percent ?? 0n) < 0n) return `the split of ${userId} must be a number of at least 0`
  if (amount !== undefined) return { ...known, ...amount }
  if (splitType === 'percentage' && percent !== undefined)
    return { ...known, exact: undefined, weight: (amountMinor * percent) / 100n }
  return splitType === 'equal'
    ? { ...known, exact: undefined, weight: (amountMinor * FINE) / BigInt(count) }
    : `the split of ${userId} has no amount`
}

const amountOf = (row: Row, decimals: number): Pick<Part, 'exact' | 'weight'> | string | undefined => {
  const [minor, amount] = [field(row, 'amountMinor'), field(row, 'amount')]
  const given = minor ?? amount
  if (given === undefined) return undefined
  if (typeof given !== 'number' && typeof given !== 'string') return 'no amount'
  const places = minor === undefined ? decimals : 0
  const weight = minorNear(given, places + FINER)
  return weight === undefined || weight < 0n ? 'no amount' : { exact: minorFrom(given, places), weight }
}

/** Adds up the parts of a person who is named twice. If a part is a text (the reason why it is not valid), returns this text. */
const merged = (parts: readonly (Part | string)[]): readonly Part[] | string => {
  const byUser = new Map<string, Part>()
  for (const part of parts) {
    if (typeof part === 'string') return part
    const before = byUser.get(part.userId)
    byUser.set(
      part.userId,
      before === undefined
        ? part
        : {
            userId: part.userId,
            exact: before.exact === undefined || part.exact === undefined ? undefined : before.exact + part.exact,
            weight: before.weight + part.weight,
            percent:
              before.percent === undefined || part.percent === undefined ? undefined : before.percent + part.percent,
            shares: before.shares === null || part.shares === null ? null : before.shares + part.shares,
          },
    )
  }
  return [...byUser.values()]
}

/** The id in a field, as text. Old rows contain ids as text or as Telegram numbers. Undefined for any other value. */
export const idIn = (row: Row, name: string): string | undefined => {
  const value = field(row, name)
  if (typeof value === 'string' && value !== '') return value
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined
}
