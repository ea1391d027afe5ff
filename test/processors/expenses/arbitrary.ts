import fc from 'fast-check'
import { keyOf, type Item } from '../../../projections/item.ts'
import type {
  DeletedExpenseItem,
  ExpenseItem,
  ExpenseNameItem,
  GroupItem,
} from '../../../projections/expenses/items.ts'
import { deletedExpenses, expenseNames, expenses, groups } from '../../../projections/expenses/keys.ts'
import type { Event } from '../../../schemas/event.ts'
import type { Table } from '../../../testing/folds.ts'
import { foldInto } from './given.ts'
import * as events from './events.ts'

// There are few groups, people and ids, so that events affect each other. Most revisions and deletions are of an existing expense and by its payer.

/** Returns a random event that fits the current time and the existing items. */
type DrawnEvent = (scene: { readonly now: number; readonly table: Table }) => Event

export const PEOPLE = ['ann', 'bob', 'cy', 'constructor'] as const
export const GROUPS = ['g1', 'g2'] as const

const group = fc.constantFrom('g1', 'g1', 'g1', 'g2')
const user = fc.constantFrom(...PEOPLE)
const expenseId = fc.constantFrom('e1', 'e2', 'e3', 'e4', 'e5', 'e6')
const settlementId = fc.constantFrom('s1', 's2', 's3', 's4')
const money = fc.constantFrom(
  { currency: 'EUR', exponent: 2 },
  { currency: 'EUR', exponent: 2 },
  { currency: 'TON', exponent: 9 },
)
const minor = fc.oneof(fc.bigInt(0n, 999n), fc.bigInt(0n, 999n), fc.constant(9_007_199_254_740_993n))
const txHash = fc.constantFrom(events.HASH, 'cd34'.repeat(16))
const often = (weight: number) => fc.integer({ min: 0, max: 99 }).map((n) => n < weight)

/** Generates the payer, the amount and the split of an expense. In 4 % of them, the amount is not the sum of the parts. */
const spent = fc
  .record({
    payerId: user,
    parts: fc.uniqueArray(fc.tuple(user, minor), { selector: ([name]) => name, minLength: 1, maxLength: 4 }),
    money,
    right: often(96),
    splitType: fc.constantFrom('equal' as const, 'exact' as const, 'shares' as const),
    category: fc.constantFrom(null, 'food'),
  })
  .map(({ payerId, parts, money, right, splitType, category }) => {
    const amountMinor = parts.reduce((sum, [, part]) => sum + part, right ? 0n : 1n)
    return { payerId, amountMinor, ...money, splitType, splits: events.splits(Object.fromEntries(parts)), category }
  })

const words = fc.constantFrom('Dinner', 'Taxi', 'Rent')

/** Returns the id of one of the group's items whose sort keys begin with the prefix, chosen by `n`. Returns `id` if there is none. */
const oneOf = (table: Table, prefix: string, { group, n, id }: { group: string; n: number; id: string }): string => {
  const names = [...table.values()]
    .filter(({ PK, SK }) => PK === `GROUP#${group}` && SK.startsWith(prefix))
    .map(({ SK }) => SK.slice(prefix.length))
  return names[n % names.length] ?? id
}

/** Returns the expense with this id, also if it is deleted. Undefined if there is none. */
const expenseIn = (table: Table, key: string, id: string): ExpenseItem | undefined => {
  const name = table.get(keyOf(expenseNames.key(key, id))) as Item as ExpenseNameItem | undefined
  if (name?.state === 'deleted')
    return (table.get(keyOf(deletedExpenses.key(key, name.deletedAt, id))) as Item as DeletedExpenseItem | undefined)
      ?.expense
  return name && (table.get(keyOf(expenses.key(key, name.at, id))) as Item as ExpenseItem | undefined)
}

const aRecord = fc.record({ group, expenseId, spent, user, words, before: fc.constantFrom(0, 1, 2) }).map(
  ({ group: key, expenseId, spent, user, words, before }): DrawnEvent =>
    ({ now }) =>
      events.recorded({
        expenseId,
        ...spent,
        spentAt: now - before * events.DAY,
        personal: { description: words },
        meta: { key, occurredAt: now, actorId: user, subjectId: user },
      }),
)

