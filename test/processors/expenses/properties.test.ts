import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { keyOf, type Item } from '../../../projections/item.ts'
import { msOf } from '../../../projections/instant.ts'
import type {
  BalanceItem,
  CreditItem,
  DeletedExpenseItem,
  EntryItem,
  ExpenseItem,
  ExpenseNameItem,
  GroupItem,
  MemberItem,
  ParticipantItem,
  RosterItem,
  SettlementItem,
} from '../../../projections/expenses/items.ts'
import { netOf, pairwise, simplified } from '../../../projections/expenses/debts.ts'
import { minorOf } from '../../../projections/expenses/money.ts'
import { expensesQueries } from '../../../projections/expenses/queries.ts'
import { expensesTable } from '../../../projections/expenses/table.ts'
import type { Event } from '../../../schemas/event.ts'
import { inputCount } from '../../../testing/property-runs.ts'
import { readerOf } from '../../projections/reader.ts'
import { contents, type Table } from '../../../testing/folds.ts'
import { aHistory, GROUPS } from './arbitrary.ts'
import { foldInto, tableOf } from './given.ts'
import { sumAccepted, type MemberSums } from '../../../domains/expenses/member-sums.ts'
import { deleted, restored } from './events.ts'

const of = <I extends Item>(table: Table, sk: string): I[] =>
  [...table.values()]
    .map((item) => item as Item as I)
    .filter(({ PK, SK }) => PK.startsWith('GROUP#') && SK.startsWith(sk))
const groupOf = ({ PK }: Item): string => PK.slice('GROUP#'.length)
const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n)

const isAccepted = (table: Table, event: Event, position: number): boolean => {
  const [{ items = [], derived = [] } = {}] = foldInto(table, event, position)
  return items.length + derived.length > 0
}

/** Runs the check after every event of any history. `accepted` contains the events so far that no fold refused. */
const always = (check: (table: Table, accepted: readonly Event[]) => void) =>
  fc.assert(
    fc.property(aHistory, (events) => {
      const table: Table = new Map()
      const accepted: Event[] = []
      events.forEach((event, position) => {
        if (isAccepted(table, event, position)) accepted.push(event)
        check(table, accepted)
      })
    }),
    { numRuns: inputCount(100) },
  )

const memberSums = (table: Table): MemberSums =>
  new Map(
    of<BalanceItem>(table, 'BALANCE#').flatMap((balance) =>
      Object.entries(balance.members).map(
        ([user, { paid, share, sent, received }]) =>
          [
            `${groupOf(balance)} ${balance.currency} ${user}`,
            { paid: minorOf(paid), share: minorOf(share), sent: minorOf(sent), received: minorOf(received) },
          ] as const,
      ),
    ),
  )

const sorted = (reckoning: MemberSums) => [...reckoning].sort(([a], [b]) => (a < b ? -1 : 1))

