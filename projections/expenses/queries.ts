import { getAll, oncePerReader, pageOf, type Paging } from '../entity.ts'
import type { Item } from '../item.ts'
import type { Page, Query, Reader } from '../table.ts'
import { activityOf } from './activity.ts'
import { balancesAt, balancesNow, balancesOfDay } from './as-of.ts'
import type {
  EntryItem,
  ExpenseItem,
  ExpenseNameItem,
  GroupItem,
  Invitation,
  MemberItem,
  OlderDeletedName,
  ParticipantItem,
  ReceivedItem,
  SettlementItem,
} from './items.ts'
import {
  deletedExpenses,
  expenseNamed,
  expenseNames,
  expenses,
  groupPartition,
  groups,
  GROUPS_OF_USER,
  historyOf,
  invitations,
  LEFT_BY_USER,
  members,
  ofUser,
  OWES,
  received,
  settlementNamed,
  settlementNames,
  settlements,
} from './keys.ts'
import { ACTIVITY_INDEX, NAME_INDEX, USER_INDEX } from './table.ts'

/** An expense that was found by its id. A deleted expense has the content that it had when it was deleted. */
interface FoundExpense {
  readonly state: ExpenseNameItem['state']
  readonly expense: ExpenseItem
}

/** The queries of the expenses table that read an index, or more than one item or entity. The content of an index can be out of date. */
export const expensesQueries = oncePerReader((reader) => ({
  ...groupQueries(reader),
  ...expenseQueries(reader),
  ...settlementQueries(reader),
  ...userQueries(reader),
}))

export type ExpensesQueries = ReturnType<typeof expensesQueries>

const groupQueries = (reader: Reader) => ({
  /** All members of the group, also people who left (E11). */
  everyMember: (group: string): Promise<readonly MemberItem[]> => members.every(reader, group, { limit: 500 }),
  /** A group and the user's membership in it, also if the membership has ended. */
  rightsOf: async (
    group: string,
    user: string,
  ): Promise<{ readonly group: GroupItem | undefined; readonly member: MemberItem | undefined }> => {
    const [item, member] = await getAll(reader, [groups.key(group), members.key(group, user)])
    return { group: item, member }
  },
  /** The invitations that are not revoked. Expired invitations can be among them. */
  invitations: async (group: string): Promise<readonly Invitation[]> =>
    (await invitations.get(reader, group))?.open ?? [],
  balances: (group: string) => balancesNow(reader, group),
  balancesOfDay: (group: string, day: string) => balancesOfDay(reader, group, day),
  balancesAt: (group: string, ms: number) => balancesAt(reader, group, ms),
})

const expenseQueries = (reader: Reader) => ({
  /** An expense of a group, also if it is deleted (E16). Undefined if it does not exist. Reads by key, so the result is up to date. */
  expense: async (group: string, expense: string): Promise<FoundExpense | undefined> => {
    const name = (await expenseNames.get(reader, group, expense)) as OlderDeletedName | undefined
    if (name === undefined) return undefined
    if (name.expense !== undefined) return { state: 'deleted', expense: name.expense }
    if (name.state === 'deleted') {
      const deleted = await deletedExpenses.get(reader, group, name.deletedAt, expense)
      return deleted && { state: 'deleted', expense: deleted.expense }
    }
    const found = await expenses.get(reader, group, name.at, expense)
    return found && { state: 'present', expense: found }
  },
  /** An expense by its id in any group (E16). A deleted expense is not found. Reads an index, so the result can be out of date. */
  expenseNamed: (expense: string) =>
    first<ExpenseItem>(reader, { index: NAME_INDEX, pk: expenseNamed(expense), limit: 1 }),
  /** The history of one expense, the oldest entry first. Leaves out the entries of an expense with the same id in another group. */
  history: async (group: string, expense: string, paging: Paging): Promise<Page<EntryItem>> => {
    const { items, ...rest } = await pageOf<EntryItem>(reader, { index: NAME_INDEX, pk: historyOf(expense), ...paging })
    return { items: items.filter(({ PK }) => PK === groupPartition(group)), ...rest }
  },
})

const settlementQueries = (reader: Reader) => ({
  /** A settlement of a group (E17). Undefined if it does not exist. Reads by key, so the result is up to date. */
  settlement: async (group: string, settlement: string): Promise<SettlementItem | undefined> => {
    const name = await settlementNames.get(reader, group, settlement)
    return name && settlements.get(reader, group, name.at, settlement)
  },
  /** A settlement by its id in any group (E17). Reads an index, so the result can be out of date. */
  settlementNamed: (settlement: string) =>
    first<SettlementItem>(reader, { index: NAME_INDEX, pk: settlementNamed(settlement), limit: 1 }),
})

const userQueries = (reader: Reader) => ({
  /** The memberships of a user (E18). `now`: in groups of which the user is a member. `left`: in groups that the user left. */
  membershipsOf: (user: string, of: 'now' | 'left', paging: Paging) =>
    pageOf<MemberItem>(reader, {
      index: USER_INDEX,
      pk: ofUser(user),
      prefix: of === 'now' ? GROUPS_OF_USER : LEFT_BY_USER,
      ...paging,
    }),
  /** The groups of which the user is a member (E18). */
  groupsOf: async (user: string, paging: Paging): Promise<Page<GroupItem>> => {
    const { items, ...rest } = await pageOf<MemberItem>(reader, {
      index: USER_INDEX,
      pk: ofUser(user),
      prefix: GROUPS_OF_USER,
      ...paging,
    })
    const found = await getAll(
      reader,
      items.map(({ GSI1SK }) => groups.key(GSI1SK.slice(GROUPS_OF_USER.length))),
    )
    return { items: found.filter((group) => group !== undefined), ...rest }
  },
  /** The expenses for which the user owes, the newest first (E19). */
  owedBy: (user: string, paging: Paging) =>
    pageOf<ParticipantItem>(reader, { index: USER_INDEX, pk: ofUser(user), prefix: OWES, reverse: true, ...paging }),
  /** The expenses that the user paid, the newest first (E20). */
  paidBy: (user: string, paging: Paging) =>
    pageOf<ExpenseItem>(reader, {
      index: ACTIVITY_INDEX,
      pk: ofUser(user),
      prefix: expenses.prefix,
      reverse: true,
      ...paging,
    }),
  /** The settlements that the user sent, the newest first (E21). */
  sentBy: (user: string, paging: Paging) =>
    pageOf<SettlementItem>(reader, {
      index: ACTIVITY_INDEX,
      pk: ofUser(user),
      prefix: settlements.prefix,
      reverse: true,
      ...paging,
    }),
  receivedBy: (user: string, paging: Paging) =>
    pageOf<ReceivedItem>(reader, {
      index: ACTIVITY_INDEX,
      pk: ofUser(user),
      prefix: received.prefix,
      reverse: true,
      ...paging,
    }),
  /** The expenses and settlements of the user together, the newest first (E22). */
  activityOf: (user: string, paging: Paging) => activityOf(reader, user, paging),
  /** Returns the groups from which the user was removed, out of the given ones. */
  removedFrom: async (user: string, groups: readonly string[]): Promise<ReadonlySet<string>> => {
    const distinct = [...new Set(groups)]
    if (distinct.length === 0) return new Set()
    const found = await getAll(
      reader,
      distinct.map((group) => members.key(group, user)),
    )
    return new Set(distinct.filter((_, index) => found[index]?.removedAt !== undefined))
  },
})

const first = async <I extends Item>(reader: Reader, query: Query): Promise<I | undefined> =>
  (await pageOf<I>(reader, query)).items[0]
