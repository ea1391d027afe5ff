import type { XStatic } from 'typebox/schema'
import type { ExpenseRevisedData, SplitType } from '../../schemas/generated/expenses.ts'
import {
  paidAt,
  type ExpenseItem,
  type GroupItem,
  type MemberItem,
  type SplitValue,
} from '../../projections/expenses/items.ts'
import { decimalText } from '../../projections/expenses/money.ts'
import { isoOf } from '../../projections/instant.ts'
import { MAX_CHANGES } from '../../projections/projection.ts'
import { dateIn, instantOf } from '../http/instants.ts'
import { mistake } from '../http/problem.ts'
import type { Decision } from '../http/route.ts'
import { amountIn, currencyIn, currencySchema, moneySchema } from './amounts.ts'
import { event, idSchema, refused } from './params.ts'
import { demandMembers } from './person.ts'
import { splitOf, splitsSchema, type SplitInput } from './splits.ts'

const words = { type: 'string', minLength: 1, maxLength: 1_000, pattern: '\\S' } as const
const expenseProperties = {
  date: {
    type: 'string',
    maxLength: 40,
    description: 'When it was paid: RFC 3339 with its offset, or a day. Default: now.',
  },
  amount: moneySchema,
  description: words,
  currency: { ...currencySchema, description: 'Default: the currency of the group.' },
  payerId: { ...idSchema, description: 'Default: you.' },
  splitType: { type: 'string', enum: ['equal', 'exact', 'percentage', 'shares'], description: 'Default: equal.' },
  splits: splitsSchema,
  category: { type: ['string', 'null'], minLength: 1, maxLength: 64 },
} as const

export const newExpenseSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['amount', 'description'],
  properties: expenseProperties,
} as const

export const revisionSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['amount', 'description', 'revision'],
  properties: {
    ...expenseProperties,
    date: {
      ...expenseProperties.date,
      description: 'When it was paid: RFC 3339 with its offset, or a day. Default: the date stays.',
    },
    revision: {
      type: 'integer',
      minimum: 1,
      maximum: 1e9,
      description: 'The revision that you read. If it is not the current one, the request is refused.',
    },
    reason: { ...words, description: 'Why it is changed. The history shows it.' },
  },
} as const

export type NewExpense = XStatic<typeof newExpenseSchema>
export type Revision = XStatic<typeof revisionSchema>

/** The context of a request. `current` is the expense that an earlier attempt of the same request recorded, if there was one. */
export interface ExpenseContext {
  readonly group: GroupItem
  readonly members: readonly MemberItem[]
  readonly current?: ExpenseItem
  readonly user: string
  readonly now: number
}

export const expenseRecorded = (body: NewExpense, expenseId: string, around: ExpenseContext): Decision => {
  const spentAt = body.date === undefined ? around.now : parseDate(body.date)
  // A repeated request must get the same answer. So it is also valid if people whom it names have left the group since the first attempt.
  const known = around.current === undefined ? [] : peopleOf(around.current)
  const fields = bodyOf(body, {
    ...around,
    expenseId,
    defaults: { currency: around.group.currency, payerId: around.user },
    known,
  })
  return {
    key: around.group.id,
    id: expenseId,
    draft: event(
      'ExpenseRecorded',
      { expenseId, spentAt, ...fields, rowHash: null },
      { description: body.description },
    ),
  }
}

/** Returns the event of a revision. A field that is not in the body stays as it was. It can still name people who have left the group since then. */
export const expenseRevised = (body: Revision, current: ExpenseItem, around: ExpenseContext): Decision => {
  const input = {
    ...body,
    ...(body.splits === undefined && splitAsBefore(body.splitType ?? current.splitType, current)),
    category: body.category === undefined ? current.category : body.category,
  }
  const spentAt = body.date === undefined ? null : parseDate(body.date)
  const data: ExpenseRevisedData = {
    expenseId: current.id,
    revision: body.revision + 1,
    spentAt,
    ...bodyOf(input, { ...around, expenseId: current.id, defaults: current, known: peopleOf(current) }),
  }
  demandOneCommit(current, data)
  return {
    key: around.group.id,
    id: current.id,
    draft: event('ExpenseRevised', data, { description: body.description, reason: body.reason ?? null }),
  }
}

