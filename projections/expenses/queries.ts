import { accessQueries } from '../access/queries.ts'
import type { Item, Key } from '../item.ts'
import { everyItem, type Page, type Query, type Reader } from '../table.ts'
import { activityOf } from './activity.ts'
import { balancesAt, balancesNow, balancesOfDay } from './as-of.ts'
import type {
  BalanceItem, ChatItem, CreditItem, DeletedExpenseItem, EntryItem, ExpenseItem, ExpenseNameItem, GroupItem, Invitation, InvitationsItem, MemberItem, OlderDeletedName, ParticipantItem, ProfileItem, ReceivedItem, SettlementItem, SettlementNameItem, TransactionItem,
} from './items.ts'
import {
  balanceKey, chatKey, credits, DELETED, deletedExpenseKey, ENTRIES, expenseKey, expenseNamed, expenseNameKey, EXPENSES, groupKey, groupPartition, GROUPS_OF_USER, historyOf, invitationsKey, LEFT_BY_USER, memberKey, MEMBERS, ofUser, OWES,
  participantsOf, profileKey, RECEIVED, settlementKey, settlementNamed, settlementNameKey, SETTLEMENTS, transactionKey,
} from './keys.ts'
import { ACTIVITY_INDEX, NAME_INDEX, USER_INDEX } from './table.ts'

export type Paging = Pick<Query, 'limit' | 'cursor'>

/** An expense by its id: as it is, or as it was when it was deleted. */
export interface FoundExpense {
  readonly state: ExpenseNameItem['state']
  readonly expense: ExpenseItem
}

/** The access patterns of the expenses table, each named as its question. Those by an index may be late. */
const questionsTo = (reader: Reader) => ({
  ...groupQueries(reader),
  ...expenseQueries(reader),
  ...settlementQueries(reader),
  ...balanceQueries(reader),
  ...userQueries(reader),
  ...accessQueries(reader),
})

export type ExpensesQueries = ReturnType<typeof questionsTo>

/** A generation has one reader, and every request asks it. */
const known = new WeakMap<Reader, ExpensesQueries>()

export const expensesQueries = (reader: Reader): ExpensesQueries => {
  const queries = known.get(reader) ?? questionsTo(reader)
  known.set(reader, queries)
  return queries
}

const groupQueries = (reader: Reader) => ({
  /** E10. */
  group: (group: string) => find<GroupItem>(reader, groupKey(group)),
  /** E11: those who left too. */
  members: (group: string, paging: Paging) => list<MemberItem>(reader, { pk: groupPartition(group), prefix: MEMBERS, ...paging }),
  everyMember: async (group: string) => (await everyItem(reader, { pk: groupPartition(group), prefix: MEMBERS, limit: 500 })) as readonly MemberItem[],
  /** E12. */
  member: (group: string, user: string) => find<MemberItem>(reader, memberKey(group, user)),
  /** A group, and whether this user is, or was, of it. */
  rightsOf: async (group: string, user: string): Promise<{ readonly group: GroupItem | undefined; readonly member: MemberItem | undefined }> => {
    const [item, member] = await reader.getMany([groupKey(group), memberKey(group, user)])
    return { group: item as GroupItem | undefined, member: member as MemberItem | undefined }
  },
  /** Those that are not revoked; expired ones can be among them. */
  invitations: async (group: string): Promise<readonly Invitation[]> => (await find<InvitationsItem>(reader, invitationsKey(group)))?.open ?? [],
  /** What happened, the newest first. */
  entries: (group: string, paging: Paging) => list<EntryItem>(reader, { pk: groupPartition(group), prefix: ENTRIES, reverse: true, ...paging }),
  /** The group of a chat (E-h). */
  chat: async (chatId: string): Promise<string | undefined> => (await find<ChatItem>(reader, chatKey(chatId)))?.groupId ?? undefined,
})

const expenseQueries = (reader: Reader) => ({
  /** E13: the newest first. */
  expenses: (group: string, paging: Paging) => list<ExpenseItem>(reader, { pk: groupPartition(group), prefix: EXPENSES, reverse: true, ...paging }),
  /** E15. */
  participants: async (group: string, expense: string) =>
    (await everyItem(reader, { pk: groupPartition(group), prefix: participantsOf(expense), limit: 100 })) as readonly ParticipantItem[],
  /** E16 within its group, at once; deleted ones too. */
  expense: async (group: string, expense: string): Promise<FoundExpense | undefined> => {
    const name = await find<OlderDeletedName>(reader, expenseNameKey(group, expense))
    if (name === undefined) return undefined
    if (name.expense !== undefined) return { state: 'deleted', expense: name.expense }
    if (name.state === 'deleted') {
      const deleted = await find<DeletedExpenseItem>(reader, deletedExpenseKey(group, name.deletedAt, expense))
      return deleted && { state: 'deleted', expense: deleted.expense }
    }
    const found = await find<ExpenseItem>(reader, expenseKey(group, name.at, expense))
    return found && { state: 'present', expense: found }
  },
  /** The last deleted first. */
  deletedExpenses: (group: string, paging: Paging) => list<DeletedExpenseItem>(reader, { pk: groupPartition(group), prefix: DELETED, reverse: true, ...paging }),
  /** E16, wherever it lies. */
  expenseNamed: (expense: string) => first<ExpenseItem>(reader, { index: NAME_INDEX, pk: expenseNamed(expense), limit: 1 }),
  /** The history of one expense, the oldest first. Another group can have an expense with the same id: its entries are left out of the page. */
  history: async (group: string, expense: string, paging: Paging): Promise<Page<EntryItem>> => {
    const { items, ...rest } = await list<EntryItem>(reader, { index: NAME_INDEX, pk: historyOf(expense), ...paging })
    return { items: items.filter(({ PK }) => PK === groupPartition(group)), ...rest }
  },
})

