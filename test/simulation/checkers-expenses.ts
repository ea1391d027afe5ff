import { expenses } from '../../processors/expenses/domain.ts'
import { keyOf, type Item } from '../../projections/item.ts'
import { netOf, pairwise } from '../../projections/expenses/debts.ts'
import type { BalanceItem, CreditItem, DeletedExpenseItem, ExpenseItem, ExpenseNameItem, GroupItem, MemberItem, ParticipantItem, SettlementItem } from '../../projections/expenses/items.ts'
import { deletedExpenses, expenses as expenseItems, participants, received, transactions } from '../../projections/expenses/keys.ts'
import { minorOf } from '../../projections/expenses/money.ts'
import type { Event } from '../../schemas/event.ts'
import type { ExpensesEvent } from '../../schemas/generated/expenses.ts'
import { reckoned } from '../processors/expenses/reckoning.ts'
import type { Violation } from './checkers.ts'
import { createMembershipJudge } from './checkers-membership.ts'
import { expectedOf } from './reference.ts'
import type { Told } from './workload.ts'

type Wrong = (detail: string) => void
type Items = ReadonlyMap<string, Item>

/** What shared expenses promise of any log, told without their folds: of every event that was accepted, and of what is there in the end. */
export const checkExpenses = ({ topic, codec, rules }: Told): readonly Violation[] => {
  const details: string[] = []
  const wrong: Wrong = (detail) => void details.push(detail)
  const accepted: Event[] = []
  const membership = createMembershipJudge(wrong)
  const judge = createJudge(wrong, membership)
  const { items } = expectedOf({ domain: rules(expenses), codec, topic, watch: ({ event, result: { items: changes = [] } }) => {
    if (changes.length === 0) return
    judge(event as ExpensesEvent)
    membership.judge(event as ExpensesEvent)
    accepted.push(event)
    for (const change of changes) if (change.SK.startsWith('BALANCE#') && 'members' in change) checkZero(change as Item as BalanceItem, wrong)
  } })
  checkBalances(items, accepted, wrong)
  checkExpensesThere(items, wrong)
  checkSettlements(items, wrong)
  checkGroups(items, wrong)
  membership.compare(items.values())
  return details.map((detail) => ({ checker: 'expenses', detail }))
}

interface Known { payer: string; readonly recorder: string | null; revision: number; deleted: boolean }

/** The events that the checker accepts: an expense once; its next revision, by the payer, or by the recorder or the owner if they are members; its deletion and restore, by the payer; one outcome of a settlement. */
const createJudge = (wrong: Wrong, { ownerOf, isActive }: Pick<ReturnType<typeof createMembershipJudge>, 'ownerOf' | 'isActive'>) => {
  const expensesKnown = new Map<string, Known>()
  const settlements = new Map<string, 'pending' | 'completed' | 'failed'>()
  const ofExpense = (event: Extract<ExpensesEvent, { type: `Expense${string}` }>): boolean => {
    const { data: { expenseId }, meta } = event
    const known = expensesKnown.get(`${meta.key} ${expenseId}`)
    if (event.type === 'ExpenseRecorded') {
      expensesKnown.set(`${meta.key} ${expenseId}`, { payer: event.data.payerId, recorder: meta.actorId, revision: 1, deleted: false })
      return known === undefined
    }
    if (known === undefined || known.deleted !== (event.type === 'ExpenseRestored')) return false
    const isEditor = event.type === 'ExpenseRevised' && [known.recorder, ownerOf(meta.key)].includes(meta.actorId) && isActive(meta.key, meta.actorId)
    if (meta.actorId !== known.payer && !isEditor) return false
    if (event.type !== 'ExpenseRevised') {
      known.deleted = !known.deleted
      return true
    }
    const isNext = event.data.revision === known.revision + 1
    Object.assign(known, { payer: event.data.payerId, revision: event.data.revision })
    return isNext
  }
  const ofSettlement = ({ type, data: { settlementId }, meta }: Extract<ExpensesEvent, { type: `Settlement${string}` }>): boolean => {
    const id = `${meta.key} ${settlementId}`
    const before = settlements.get(id)
    settlements.set(id, type === 'SettlementProposed' ? 'pending' : type === 'SettlementConfirmed' ? 'completed' : 'failed')
    return before === (type === 'SettlementProposed' ? undefined : 'pending')
  }
  return (event: ExpensesEvent) => {
    const isExpense = event.type === 'ExpenseRecorded' || event.type === 'ExpenseRevised' || event.type === 'ExpenseDeleted' || event.type === 'ExpenseRestored'
    const isSettlement = event.type === 'SettlementProposed' || event.type === 'SettlementConfirmed' || event.type === 'SettlementFailed'
    if ((isExpense && !ofExpense(event)) || (isSettlement && !ofSettlement(event))) wrong(`${event.meta.eventId} (${event.type}) was accepted`)
  }
}

const checkZero = ({ PK, SK, members }: BalanceItem, wrong: Wrong) => {
  const sum = Object.values(members).reduce((total, standing) => total + netOf(standing), 0n)
  if (sum !== 0n) wrong(`${PK} ${SK} sums up to ${sum}`)
}

