import { expenses } from '../../processors/expenses/domain.ts'
import { openCodec } from '../../schemas/codec.ts'
import type { Event } from '../../schemas/event.ts'
import type { Random } from '../../simulation/random.ts'
import { checkExpenses } from './checkers.ts'
import {
  createEventFactory,
  assignToClients,
  tagTexts,
  type EventDraft,
  type Workload,
} from '../../simulation/workload.ts'
import { requestOf } from '../../simulation/workload-toy.ts'
import {
  drawGroupEvent,
  drawGuestEvent,
  drawMemberEvent,
  drawOwnerEvent,
  openingEvents,
  guestVisit,
} from './workload-members.ts'
import { USERS, type GroupDraft, type DrawContext } from './workload-context.ts'

const GROUPS = ['trip', 'home']
const HASHES = ['ab'.repeat(16), 'cd'.repeat(16)]
const MONEY = [
  { currency: 'EUR', exponent: 2 },
  { currency: 'EUR', exponent: 2 },
  { currency: 'TON', exponent: 9 },
]

const codec = openCodec()

/**
 * Generates random events for one or two groups. They contain few different ids and transaction hashes, so that many events are about the
 * same item. Some edits come from people who are not allowed to edit.
 */
export const expensesWorkload = (random: Random, length: number): Workload => {
  const factory = createEventFactory(random)
  const groups: readonly GroupDraft[] = GROUPS.slice(0, random.between(1, 2)).map((group) => ({
    group,
    expenses: [],
    settlements: [],
    invitations: [],
  }))
  const events: Event[] = []
  const add = ({ personal, ...rest }: EventDraft) =>
    void events.push(factory.create({ ...rest, ...(personal ? { personal: tagTexts(personal, events.length) } : {}) }))
  for (const draft of groups) openingEvents({ ...draft, random, now: factory.now() }).forEach(add)
  for (const draft of groups) if (random.chance(0.4)) guestVisit({ ...draft, random, now: factory.now() }).forEach(add)
  while (events.length < length + groups.length * USERS.length)
    add({ request: requestOf(random), ...drawEvent({ ...random.pick(groups), random, now: factory.now() }) })
  const isSealed = random.chance(0.5)
  const subjectsToForget = isSealed && random.chance(0.6) ? USERS.slice(0, random.between(1, 2)) : []
  const keys = [...groups.map(({ group }) => group), ...HASHES.map((hash) => `tx:${hash}`)]
  // While a key is parked, its PersonForgotten waits. So if this run forgets people, no key gets an unreadable record, which parks it forever.
  const clients = assignToClients(random, { events, keys, ...(subjectsToForget.length > 0 ? { poisoned: [] } : {}) })
  return {
    domain: expenses,
    codec,
    clients,
    hasOutgoingEvents: true,
    users: [],
    subjectsToForget,
    check: checkExpenses,
    ...(isSealed ? { isSealed } : {}),
  }
}

const drawEvent = (context: DrawContext): EventDraft => {
  const { random } = context
  const draw = random.next()
  if (draw < 0.3) return recordExpense(context)
  if (draw < 0.44) return reviseExpense(context)
  if (draw < 0.53) return drawPayerEvent(context, 'ExpenseDeleted')
  if (draw < 0.61) return drawPayerEvent(context, 'ExpenseRestored')
  if (draw < 0.7) return proposeSettlement(context)
  if (draw < 0.79) return endSettlement(context)
  if (draw < 0.85) return claimTransaction(context)
  if (draw < 0.88) return drawMemberEvent(context)
  if (draw < 0.94) return drawGuestEvent(context)
  return draw < 0.97 ? drawOwnerEvent(context) : drawGroupEvent(context)
}

/** Returns the data of a random expense that some users share. In a few events the amount is not the sum of the parts. */
const drawExpense = ({ random }: DrawContext, payerId: string) => {
  const sharing = USERS.filter(() => random.chance(0.7))
  const splits = (sharing.length > 0 ? sharing : [payerId]).map((userId) => ({
    userId,
    minor: BigInt(random.pick([0, 1, 333, 1000, 2_500_000_000])),
    bp: null,
    shares: null,
  }))
  const sum = splits.reduce((total, { minor }) => total + minor, 0n)
  return {
    payerId,
    amountMinor: random.chance(0.04) ? sum + 1n : sum,
    ...random.pick(MONEY),
    splitType: 'exact',
    splits,
    category: random.pick([null, 'food']),
  }
}