/** Throws if the revision changes the date and so many participants that the changes do not fit one commit. The fold would refuse this event, too. */
const demandOneCommit = (current: ExpenseItem, { spentAt, ...data }: ExpenseRevisedData): void => {
  if (spentAt === null || isoOf(spentAt) === paidAt(current)) return
  const sharing = new Set([
    ...current.splits
      .filter(({ userId, amountMinor }) => userId !== current.payerId && amountMinor !== 0)
      .map(({ userId }) => userId),
    ...data.splits.filter(({ userId, minor }) => userId !== data.payerId && minor !== 0n).map(({ userId }) => userId),
  ]).size
  const currencies = new Set([current.currency, data.currency]).size
  const credits = new Set([`${current.currency} ${current.payerId}`, `${data.currency} ${data.payerId}`]).size
  // 4 items: the expense at its old date, the expense at its new date, the item that locates the expense by id, and the history entry.
  // 2 items per currency: the current balance and the balance of an earlier day.
  if (sharing + 4 + 2 * currencies + credits <= MAX_CHANGES) return
  throw refused(
    'too-many-changes',
    '/date: a new date and so many other participants do not fit one change. Change the date first, and then the participants.',
    '/date',
  )
}

const DAY_LENGTH = '2026-11-16'.length

const parseDate = (date: string): number =>
  date.length === DAY_LENGTH ? Date.parse(dateIn(date, '/date')) : instantOf(date, '/date')

const peopleOf = ({ payerId, splits }: ExpenseItem): readonly string[] => [
  payerId,
  ...splits.map(({ userId }) => userId),
]

const splitAsBefore = (
  splitType: SplitType,
  current: ExpenseItem,
): { splitType: SplitType; splits: readonly SplitInput[] } => ({
  splitType,
  splits: current.splits.map((split) => ({
    userId: split.userId,
    ...(splitType === current.splitType && measureOf(split, current)),
  })),
})

const measureOf = (
  { amountMinor, percentage, shares }: SplitValue,
  { splitType, exponent }: ExpenseItem,
): Omit<SplitInput, 'userId'> => {
  if (splitType === 'exact') return { amount: decimalText(amountMinor, exponent) }
  return { ...(percentage !== undefined && { percentage }), ...(shares !== undefined && { shares }) }
}

interface ExpenseInput extends Omit<NewExpense, 'splits'> {
  readonly splits?: readonly SplitInput[]
}

interface InputContext extends ExpenseContext {
  readonly expenseId: string
  readonly defaults: { readonly currency: string; readonly payerId: string }
  /** The ids of the people whom the expense can name even if they have left the group. */
  readonly known: readonly string[]
}

const bodyOf = (body: ExpenseInput, { members, expenseId, defaults, known }: InputContext) => {
  const { payerId = defaults.payerId, splitType = 'equal', category = null } = body
  const currency = currencyIn(body.currency ?? defaults.currency, '/currency')
  const amountMinor = amountIn(body.amount, currency, '/amount')
  const splits = body.splits ?? everybody(splitType, members)
  const parts = splitOf({ expenseId, payerId, amountMinor, currency, splitType, splits })
  const people = [
    [payerId, '/payerId'],
    ...splits.map(({ userId }, at) => [userId, `/splits/${at}/userId`] as const),
  ] as const
  demandMembers(members, people, (user) => known.includes(user))
  return {
    payerId,
    amountMinor,
    currency: currency.code,
    exponent: currency.decimals,
    splitType,
    splits: parts,
    category,
  }
}

const everybody = (splitType: SplitType, members: readonly MemberItem[]): readonly SplitInput[] => {
  if (splitType !== 'equal')
    throw mistake(400, {
      pointer: '/splits',
      code: 'missing-field',
      detail: `/splits: splitType ${splitType} needs the splits. Send the part of each person.`,
    })
  return members.filter(({ leftAt }) => leftAt === undefined).map(({ id }) => ({ userId: id }))
}