const aRevision = fc
  .record({
    group,
    n: fc.nat(),
    id: expenseId,
    spent,
    user,
    words,
    current: often(85),
    isPayer: often(85),
    ago: fc.constantFrom(null, null, 0, 1),
  })
  .map(({ group: key, n, id, spent, user, words, current, isPayer, ago }): DrawnEvent => ({ now, table }) => {
    const expenseId = oneOf(table, 'EXPENSE#', { group: key, n, id })
    const before = expenseIn(table, key, expenseId)
    const actorId = isPayer ? (before?.payerId ?? user) : user
    const revision = current ? (before?.revision ?? 1) + 1 : 2
    return events.revised({
      expenseId,
      ...spent,
      revision,
      spentAt: ago === null ? null : now - ago * events.DAY,
      personal: { description: words, reason: `because ${words}` },
      meta: { key, occurredAt: now, actorId, subjectId: actorId },
    })
  })

const byPayer = (make: typeof events.deleted | typeof events.restored) =>
  fc
    .record({ group, n: fc.nat(), id: expenseId, user, isPayer: often(85) })
    .map(({ group: key, n, id, user, isPayer }): DrawnEvent => ({ now, table }) => {
      const expenseId = oneOf(table, 'EXPENSE#', { group: key, n, id })
      return make({
        expenseId,
        meta: { key, occurredAt: now, actorId: isPayer ? (expenseIn(table, key, expenseId)?.payerId ?? user) : user },
      })
    })

const aProposal = fc.record({ group, settlementId, from: user, to: user, money, amount: fc.bigInt(1n, 999n) }).map(
  ({ group: key, settlementId, from, to, money, amount }): DrawnEvent =>
    ({ now }) =>
      events.proposed({
        settlementId,
        fromUserId: from,
        toUserId: to,
        ...money,
        amountMinor: amount,
        proposedAt: now,
        meta: { key, occurredAt: now, actorId: from },
      }),
)
const anOutcome = fc
  .record({ group, n: fc.nat(), id: settlementId, user, isPaid: often(70) })
  .map(({ group: key, n, id, user, isPaid }): DrawnEvent => ({ now, table }) => {
    const settlementId = oneOf(table, 'SETTLEMENT#', { group: key, n, id })
    const meta = { key, occurredAt: now, actorId: user }
    return isPaid ? events.confirmed({ settlementId, verifiedAt: now, meta }) : events.failed({ settlementId, meta })
  })
const aClaim = fc.record({ group, settlementId, txHash }).map(
  ({ group: groupId, settlementId, txHash }): DrawnEvent =>
    ({ now }) =>
      events.claimed({
        txHash,
        groupId,
        settlementId,
        verifiedAt: now,
        meta: { key: `tx:${txHash}`, occurredAt: now },
      }),
)

const aMember = fc
  .record({
    group,
    user,
    kind: fc.constantFrom('joined', 'joined', 'joined', 'left', 'left', 'removed', 'profile', 'wallet'),
    name: fc.constantFrom('A', 'B'),
  })
  .map(({ group: key, user, kind, name }): DrawnEvent => ({ now }) => {
    const meta = { key, occurredAt: now }
    if (kind === 'joined') return events.joined(user, { meta, personal: events.named(user + name) })
    if (kind === 'left') return events.left(user, { meta })
    if (kind === 'removed')
      return events.removed(user, { meta: { ...meta, source: name === 'A' ? 'telegram' : 'test' } })
    return kind === 'profile'
      ? events.profileChanged(user, { meta, personal: events.named(user + name) })
      : events.walletSet(user, { meta, personal: { wallet: `UQ-${user}-${name}` } })
  })

const anInvitation = fc
  .record({
    group,
    user,
    guest: user,
    id: fc.constantFrom('i1', 'i2'),
    kind: fc.constantFrom('invited', 'invited', 'revoked', 'joined', 'joined', 'joined'),
  })
  .map(({ group: key, user, guest, id, kind }): DrawnEvent => ({ now }) => {
    const [meta, secretHash] = [{ key, occurredAt: now }, id.charAt(1).repeat(64)]
    if (kind === 'invited')
      return events.invited({
        invitationId: id,
        secretHash,
        expiresAt: now + events.DAY,
        meta: { ...meta, actorId: user },
      })
    return kind === 'revoked'
      ? events.revoked({ invitationId: id, meta: { ...meta, actorId: user } })
      : events.joined(guest, { invitation: secretHash, meta })
  })