const settlementQueries = (reader: Reader) => ({
  /** E14: the newest first. */
  settlements: (group: string, paging: Paging) => list<SettlementItem>(reader, { pk: groupPartition(group), prefix: SETTLEMENTS, reverse: true, ...paging }),
  /** E17 within its group, at once. */
  settlement: async (group: string, settlement: string): Promise<SettlementItem | undefined> => {
    const name = await find<SettlementNameItem>(reader, settlementNameKey(group, settlement))
    return name && find<SettlementItem>(reader, settlementKey(group, name.at, settlement))
  },
  /** E17, wherever it lies. */
  settlementNamed: (settlement: string) => first<SettlementItem>(reader, { index: NAME_INDEX, pk: settlementNamed(settlement), limit: 1 }),
  /** Which settlement a transaction settles. */
  transaction: (txHash: string) => find<TransactionItem>(reader, transactionKey(txHash)),
})

const balanceQueries = (reader: Reader) => ({
  balance: (group: string, currency: string) => find<BalanceItem>(reader, balanceKey(group, currency)),
  balances: (group: string) => balancesNow(reader, group),
  balancesOfDay: (group: string, day: string) => balancesOfDay(reader, group, day),
  balancesAt: (group: string, ms: number) => balancesAt(reader, group, ms),
  /** Who owes to whom in one currency, before anything is netted. */
  credits: async (group: string, currency: string) => (await everyItem(reader, { pk: groupPartition(group), prefix: credits(currency), limit: 500 })) as readonly CreditItem[],
})

const userQueries = (reader: Reader) => ({
  /** E18: as a member of them, or as one who left them. */
  membershipsOf: (user: string, of: 'now' | 'left', paging: Paging) =>
    list<MemberItem>(reader, { index: USER_INDEX, pk: ofUser(user), prefix: of === 'now' ? GROUPS_OF_USER : LEFT_BY_USER, ...paging }),
  /** E18. */
  groupsOf: async (user: string, paging: Paging): Promise<Page<GroupItem>> => {
    const { items, ...rest } = await reader.query({ index: USER_INDEX, pk: ofUser(user), prefix: GROUPS_OF_USER, ...paging })
    const groups = await reader.getMany(items.map(({ PK }) => ({ PK, SK: groupKey('').SK })))
    return { items: groups.filter((group) => group !== undefined) as readonly Item[] as readonly GroupItem[], ...rest }
  },
  /** E19: the newest first. */
  owedBy: (user: string, paging: Paging) => list<ParticipantItem>(reader, { index: USER_INDEX, pk: ofUser(user), prefix: OWES, reverse: true, ...paging }),
  /** E20: the newest first. */
  paidBy: (user: string, paging: Paging) => list<ExpenseItem>(reader, { index: ACTIVITY_INDEX, pk: ofUser(user), prefix: EXPENSES, reverse: true, ...paging }),
  /** E21: the newest first. */
  sentBy: (user: string, paging: Paging) => list<SettlementItem>(reader, { index: ACTIVITY_INDEX, pk: ofUser(user), prefix: SETTLEMENTS, reverse: true, ...paging }),
  receivedBy: (user: string, paging: Paging) => list<ReceivedItem>(reader, { index: ACTIVITY_INDEX, pk: ofUser(user), prefix: RECEIVED, reverse: true, ...paging }),
  /** E22: all of these by time, the newest first. */
  activityOf: (user: string, paging: Paging) => activityOf(reader, user, paging),
  /** Those of the groups from which the user was removed. */
  removedFrom: async (user: string, groups: readonly string[]): Promise<ReadonlySet<string>> => {
    const distinct = [...new Set(groups)]
    if (distinct.length === 0) return new Set()
    const members = (await reader.getMany(distinct.map((group) => memberKey(group, user)))) as readonly Item[] as readonly (MemberItem | undefined)[]
    return new Set(distinct.filter((_, index) => members[index]?.removedAt !== undefined))
  },
  profile: (user: string) => find<ProfileItem>(reader, profileKey(user)),
})

const find = async <I extends Item>(reader: Reader, key: Key): Promise<I | undefined> => (await reader.get(key)) as I | undefined

const list = async <I extends Item>(reader: Reader, query: Query): Promise<Page<I>> => (await reader.query(query)) as Page<I>

const first = async <I extends Item>(reader: Reader, query: Query): Promise<I | undefined> => (await list<I>(reader, query)).items[0]