describe('after any history', () => {
  test('E-b: the parts of every expense sum up to its amount', () =>
    always((table) => {
      const deleted = of<DeletedExpenseItem>(table, 'DELETED#').map(({ expense }) => expense)
      for (const { amountMinor, splits } of [...of<ExpenseItem>(table, 'TX#'), ...deleted])
        expect(sum(splits.map((split) => minorOf(split.amountMinor)))).toBe(minorOf(amountMinor))
    }))

  test('E-c E-d: the nets of every currency of a group sum up to zero', () =>
    always((table) => {
      for (const { members } of of<BalanceItem>(table, 'BALANCE#'))
        expect(sum(Object.values(members).map(netOf))).toBe(0n)
    }))

  test('E46: balances are the sums of the existing expenses and the completed settlements', () =>
    always((table, accepted) => expect(sorted(memberSums(table))).toEqual(sorted(sumAccepted(accepted)))))

  test('E46: the debts net to the balances, and simplified debts settle them', () =>
    always((table) => {
      for (const { PK, currency, members } of of<BalanceItem>(table, 'BALANCE#')) {
        const nets = new Map(
          Object.entries(members)
            .map(([user, sums]) => [user, netOf(sums)])
            .filter(([, net]) => net !== 0n) as [string, bigint][],
        )
        const credits = of<CreditItem>(table, `OWED#${currency}#`).filter((item) => item.PK === PK)
        for (const debts of [pairwise(credits), simplified(nets)]) {
          const owed = new Map<string, bigint>()
          for (const { from, to, minor } of debts) {
            owed.set(from, (owed.get(from) ?? 0n) - minor)
            owed.set(to, (owed.get(to) ?? 0n) + minor)
          }
          expect(new Map([...owed].filter(([, net]) => net !== 0n))).toEqual(nets)
        }
      }
    }))

  test('E8 E43: there are participants for the existing expenses only', () =>
    always((table) => {
      const expected = of<ExpenseItem>(table, 'TX#').flatMap(({ PK, id, payerId, splits, description }) =>
        splits
          .filter(({ userId, amountMinor }) => userId !== payerId && amountMinor !== 0)
          .map(({ userId, userName, amountMinor }) => ({
            PK,
            SK: `PART#${id}#${userId}`,
            amountMinor,
            userName,
            description,
          })),
      )
      const there = of<ParticipantItem>(table, 'PART#').map(({ PK, SK, amountMinor, userName, description }) => ({
        PK,
        SK,
        amountMinor,
        userName,
        description,
      }))
      const order = (a: Item, b: Item) => (keyOf(a) < keyOf(b) ? -1 : 1)
      expect(there.sort(order)).toEqual(expected.sort(order))
      const present = of<ExpenseNameItem>(table, 'EXPENSE#')
        .filter(({ state }) => state === 'present')
        .map(({ PK, SK, at }) => `${PK} TX#${at}#${SK.slice('EXPENSE#'.length)}`)
      expect(
        of(table, 'TX#')
          .map(({ PK, SK }) => `${PK} ${SK}`)
          .sort(),
      ).toEqual(present.sort())
    }))

  test('E-i: a group counts its members', () =>
    always((table) => {
      for (const group of of<Item & { memberCount: number }>(table, 'METADATA')) {
        const members = of<Item>(table, 'USER#').filter(({ PK }) => PK === group.PK)
        expect(group.memberCount).toBe(members.filter((member) => member['leftAt'] === undefined).length)
        for (const member of members)
          expect(member['GSI1SK']).toBe(
            member['leftAt'] === undefined
              ? group.PK
              : group.PK.replace('GROUP#', member['removedAt'] === undefined ? 'LEFT#' : 'REMOVED#'),
          )
      }
    }))

  test('a group with members has an owner, who is one of them', () =>
    always((table) => {
      for (const { PK, ownerId } of of<GroupItem>(table, 'METADATA')) {
        const active = of<MemberItem>(table, 'USER#')
          .filter((member) => member.PK === PK && member.leftAt === undefined)
          .map(({ id }) => id)
        expect(
          of<RosterItem>(table, 'ROSTER')
            .filter((roster) => roster.PK === PK)
            .flatMap(({ members }) => Object.keys(members))
            .sort(),
        ).toEqual(active.sort())
        expect(ownerId === null ? active : active.filter((id) => id === ownerId)).toHaveLength(ownerId === null ? 0 : 1)
      }
    }))

  test('E9 E-j: a completed or failed settlement is final, and the receiver’s item has the same status', () =>
    fc.assert(
      fc.property(aHistory, (events) => {
        const table: Table = new Map()
        const ended = new Map<string, string>()
        events.forEach((event, position) => {
          foldInto(table, event, position)
          for (const item of of<SettlementItem>(table, 'SETTLE#')) {
            const { PK, id, toUserId, status } = item
            expect(ended.get(PK + id) ?? status).toBe(status)
            if (status !== 'pending') ended.set(PK + id, status)
            expect(table.get(keyOf({ PK, SK: `RECEIVED#${id}#${toUserId}` }))).toMatchObject({
              status,
              amountMinor: item.amountMinor,
              GSI3PK: `USER#${toUserId}`,
            })
          }
        })
      }),
    ))

  test('E46: the statement adds up to the balances', () =>
    always((table) => {
      const moved = new Map<string, bigint>()
      for (const entry of of<EntryItem>(table, 'LOG#')) {
        for (const [currency, users] of Object.entries(entry.moved ?? {})) {
          for (const [user, { paid = 0, share = 0, sent = 0, received = 0 }] of Object.entries(users)) {
            const name = `${groupOf(entry)} ${currency} ${user}`
            moved.set(name, (moved.get(name) ?? 0n) + netOf({ paid, share, sent, received }))
          }
        }
      }
      for (const [name, sums] of memberSums(table))
        expect(moved.get(name) ?? 0n).toBe(sums.paid - sums.share + sums.sent - sums.received)
      for (const [name, net] of moved) if (!memberSums(table).has(name)) expect(net).toBe(0n)
    }))
})

