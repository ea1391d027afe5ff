import { expenses } from '../../processors/expenses/domain.ts'
import { keyOf, type Item } from '../../projections/item.ts'
import { netOf, pairwise } from '../../projections/expenses/debts.ts'
import type {
  BalanceItem,
  CreditItem,
  DeletedExpenseItem,
  ExpenseItem,
  ExpenseNameItem,
  GroupItem,
  MemberItem,
  ParticipantItem,
  SettlementItem,
} from '../../projections/expenses/items.ts'
import {
  deletedExpenses,
  expenses as expenseItems,
  participants,
  received,
  transactions,
} from '../../projections/expenses/keys.ts'
import { minorOf } from '../../projections/expenses/money.ts'
import type { Event } from '../../schemas/event.ts'
import type { ExpensesEvent } from '../../schemas/generated/expenses.ts'
import { sumAccepted } from './member-sums.ts'
import type { Violation } from '../../simulation/checkers.ts'
import { createMembershipChecker } from './checkers-membership.ts'
import { expectedOf } from '../../simulation/reference.ts'
import type { CheckInput } from '../../simulation/workload.ts'

type Wrong = (detail: string) => void
type Items = ReadonlyMap<string, Item>

/** Checks the invariants of shared expenses for a log: each accepted event, and the items at the end. The invariants use no code of the folds. */
export const checkExpenses = ({ topic, codec, rules }: CheckInput): readonly Violation[] => {
  const details: string[] = []
  const wrong: Wrong = (detail) => void details.push(detail)
  const accepted: Event[] = []
  const membership = createMembershipChecker(wrong)
  const checkAccepted = createAcceptanceChecker(wrong, membership)
  const { items } = expectedOf({
    domain: rules(expenses),
    codec,
    topic,
    watch: ({ event, result: { items: changes = [] } }) => {
      if (changes.length === 0) return
      checkAccepted(event as ExpensesEvent)
      membership.check(event as ExpensesEvent)
      accepted.push(event)
      for (const change of changes)
        if (change.SK.startsWith('BALANCE#') && 'members' in change) checkZero(change as Item as BalanceItem, wrong)
    },
  })
  checkBalances(items, accepted, wrong)
  checkExpenseItems(items, wrong)
  checkSettlements(items, wrong)
  checkGroups(items, wrong)
  membership.compare(items.values())
  return details.map((detail) => ({ checker: 'domain', detail }))
}

interface ExpenseState {
  payer: string
  readonly recorder: string | null
  revision: number
  deleted: boolean
}

/**
 * Reports an accepted event that should have been refused. An expense is recorded once. Its next revision comes from the payer, or from
 * the recorder or the group owner if they are members. Only the payer deletes and restores the expense. A settlement ends once.
 */
const createAcceptanceChecker = (
  wrong: Wrong,
  { ownerOf, isActive }: Pick<ReturnType<typeof createMembershipChecker>, 'ownerOf' | 'isActive'>,
) => {
  const expenseStates = new Map<string, ExpenseState>()
  const settlements = new Map<string, 'pending' | 'completed' | 'failed'>()
  const ofExpense = (event: Extract<ExpensesEvent, { type: `Expense${string}` }>): boolean => {
    const {
      data: { expenseId },
      meta,
    } = event
    const state = expenseStates.get(`${meta.key} ${expenseId}`)
    if (event.type === 'ExpenseRecorded') {
      expenseStates.set(`${meta.key} ${expenseId}`, {
        payer: event.data.payerId,
        recorder: meta.actorId,
        revision: 1,
        deleted: false,
      })
      return state === undefined
    }
    if (state === undefined || state.deleted !== (event.type === 'ExpenseRestored')) return false
    const isEditor =
      event.type === 'ExpenseRevised' &&
      [state.recorder, ownerOf(meta.key)].includes(meta.actorId) &&
      isActive(meta.key, meta.actorId)
    if (meta.actorId !== state.payer && !isEditor) return false
    if (event.type !== 'ExpenseRevised') {
      state.deleted = !state.deleted
      return true
    }
    const isNext = event.data.revision === state.revision + 1
    Object.assign(state, { payer: event.data.payerId, revision: event.data.revision })
    return isNext
  }
  const ofSettlement = ({
    type,
    data: { settlementId },
    meta,
  }: Extract<ExpensesEvent, { type: `Settlement${string}` }>): boolean => {
    const id = `${meta.key} ${settlementId}`
    const before = settlements.get(id)
    settlements.set(
      id,
      type === 'SettlementProposed' ? 'pending' : type === 'SettlementConfirmed' ? 'completed' : 'failed',
    )
    return before === (type === 'SettlementProposed' ? undefined : 'pending')
  }
  return (event: ExpensesEvent) => {
    const isExpense =
      event.type === 'ExpenseRecorded' ||
      event.type === 'ExpenseRevised' ||
      event.type === 'ExpenseDeleted' ||
      event.type === 'ExpenseRestored'
    const isSettlement =
      event.type === 'SettlementProposed' || event.type === 'SettlementConfirmed' || event.type === 'SettlementFailed'
    if ((isExpense && !ofExpense(event)) || (isSettlement && !ofSettlement(event)))
      wrong(`${event.meta.eventId} (${event.type}) was accepted`)
  }
}

const checkZero = ({ PK, SK, members }: BalanceItem, wrong: Wrong) => {
  const sum = Object.values(members).reduce((total, sums) => total + netOf(sums), 0n)
  if (sum !== 0n) wrong(`${PK} ${SK} sums up to ${sum}`)
}

