import { inUser } from '../access/keys.ts'
import { partition } from '../entity.ts'
import type {
  BalanceDayItem,
  BalanceItem,
  ChatItem,
  CreditItem,
  DeletedExpenseItem,
  EntryItem,
  ExpenseItem,
  ExpenseNameItem,
  GroupItem,
  InvitationsItem,
  MemberItem,
  ParticipantItem,
  ProfileItem,
  ReceivedItem,
  RosterItem,
  SettlementItem,
  SettlementNameItem,
  TransactionItem,
} from './items.ts'

/**
 * This file declares the entities of the expenses table. Ids contain no `#`, and instants have a fixed width, so two different items
 * never have the same key.
 */

export const groupPartition = (group: string): string => `GROUP#${group}`
const inGroup = partition('GROUP#', groupPartition)

export const groups = inGroup<GroupItem>('group', 'METADATA')
export const members = inGroup<MemberItem, [user: string]>('member', 'USER#')
export const rosters = inGroup<RosterItem>('roster', 'ROSTER')
export const invitations = inGroup<InvitationsItem>('invitations', 'INVITATIONS')

/** The key contains the id, because two expenses can have the same millisecond (E-a). */
export const expenses = inGroup<ExpenseItem, [iso: string, id: string]>('expense', 'TX#')
/** Finds the key of an expense by its id alone. */
export const expenseNames = inGroup<ExpenseNameItem, [id: string]>('expense by name', 'EXPENSE#')
export const deletedExpenses = inGroup<DeletedExpenseItem, [deletedAt: string, id: string]>(
  'deleted expense',
  'DELETED#',
)
export const participants = inGroup<ParticipantItem, [expense: string, user: string]>('participant', 'PART#')

export const settlements = inGroup<SettlementItem, [iso: string, id: string]>('settlement', 'SETTLE#')
export const settlementNames = inGroup<SettlementNameItem, [id: string]>('settlement by name', 'SETTLEMENT#')
/** A copy of a settlement for the person who receives the payment (E-e). */
export const received = inGroup<ReceivedItem, [settlement: string, user: string]>('settlement received', 'RECEIVED#')

/** The sums that each member paid, bears, sent and received, per currency (E-c). */
export const balances = inGroup<BalanceItem, [currency: string]>('balance', 'BALANCE#')
/** The balance at the end of each day on which it changed. It is written when the balance changes on a later day. */
export const dayBalances = inGroup<BalanceDayItem, [currency: string, day: string]>('balance of a day', 'ASOF#')
/** The debts of the other members to a member who paid, before debts in both directions are netted. */
export const credits = inGroup<CreditItem, [currency: string, payer: string]>('credit', 'OWED#')
/** The entries of the group's statement, in the order of time. */
export const entries = inGroup<EntryItem, [iso: string, event: string]>('entry', 'LOG#')

/** The name and the picture of a person, without their groups (E-m). */
export const profiles = inUser<ProfileItem>('profile', 'PROFILE')
/** The settlement that a TON transaction settles (E-j). */
export const transactions = partition('TXHASH#', (txHash: string) => `TXHASH#${txHash}`)<TransactionItem>(
  'transaction',
  'CLAIM',
)
export const chats = partition('CHAT#', (chatId: string) => `CHAT#${chatId}`)<ChatItem>('chat', 'GROUP')

/** The log keys of transactions and chats. */
export const transactionLogKey = (txHash: string): string => `tx:${txHash}`
export const chatLogKey = (chatId: string): string => `chat:${chatId}`

/** Parts of the keys of indexes. */
export const ofUser = (user: string): string => `USER#${user}`
export const GROUPS_OF_USER = 'GROUP#'
/** The groups that the user left. The user's debts in them remain. */
export const LEFT_BY_USER = 'LEFT#'
/** The groups from which the user was removed. No query lists them to the user. */
export const REMOVED_FROM = 'REMOVED#'
export const OWES = 'OWES#'
export const expenseNamed = (expense: string): string => `EXPENSE#${expense}`
export const settlementNamed = (settlement: string): string => `SETTLEMENT#${settlement}`
export const historyOf = (expense: string): string => `HISTORY#${expense}`

const ID = /^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,63}$/
/** True for ids of groups, people, expenses and settlements. They can be part of a key and a path. */
export const isId = (id: string): boolean => ID.test(id)
/** The Telegram number of a person. Null if the id is not a number. */
export const telegramIdOf = (user: string): number | null => (/^[1-9]\d{0,14}$/.test(user) ? Number(user) : null)
/** `meta.source` of events from Telegram's webhook. */
export const TELEGRAM_SOURCE = 'telegram'
/** True for the id of a Telegram chat. Ids of groups are below zero. */
export const isChatId = (id: string): boolean => /^-?\d{1,20}$/.test(id)
/** True for a hash in hex or base64, the forms that explorers show. */
export const isTxHash = (hash: string): boolean => /^[A-Za-z0-9+/_=-]{16,128}$/.test(hash)
/**
 * A hash of 32 bytes in lower-case hex, so that the hex and the base64 form of a transaction are equal (E-j). Other
 * text stays as it is.
 */
export const oneTxHash = (hash: string): string => {
  if (/^[0-9a-fA-F]{64}$/.test(hash)) return hash.toLowerCase()
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(hash) ? Buffer.from(hash, 'base64').toString('hex') : hash
}

/** The log key whose events produce the items of a partition. Undefined if this table has no partitions of this form. */
export const logKeyOf = (pk: string): string | undefined => {
  const at = pk.indexOf('#')
  const [kind, name] = [pk.slice(0, at), pk.slice(at + 1)]
  if (kind === 'GROUP' || kind === 'USER') return name
  if (kind === 'TXHASH') return transactionLogKey(name)
  return kind === 'CHAT' ? chatLogKey(name) : undefined
}