const recordExpense = (context: DrawContext): EventDraft => {
  const { random, group: key, expenses: drafted, now } = context
  const payer = random.pick(USERS)
  // Sometimes repeats an expense, like a client that received no answer.
  const isRepeated = drafted.length > 0 && random.chance(0.1)
  const id = isRepeated ? random.pick(drafted).id : `${key}-e${drafted.length}`
  if (!isRepeated) drafted.push({ id, payer, revision: 1 })
  const by = random.pick(USERS)
  return {
    type: 'ExpenseRecorded',
    key,
    by,
    data: {
      expenseId: id,
      spentAt: now - random.between(0, 2) * 86_400_000,
      ...drawExpense(context, payer),
      rowHash: null,
    },
    personal: { description: 'soup' },
  }
}

/** Returns an event that revises an expense, mostly by its payer, and mostly with the next revision number. */
const reviseExpense = (context: DrawContext): EventDraft => {
  const { random, group: key, expenses: drafted, now } = context
  if (drafted.length === 0) return recordExpense(context)
  const expense = random.pick(drafted)
  const by = random.chance(0.85) ? expense.payer : random.pick(USERS)
  const payer = random.chance(0.8) ? expense.payer : random.pick(USERS)
  const revision = expense.revision + random.pick([1, 1, 1, 1, 0, 2])
  Object.assign(expense, { payer, revision })
  return {
    type: 'ExpenseRevised',
    key,
    by,
    data: {
      expenseId: expense.id,
      revision,
      spentAt: random.chance(0.3) ? now - random.between(0, 2) * 86_400_000 : null,
      ...drawExpense(context, payer),
    },
    personal: { description: 'stew', reason: random.pick([null, 'typo']) },
  }
}

const drawPayerEvent = (context: DrawContext, type: 'ExpenseDeleted' | 'ExpenseRestored'): EventDraft => {
  const { random, group: key, expenses: drafted } = context
  if (drafted.length === 0) return recordExpense(context)
  const { id, payer } = random.pick(drafted)
  return {
    type,
    key,
    by: random.chance(0.85) ? payer : random.pick(USERS),
    data: { expenseId: random.chance(0.03) ? 'nobody' : id },
  }
}

const proposeSettlement = ({ random, group: key, settlements, now }: DrawContext): EventDraft => {
  const [from, to] = [random.pick(USERS), random.pick(USERS)]
  const id = settlements.length > 0 && random.chance(0.1) ? random.pick(settlements) : `${key}-s${settlements.length}`
  if (!settlements.includes(id)) settlements.push(id)
  const amountMinor = BigInt(random.pick([1, 500, 1000]))
  return {
    type: 'SettlementProposed',
    key,
    by: from,
    data: {
      settlementId: id,
      fromUserId: from,
      toUserId: to,
      amountMinor,
      ...random.pick(MONEY),
      txHash: random.pick([null, ...HASHES]),
      proposedAt: now,
      rowHash: null,
    },
  }
}

const endSettlement = (context: DrawContext): EventDraft => {
  const { random, group: key, settlements, now } = context
  if (settlements.length === 0) return proposeSettlement(context)
  const settlementId = random.pick(settlements)
  const by = random.pick(USERS)
  if (random.chance(0.3))
    return { type: 'SettlementFailed', key, by, data: { settlementId, txHash: null, confirmedBy: 'manual' } }
  return {
    type: 'SettlementConfirmed',
    key,
    by,
    data: { settlementId, txHash: null, verifiedAt: now, confirmedBy: 'manual' },
  }
}

const claimTransaction = (context: DrawContext): EventDraft => {
  const { random, group, settlements, now } = context
  if (settlements.length === 0) return proposeSettlement(context)
  const txHash = random.pick(HASHES)
  return {
    type: 'TransactionClaimed',
    key: `tx:${txHash}`,
    by: random.pick(USERS),
    data: { txHash, groupId: group, settlementId: random.pick(settlements), verifiedAt: now, confirmedBy: 'ton' },
  }
}