describe('balances as of any time', () => {
  test('E46: equal the balances at that time', () =>
    fc.assert(
      fc.asyncProperty(aHistory, async (events) => {
        const table: Table = new Map()
        /** The states by group: after each event, the latest time at which a balance changed, and all balances of the group. */
        const then = new Map<string, { at: string; balances: Record<string, unknown> }[]>()
        events.forEach((event, position) => {
          foldInto(table, event, position)
          for (const group of GROUPS) {
            const balances = of<BalanceItem>(table, 'BALANCE#').filter((item) => groupOf(item) === group)
            const at = balances.reduce((latest, { changedAt }) => (changedAt > latest ? changedAt : latest), '')
            then.set(group, [
              ...(then.get(group) ?? []),
              {
                at,
                balances: Object.fromEntries(
                  balances.map(({ currency, members, changedAt }) => [currency, { members, changedAt }]),
                ),
              },
            ])
          }
        })
        const questions = expensesQueries(readerOf(table, 0, () => {}, expensesTable))
        for (const [group, states] of then) {
          for (const at of new Set(
            states.flatMap(({ balances }) =>
              Object.values(balances as Record<string, BalanceItem>).map(({ changedAt }) => changedAt),
            ),
          )) {
            for (const ms of [msOf(at) - 1, msOf(at), msOf(at) + 1])
              expect(shown(await questions.balancesAt(group, ms))).toEqual(asOf(states, new Date(ms).toISOString()))
            expect(shown(await questions.balancesOfDay(group, at.slice(0, 10)))).toEqual(
              asOf(states, `${at.slice(0, 10)}T23:59:59.999Z`),
            )
          }
        }
      }),
    ))
})

const shown = (balances: readonly Pick<BalanceItem, 'currency' | 'members'>[]) =>
  Object.fromEntries(
    balances
      .map(({ currency, members }) => [currency, members])
      .filter(([, members]) => Object.keys(members as object).length > 0),
  )

/** Returns the balances at the time `iso`: for each currency, its last state that is not later than `iso`. */
const asOf = (states: readonly { balances: Record<string, unknown> }[], iso: string) => {
  const last: Record<string, BalanceItem['members']> = {}
  for (const { balances } of states) {
    for (const [currency, { members, changedAt }] of Object.entries(balances as Record<string, BalanceItem>))
      if (changedAt <= iso) last[currency] = members
  }
  return Object.fromEntries(Object.entries(last).filter(([, members]) => Object.keys(members).length > 0))
}

describe('any history', () => {
  test('E43 E-g: a restore undoes a delete exactly, except for the statement and the names of events', () =>
    fc.assert(
      fc.property(aHistory, (events) => {
        const table = tableOf(events)
        const archived = new Set(
          of<GroupItem>(table, 'METADATA')
            .filter(({ archivedAt }) => archivedAt !== undefined)
            .map(({ id }) => id),
        )
        for (const { id, groupId } of of<ExpenseItem>(table, 'TX#').filter(
          (expense) => !archived.has(expense.groupId),
        )) {
          const copy: Table = new Map(table)
          // The event has no actor. The payer can have been removed from the group, and then the fold would refuse an event of the payer.
          const meta = { key: groupId, actorId: null, occurredAt: events.at(-1)?.meta.occurredAt ?? 0 }
          foldInto(copy, deleted({ expenseId: id, meta }), events.length)
          expect(of<ExpenseItem>(copy, 'TX#').some((item) => item.groupId === groupId && item.id === id)).toBe(false)
          foldInto(copy, restored({ expenseId: id, meta }), events.length + 1)
          expect(withoutTraces(copy)).toEqual(withoutTraces(table))
        }
      }),
    ))
})

const withoutTraces = (table: Table) =>
  [...table.values()]
    .filter(({ SK }) => !SK.startsWith('LOG#') && !SK.startsWith('ASOF#'))
    .map(({ _pos, _heard, ...item }) => ({ ...item, changedAt: '' }))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))

test('the histories of the properties contain revisions, deletions, restores, settlements, claims and departures', () => {
  const histories = fc.sample(aHistory, { numRuns: 150, seed: 7 })
  const items = histories.flatMap((events) => Object.values(contents(tableOf(events))))
  const kinds = items.filter(({ SK }) => SK.startsWith('LOG#')).map((entry) => (entry as EntryItem).kind)
  const least = {
    'expense-recorded': 200,
    'expense-revised': 50,
    'expense-deleted': 50,
    'expense-restored': 20,
    'settlement-confirmed': 10,
    'settlement-failed': 5,
    'member-left': 20,
    'member-joined': 100,
    'member-removed': 10,
    'invitation-created': 10,
    'owner-changed': 5,
    'group-archived': 1,
  }
  for (const [kind, count] of Object.entries(least))
    expect(kinds.filter((each) => each === kind).length, kind).toBeGreaterThan(count)
  for (const [part, count] of [
    ['ASOF#', 50],
    ['CLAIM', 10],
    ['PROFILE', 10],
  ] as const)
    expect(items.filter(({ SK }) => SK.startsWith(part)).length, part).toBeGreaterThan(count)
})