const of = <I extends Item>(items: Items, sk: string): readonly I[] =>
  [...items.values()].filter(
    ({ PK, SK }) => PK.startsWith('GROUP#') && SK.startsWith(sk),
  ) as readonly Item[] as readonly I[]
const groupOf = ({ PK }: Item): string => PK.slice('GROUP#'.length)

/**
 * Checks that each balance equals the sums of the existing expenses and the completed settlements. The net of a balance must also equal the
 * debts of others to the user minus the debts of the user to others.
 */
const checkBalances = (items: Items, accepted: readonly Event[], wrong: Wrong) => {
  const wanted = sumAccepted(accepted)
  const found = new Set<string>()
  for (const balance of of<BalanceItem>(items, 'BALANCE#')) {
    const { PK, currency, members } = balance
    const nets = new Map<string, bigint>()
    for (const { from, to, minor } of pairwise(
      of<CreditItem>(items, `OWED#${currency}#`).filter((credit) => credit.PK === PK),
    )) {
      nets.set(from, (nets.get(from) ?? 0n) - minor)
      nets.set(to, (nets.get(to) ?? 0n) + minor)
    }
    for (const [user, sums] of Object.entries(members)) {
      const name = `${groupOf(balance)} ${currency} ${user}`
      found.add(name)
      const { paid, share, sent, received } = wanted.get(name) ?? { paid: 0n, share: 0n, sent: 0n, received: 0n }
      if (
        minorOf(sums.paid) !== paid ||
        minorOf(sums.share) !== share ||
        minorOf(sums.sent) !== sent ||
        minorOf(sums.received) !== received
      )
        wrong(`${name} is ${JSON.stringify(sums, plain)}, and must be ${paid} ${share} ${sent} ${received}`)
      if ((nets.get(user) ?? 0n) !== netOf(sums))
        wrong(`${name} is ${netOf(sums)}, and the debts net to ${nets.get(user) ?? 0n}`)
    }
  }
  for (const name of wanted.keys()) if (!found.has(name)) wrong(`${name} has no balance`)
}

const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

/**
 * Checks that the parts of an expense sum up to its amount. Each user with a part, except the payer, must have a `PART#` item. A deleted
 * expense must not have such an item.
 */
const checkExpenseItems = (items: Items, wrong: Wrong) => {
  const parts = new Set(of<ParticipantItem>(items, 'PART#').map(keyOf))
  for (const expense of of<ExpenseItem>(items, 'TX#')) {
    const { groupId, id, payerId, amountMinor, splits } = expense
    const sum = splits.reduce((total, split) => total + minorOf(split.amountMinor), 0n)
    if (sum !== minorOf(amountMinor)) wrong(`the parts of ${groupId} ${id} sum up to ${sum}, and it is ${amountMinor}`)
    for (const { userId, amountMinor: minor } of splits)
      if (userId !== payerId && minor !== 0 && !parts.delete(keyOf(participants.key(groupId, id, userId))))
        wrong(`${userId} has no part of ${groupId} ${id}`)
  }
  for (const key of parts) wrong(`${key.replace('\u0000', ' ')} is a part without an expense`)
  const deleted = new Set(of<DeletedExpenseItem>(items, 'DELETED#').map(keyOf))
  for (const name of of<ExpenseNameItem>(items, 'EXPENSE#')) {
    const id = name.SK.slice('EXPENSE#'.length)
    const exists = items.has(keyOf(expenseItems.key(groupOf(name), name.at, id)))
    if (name.state === 'deleted' && !deleted.delete(keyOf(deletedExpenses.key(groupOf(name), name.deletedAt, id))))
      wrong(`${name.PK} ${name.SK} is deleted, and has no item in the list of deleted expenses`)
    if (exists !== (name.state === 'present'))
      wrong(`${name.PK} ${name.SK} is ${name.state}, and its expense item ${exists ? 'exists' : 'is missing'}`)
  }
  for (const key of deleted) wrong(`${key.replace('\u0000', ' ')} is listed as deleted, and is not deleted`)
}

/** Checks that a transaction settles only the settlement that claimed it, and that the payee's copy of a settlement has the same status. */
const checkSettlements = (items: Items, wrong: Wrong) => {
  const settled = new Set<string>()
  for (const { groupId, id, toUserId, status, txHash } of of<SettlementItem>(items, 'SETTLE#')) {
    if (items.get(keyOf(received.key(groupId, id, toUserId)))?.['status'] !== status)
      wrong(`the item of the receiver of ${groupId} ${id} does not have the status ${status}`)
    if (status !== 'completed' || txHash === null) continue
    if (settled.has(txHash)) wrong(`${txHash} settles ${groupId} ${id} and another settlement`)
    settled.add(txHash)
    if (items.get(keyOf(transactions.key(txHash)))?.['settlementId'] !== id)
      wrong(`${groupId} ${id} is settled by ${txHash}, and has not claimed it`)
  }
}

const checkGroups = (items: Items, wrong: Wrong) => {
  for (const { PK, memberCount } of of<GroupItem>(items, 'METADATA')) {
    const found = of<MemberItem>(items, 'USER#').filter(
      (member) => member.PK === PK && member.leftAt === undefined,
    ).length
    if (found !== memberCount) wrong(`${PK} counts ${memberCount} members, and found are ${found}`)
  }
}
