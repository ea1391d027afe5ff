import type { Split, SplitType } from '../../schemas/generated/expenses.ts'
import { decimalText, minorFrom } from '../../projections/expenses/money.ts'
import { MOST_BENEFICIARIES } from '../../projections/expenses/rules.ts'
import { divided } from '../../projections/expenses/splits.ts'
import { mistake, type Mistake, type Problem } from '../http/problem.ts'
import { moneySchema, partIn, type Currency } from './amounts.ts'
import { idSchema } from './params.ts'

export const splitsSchema = {
  type: 'array',
  minItems: 1,
  maxItems: 200,
  description: 'The part of each person. Default for an equal split: every active member.',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['userId'],
    properties: {
      userId: idSchema,
      amount: { ...moneySchema, description: 'Required for an exact split. The parts sum up to the amount.' },
      percentage: {
        type: 'number',
        minimum: 0,
        maximum: 100,
        description: 'Required for a split by percentage, with at most two decimals. They sum up to 100.',
      },
      shares: { type: 'integer', minimum: 1, maximum: 1_000_000, description: 'Required for a split by shares.' },
    },
  },
} as const

/** One person's part of an expense, as a request contains it. */
export interface SplitInput {
  readonly userId: string
  readonly amount?: number | string
  readonly percentage?: number
  readonly shares?: number
}

export interface Division {
  readonly expenseId: string
  readonly payerId: string
  readonly amountMinor: bigint
  readonly currency: Currency
  readonly splitType: SplitType
  readonly splits: readonly SplitInput[]
}

/** Returns the part of each person in minor units. The parts sum up to the amount (E-b). Throws a Problem if the splits do not allow this. */
export const splitOf = (division: Division): readonly Split[] => {
  demandShape(division)
  const { splitType, splits } = division
  if (splitType === 'equal')
    return weighed(
      division,
      splits.map(() => ({ weight: 1n, bp: null, shares: null })),
    )
  if (splitType === 'shares')
    return weighed(
      division,
      splits.map(({ shares = 0 }) => ({ weight: BigInt(shares), bp: null, shares })),
    )
  return splitType === 'exact' ? exactly(division) : byPercentage(division)
}

interface Weight extends Pick<Split, 'bp' | 'shares'> {
  readonly weight: bigint
}

const weighed = ({ amountMinor, splits, expenseId }: Division, weights: readonly Weight[]): readonly Split[] => {
  const parts = divided(
    amountMinor,
    weights.map(({ weight }) => weight),
    expenseId,
  )
  return splits.map(({ userId }, at) => ({
    userId,
    minor: parts[at] ?? 0n,
    bp: weights[at]?.bp ?? null,
    shares: weights[at]?.shares ?? null,
  }))
}

const exactly = ({ amountMinor, currency, splits }: Division): readonly Split[] => {
  const parts = splits.map(({ userId, amount = 0 }, at) => ({
    userId,
    minor: partIn(amount, currency, `/splits/${at}/amount`),
    bp: null,
    shares: null,
  }))
  const sum = parts.reduce((total, { minor }) => total + minor, 0n)
  if (sum !== amountMinor)
    throw mismatch(
      `the amounts sum up to ${decimalText(sum, currency.decimals)}, the expense is ${decimalText(amountMinor, currency.decimals)} ${currency.code}`,
    )
  return parts
}

const WHOLE_BP = 10_000n

const byPercentage = (division: Division): readonly Split[] => {
  const points = division.splits.map(({ percentage = 0 }, at) => {
    const bp = minorFrom(percentage, 2)
    if (bp === undefined)
      throw wrong({
        pointer: `/splits/${at}/percentage`,
        code: 'percentage-invalid',
        detail: 'it must have at most two decimals',
      })
    return bp
  })
  const sum = points.reduce((total, bp) => total + bp, 0n)
  if (sum !== WHOLE_BP) throw mismatch(`the percentages sum up to ${decimalText(sum, 2)}, not to 100`)
  return weighed(
    division,
    points.map((bp) => ({ weight: bp, bp: Number(bp), shares: null })),
  )
}

const mismatch = (why: string): Problem => wrong({ pointer: '/splits', code: 'splits-mismatch', detail: why })

const wrong = ({ pointer, code, detail }: Mistake): Problem =>
  mistake(400, { pointer, code, detail: `${pointer}: ${detail}.` })

const MEASURE: Readonly<Record<SplitType, 'amount' | 'percentage' | 'shares' | undefined>> = {
  equal: undefined,
  exact: 'amount',
  percentage: 'percentage',
  shares: 'shares',
}
const MEASURES = ['amount', 'percentage', 'shares'] as const

/** Throws if a person is named twice, if a part lacks the field of the split type or has a field of another type, or if too many people share. */
const demandShape = ({ splitType, splits, payerId }: Division): void => {
  const measure = MEASURE[splitType]
  const seen = new Set<string>()
  splits.forEach((split, at) => {
    if (seen.has(split.userId))
      throw wrong({
        pointer: `/splits/${at}/userId`,
        code: 'duplicate-entry',
        detail: `${split.userId} is named twice. Send one part per person`,
      })
    seen.add(split.userId)
    const unexpected = MEASURES.find((name) => name !== measure && split[name] !== undefined)
    if (unexpected !== undefined)
      throw wrong({
        pointer: `/splits/${at}/${unexpected}`,
        code: 'unknown-field',
        detail: `splitType ${splitType} does not use this field. Remove it, or send another splitType`,
      })
    if (measure !== undefined && split[measure] === undefined)
      throw wrong({
        pointer: `/splits/${at}/${measure}`,
        code: 'missing-field',
        detail: `splitType ${splitType} needs this field`,
      })
  })
  seen.delete(payerId)
  if (seen.size > MOST_BENEFICIARIES) {
    throw wrong({
      pointer: '/splits',
      code: 'too-many-beneficiaries',
      detail: `at most ${MOST_BENEFICIARIES} people besides the payer can share an expense, and this one names ${seen.size}. Record two expenses`,
    })
  }
}