const of = <I extends Item>(items: Items, sk: string): readonly I[] => [...items.values()].filter(({ PK, SK }) => PK.startsWith('GROUP#') && SK.startsWith(sk)) as readonly Item[] as readonly I[]
const groupOf = ({ PK }: Item): string => PK.slice('GROUP#'.length)

/** Balances are what the surviving expenses and the completed settlements come to; who owes whom nets to them. */
const checkBalances = (items: Items, accepted: readonly Event[], wrong: Wrong) => {
  const wanted = reckoned(accepted)
  const there = new Set<string>()
  for (const balance of of<BalanceItem>(items, 'BALANCE#')) {
    const { PK, currency, members } = balance
    const nets = new Map<string, bigint>()
    for (const { from, to, minor } of pairwise(of<CreditItem>(items, `OWED#${currency}#`).filter((credit) => credit.PK === PK))) {
      nets.set(from, (nets.get(from) ?? 0n) - minor)
      nets.set(to, (nets.get(to) ?? 0n) + minor)
    }
    for (const [user, standing] of Object.entries(members)) {
      const name = `${groupOf(balance)} ${currency} ${user}`
      there.add(name)
      const { paid, share, sent, received } = wanted.get(name) ?? { paid: 0n, share: 0n, sent: 0n, received: 0n }
      if (minorOf(standing.paid) !== paid || minorOf(standing.share) !== share || minorOf(standing.sent) !== sent || minorOf(standing.received) !== received) wrong(`${name} is ${JSON.stringify(standing, plain)}, and comes to ${paid} ${share} ${sent} ${received}`)
      if ((nets.get(user) ?? 0n) !== netOf(standing)) wrong(`${name} is ${netOf(standing)}, and who owes whom nets to ${nets.get(user) ?? 0n}`)
    }
  }
  for (const name of wanted.keys()) if (!there.has(name)) wrong(`${name} has no balance`)
}

const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

/** Parts sum up, and those who owe have theirs; what is deleted has none. */
const checkExpensesThere = (items: Items, wrong: Wrong) => {
  const parts = new Set(of<ParticipantItem>(items, 'PART#').map(keyOf))
  for (const expense of of<ExpenseItem>(items, 'TX#')) {
    const { groupId, id, payerId, amountMinor, splits } = expense
    const sum = splits.reduce((total, split) => total + minorOf(split.amountMinor), 0n)
    if (sum !== minorOf(amountMinor)) wrong(`the parts of ${groupId} ${id} sum up to ${sum}, and it is ${amountMinor}`)
    for (const { userId, amountMinor: minor } of splits) if (userId !== payerId && minor !== 0 && !parts.delete(keyOf(participants.key(groupId, id, userId)))) wrong(`${userId} has no part of ${groupId} ${id}`)
  }
  for (const key of parts) wrong(`${key.replace('\u0000', ' ')} is a part of nothing`)
  const deleted = new Set(of<DeletedExpenseItem>(items, 'DELETED#').map(keyOf))
  for (const name of of<ExpenseNameItem>(items, 'EXPENSE#')) {
    const id = name.SK.slice('EXPENSE#'.length)
    const isThere = items.has(keyOf(expenseItems.key(groupOf(name), name.at, id)))
    if (name.state === 'deleted' && !deleted.delete(keyOf(deletedExpenses.key(groupOf(name), name.deletedAt, id)))) wrong(`${name.PK} ${name.SK} is deleted, and not among the deleted expenses`)
    if (isThere !== (name.state === 'present')) wrong(`${name.PK} ${name.SK} is ${name.state}, and the expense is ${isThere ? 'there' : 'not there'}`)
  }
  for (const key of deleted) wrong(`${key.replace('\u0000', ' ')} is no deleted expense`)
}

/** A transaction settles one, which claimed it; a receiver sees what the sender sees. */
const checkSettlements = (items: Items, wrong: Wrong) => {
  const settled = new Set<string>()
  for (const { groupId, id, toUserId, status, txHash } of of<SettlementItem>(items, 'SETTLE#')) {
    if (items.get(keyOf(received.key(groupId, id, toUserId)))?.['status'] !== status) wrong(`the receiver of ${groupId} ${id} does not see that it is ${status}`)
    if (status !== 'completed' || txHash === null) continue
    if (settled.has(txHash)) wrong(`${txHash} settles ${groupId} ${id} and another`)
    settled.add(txHash)
    if (items.get(keyOf(transactions.key(txHash)))?.['settlementId'] !== id) wrong(`${groupId} ${id} is settled by ${txHash}, which it did not claim`)
  }
}

const checkGroups = (items: Items, wrong: Wrong) => {
  for (const { PK, memberCount } of of<GroupItem>(items, 'METADATA')) {
    const there = of<MemberItem>(items, 'USER#').filter((member) => member.PK === PK && member.leftAt === undefined).length
    if (there !== memberCount) wrong(`${PK} counts ${memberCount} members, and there are ${there}`)
  }
}