const byOwner = fc
  .record({ group, user, other: user, kind: fc.constantFrom('owner', 'owner', 'owner', 'archived', 'unarchived') })
  .map(({ group: key, user, other, kind }): DrawnEvent => ({ now, table }) => {
    const meta = {
      key,
      occurredAt: now,
      actorId: (table.get(keyOf(groups.key(key))) as Item as GroupItem | undefined)?.ownerId ?? user,
    }
    if (kind === 'owner') return events.ownerChanged(other, { meta })
    return kind === 'archived' && now % 3 === 0 ? events.archived({ meta }) : events.unarchived({ meta })
  })

const aGroup = fc
  .record({
    group,
    kind: fc.constantFrom('created', 'renamed', 'currency', 'settings', 'migrated'),
    chatId: fc.constantFrom('-1', '-2'),
  })
  .map(({ group: key, kind, chatId }): DrawnEvent => ({ now }) => {
    const meta = { key, occurredAt: now }
    if (kind === 'created') return events.created({ chatId, meta: { ...meta, actorId: 'ann', subjectId: 'ann' } })
    if (kind === 'renamed') return events.renamed({ title: `Trip ${chatId}`, meta })
    if (kind === 'currency') return events.currencyChanged({ meta })
    return kind === 'settings' ? events.settingsChanged({ meta }) : events.migrated({ chatId, meta })
  })
const aChat = fc.record({ group, chatId: fc.constantFrom('-1', '-2'), links: fc.boolean() }).map(
  ({ group: groupId, chatId, links }): DrawnEvent =>
    ({ now }) =>
      (links ? events.chatLinked : events.chatUnlinked)({
        chatId,
        groupId,
        meta: { key: `chat:${chatId}`, occurredAt: now },
      }),
)
const aProfile = fc.record({ user, ago: fc.constantFrom(0, 5000), name: fc.constantFrom('A', 'B') }).map(
  ({ user, ago, name }): DrawnEvent =>
    ({ now }) =>
      events.profileTold({
        at: now - ago,
        personal: events.named(user + name),
        meta: { key: user, subjectId: user, actorId: user, occurredAt: now },
      }),
)

/** The time between two events in milliseconds. It is mostly positive. It can be zero or negative, like clocks that go back. */
const wait = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0, 1, 60_000) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: events.DAY }) },
  { weight: 1, arbitrary: fc.constantFrom(-1, -60_000, -events.DAY, 3 * events.DAY) },
)

const anEvent = fc.oneof(
  { weight: 11, arbitrary: aRecord },
  { weight: 6, arbitrary: aRevision },
  { weight: 6, arbitrary: byPayer(events.deleted) },
  { weight: 7, arbitrary: byPayer(events.restored) },
  { weight: 3, arbitrary: aProposal },
  { weight: 4, arbitrary: anOutcome },
  { weight: 1, arbitrary: aClaim },
  { weight: 4, arbitrary: aMember },
  { weight: 2, arbitrary: anInvitation },
  { weight: 1, arbitrary: byOwner },
  { weight: 2, arbitrary: aGroup },
  { weight: 1, arbitrary: aChat },
  { weight: 1, arbitrary: aProfile },
)

/** Events that create the groups with all their members. Without them, folds would refuse most other events. */
const setUp = (): readonly Event[] =>
  GROUPS.flatMap((key) => [
    events.created({ chatId: '-1', meta: { key } }),
    ...PEOPLE.slice(1).map((name) => events.joined(name, { meta: { key } })),
  ])

/** Generates histories of two groups. 85 % of them begin with the events of `setUp`. */
export const aHistory: fc.Arbitrary<readonly Event[]> = fc
  .tuple(often(85), fc.array(fc.tuple(wait, anEvent), { maxLength: 50, size: 'max' }))
  .map(([isSetUp, steps]) => {
    const table: Table = new Map()
    const history: Event[] = []
    const append = (event: Event) => {
      foldInto(table, event, history.length)
      history.push(event)
    }
    if (isSetUp) setUp().forEach(append)
    let now = events.NOW
    for (const [ms, draw] of steps) append(draw({ now: (now += ms), table }))
    return history
  })
