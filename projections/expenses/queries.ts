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

/** An expense by its id. If it is deleted, as it was before. */
interface FoundExpense {
  readonly state: ExpenseNameItem['state']
  readonly expense: ExpenseItem
}

/** The access patterns of the expenses table that read an index, or more than one item or entity. An index can be late. */
export const expensesQueries = oncePerReader((reader) => ({
  ...groupQueries(reader),
  ...expenseQueries(reader),
  ...settlementQueries(reader),
  ...userQueries(reader),
}))

export type ExpensesQueries = ReturnType<typeof expensesQueries>

const groupQueries = (reader: Reader) => ({
  /** E11: all members, also those who left. */
  everyMember: (group: string): Promise<readonly MemberItem[]> => members.every(reader, group, { limit: 500 }),
  /** A group and the user's membership in it, also if it ended. */
  rightsOf: async (
    group: string,
    user: string,
  ): Promise<{ readonly group: GroupItem | undefined; readonly member: MemberItem | undefined }> => {
    const [item, member] = await getAll(reader, [groups.key(group), members.key(group, user)])
    return { group: item, member }
  },
  /** The invitations that are not revoked; expired ones can be among them. */
  invitations: async (group: string): Promise<readonly Invitation[]> =>
    (await invitations.get(reader, group))?.open ?? [],
  balances: (group: string) => balancesNow(reader, group),
  balancesOfDay: (group: string, day: string) => balancesOfDay(reader, group, day),
  balancesAt: (group: string, ms: number) => balancesAt(reader, group, ms),
})

const expenseQueries = (reader: Reader) => ({
  /** E16 within its group, also deleted ones. Reads by key, so it is never late. */
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
  /** E16 in any group. */
  expenseNamed: (expense: string) =>
    first<ExpenseItem>(reader, { index: NAME_INDEX, pk: expenseNamed(expense), limit: 1 }),
  /** The history of one expense, the oldest first. Another group can have an expense with the same id: its entries are left out of the page. */
  history: async (group: string, expense: string, paging: Paging): Promise<Page<EntryItem>> => {
    const { items, ...rest } = await pageOf<EntryItem>(reader, { index: NAME_INDEX, pk: historyOf(expense), ...paging })
    return { items: items.filter(({ PK }) => PK === groupPartition(group)), ...rest }
  },
})

const settlementQueries = (reader: Reader) => ({
  /** E17 within its group. Reads by key, so it is never late. */
  settlement: async (group: string, settlement: string): Promise<SettlementItem | undefined> => {
    const name = await settlementNames.get(reader, group, settlement)
    return name && settlements.get(reader, group, name.at, settlement)
  },
  /** E17 in any group. */
  settlementNamed: (settlement: string) =>
    first<SettlementItem>(reader, { index: NAME_INDEX, pk: settlementNamed(settlement), limit: 1 }),
})

const userQueries = (reader: Reader) => ({
  /** E18: the groups of which the user is a member, or those that they left. */
  membershipsOf: (user: string, of: 'now' | 'left', paging: Paging) =>
    pageOf<MemberItem>(reader, {
      index: USER_INDEX,
      pk: ofUser(user),
      prefix: of === 'now' ? GROUPS_OF_USER : LEFT_BY_USER,
      ...paging,
    }),
  /** E18. */
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
  /** E19: the newest first. */
  owedBy: (user: string, paging: Paging) =>
    pageOf<ParticipantItem>(reader, { index: USER_INDEX, pk: ofUser(user), prefix: OWES, reverse: true, ...paging }),
  /** E20: the newest first. */
  paidBy: (user: string, paging: Paging) =>
    pageOf<ExpenseItem>(reader, {
      index: ACTIVITY_INDEX,
      pk: ofUser(user),
      prefix: expenses.prefix,
      reverse: true,
      ...paging,
    }),
  /** E21: the newest first. */
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
  /** E22: the whole activity by time, the newest first. */
  activityOf: (user: string, paging: Paging) => activityOf(reader, user, paging),
  /** The groups among these from which the user was removed. */
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
