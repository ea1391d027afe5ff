import type { SplitType } from '../../schemas/generated/expenses.ts'
import type { Key } from '../item.ts'
import type { PersonalByKind, PersonalOf } from '../personal.ts'
import { deletedExpenses, entries, expenseNames, expenses, members, participants, profiles, received, settlements } from './keys.ts'

/**
 * Whole numbers of the currency's smallest unit, exact: a number up to 2^53, a bigint beyond (`wholeOf`). `amount` beside it is the same
 * as a decimal number, as the source document has it: exact to 15 digits, for those who read such a table; nothing is reckoned with it.
 */
export type Minor = number | bigint

/** What lies in an index beside its own keys. */
type Named = { readonly GSI2PK: string; readonly GSI2SK: string }
type Active = { readonly GSI3PK: string; readonly GSI3SK: string }

export type GroupItem = Key & {
  readonly id: string
  readonly chatId: string | null
  readonly title: string
  readonly currency: string
  readonly createdAt: string
  readonly createdBy: string | null
  /** Null if the group has no member who can own it. */
  readonly ownerId: string | null
  /** The time of the last change of the owner; absent if the owner is the creator or the first member. */
  readonly ownerSince?: string
  /** Set while the group is archived: it is read-only. */
  readonly archivedAt?: string
  /** The last time at which the group was unarchived. */
  readonly unarchivedAt?: string
  /** Counts the members who have not left (E-i). */
  readonly memberCount: number
  readonly simplify: boolean
  readonly _heard: readonly string[]
}

export type MemberItem = Key & {
  readonly id: string
  /** Null where the id is no number of Telegram's. */
  readonly telegramId: number | null
  /** Null when the person was forgotten, and wherever a name is kept. */
  readonly name: string | null
  readonly username: string | null
  readonly wallet: string | null
  readonly avatarUrl: string | null
  readonly joinedAt: string
  /** The last time at which the person joined again after they left. */
  readonly rejoinedAt?: string
  /** Set while the person is not a member, because they left or were removed (E-i). The index then lists the group under LEFT# or REMOVED#. */
  readonly leftAt?: string
  /** Set while the person is removed: they can neither read the group nor join it without a newer invitation. */
  readonly removedAt?: string
  /** True if an administrator of the Telegram chat removed the person. Telegram can then admit them again. */
  readonly removedByChat?: true
  /** Set with `removedAt`: only invitations with this number or a higher one admit the person again. */
  readonly admittedFrom?: number
  readonly GSI1PK: string
  readonly GSI1SK: string
  readonly _heard: readonly string[]
}

/** The members who can own the group, by id, with the time at which each joined first. */
export type RosterItem = Key & { readonly members: { readonly [user: string]: string } }

export type Invitation = {
  readonly id: string
  /** SHA-256 of the secret, in hex. */
  readonly hash: string
  /** Counts the invitations of the group, from 0. */
  readonly number: number
  readonly createdBy: string | null
  readonly createdAt: string
  readonly expiresAt: string
}

/** The invitations of a group that are not revoked. Expired ones disappear with the next invitation. */
export type InvitationsItem = Key & { readonly open: readonly Invitation[]; readonly next: number; readonly _heard: readonly string[] }

export type SplitValue = {
  readonly userId: string
  readonly userName: string | null
  readonly amount: number
  readonly amountMinor: Minor
  /** Percent, as the source document has it: 12.5. */
  readonly percentage?: number
  readonly shares?: number
}

export type ExpenseItem = Key & Named & Active & {
  readonly id: string
  readonly groupId: string
  readonly groupTitle: string
  readonly payerId: string
  readonly payerName: string | null
  readonly amount: number
  readonly amountMinor: Minor
  readonly currency: string
  readonly exponent: number
  readonly description: string | null
  /** Whose words the description is. */
  readonly describedBy: string | null
  readonly splitType: SplitType
  readonly splits: readonly SplitValue[]
  readonly category: string | null
  /** When it was paid: its place in lists. */
  readonly spentAt: string
  /** When it was recorded. */
  readonly createdAt: string
  readonly createdBy: string | null
  readonly updatedAt: string
  readonly revision: number
  readonly rowHash?: string
  readonly _heard: readonly string[]
}

/** Locates an expense by its id: `at` is its `spentAt`. While it is deleted, `deletedAt` locates its DeletedExpenseItem. */
export type ExpenseNameItem = Key & { readonly at: string } & (
  | { readonly state: 'present'; readonly deletedAt?: undefined }
  | { readonly state: 'deleted'; readonly deletedAt: string }
)

/** When an expense was paid. Items of fold version 2 have no `spentAt`: their `createdAt` contains this time. */
export const paidAt = ({ spentAt, createdAt }: { readonly spentAt?: string; readonly createdAt: string }): string => spentAt ?? createdAt

/** The name of a deleted expense as fold version 2 wrote it: it contains the expense. */
export type OlderDeletedName = ExpenseNameItem & { readonly expense?: ExpenseItem }

/** A deleted expense as it was. A restore puts it back. */
export type DeletedExpenseItem = Key & { readonly expense: ExpenseItem; readonly deletedAt: string; readonly deletedBy: string | null }

export type ParticipantItem = Key & {
  readonly GSI1PK: string
  readonly GSI1SK: string
  readonly expenseId: string
  readonly groupId: string
  readonly groupTitle: string
  readonly userId: string
  readonly userName: string | null
  readonly amount: number
  readonly amountMinor: Minor
  readonly currency: string
  readonly exponent: number
  readonly payerId: string
  readonly payerName: string | null
  readonly description: string | null
  readonly describedBy: string | null
  readonly totalAmount: number
  readonly totalMinor: Minor
  readonly spentAt: string
  readonly createdAt: string
  /** The expense's that wrote it: each writes it anew, so that what is written never depends on words. */
  readonly revision: number
}

type SettlementStatus = 'pending' | 'completed' | 'failed'

type SettlementBody = {
  readonly id: string
  readonly groupId: string
  readonly groupTitle: string
  readonly fromUserId: string
  readonly fromUserName: string | null
  readonly toUserId: string
  readonly toUserName: string | null
  readonly amount: number
  readonly amountMinor: Minor
  readonly currency: string
  readonly exponent: number
  /** While it is pending, of which its sender says so; then the one that was claimed for it, and for nothing else. */
  readonly txHash: string | null
  readonly status: SettlementStatus
  readonly createdAt: string
  readonly createdBy: string | null
  /** The text that a TON payment carries to complete this settlement. */
  readonly comment: string
  readonly completedAt?: string
  readonly confirmedBy?: 'manual' | 'ton'
  readonly rowHash?: string
}
export type SettlementItem = Key & Named & Active & SettlementBody & { readonly _heard: readonly string[] }
export type SettlementNameItem = Key & { readonly at: string }
export type ReceivedItem = Key & Active & SettlementBody

/** Net is paid − share + sent − received (E-d); over all members it is zero. */
export type Standing = { readonly paid: Minor; readonly share: Minor; readonly sent: Minor; readonly received: Minor }
export type BalanceItem = Key & {
  readonly currency: string
  readonly exponent: number
  readonly members: { readonly [user: string]: Standing }
  /** Of the change that made it; never goes back, whatever clocks say. */
  readonly changedAt: string
}
/** `day` as a UTC date: the last on which it changed until then. */
export type BalanceDayItem = BalanceItem & { readonly day: string }
/** What each other owes to `payerId`, gross; below zero where they paid too much. */
export type CreditItem = Key & { readonly payerId: string; readonly currency: string; readonly exponent: number; readonly owed: { readonly [user: string]: Minor } }

export type EntryKind =
  | 'group-created' | 'group-renamed' | 'currency-changed' | 'settings-changed' | 'chat-migrated' | 'owner-changed' | 'group-archived' | 'group-unarchived'
  | 'member-joined' | 'member-left' | 'member-removed' | 'invitation-created' | 'invitation-revoked'
  | 'expense-recorded' | 'expense-revised' | 'expense-deleted' | 'expense-restored' | 'settlement-proposed' | 'settlement-confirmed' | 'settlement-failed'

export type ExpenseThen = {
  readonly spentAt: string
  readonly payerId: string
  readonly splitType: SplitType
  readonly category: string | null
  readonly splits: readonly { readonly userId: string; readonly amountMinor: Minor }[]
}

/** What happened, who said so, and what it did to whose balance: a statement's line, and an expense's history. */
export type EntryItem = Key & {
  /** Only of an expense: its history is asked by them. */
  readonly GSI2PK?: string
  readonly GSI2SK?: string
  readonly kind: EntryKind
  readonly at: string
  readonly by: string | null
  readonly byName: string | null
  readonly event: string
  /** The person who joined, left, was removed or became the owner; the payee of a settlement. */
  readonly subjectId?: string
  /** Who pays a settlement. */
  readonly fromId?: string
  readonly expenseId?: string
  readonly settlementId?: string
  readonly invitationId?: string
  readonly revision?: number
  readonly currency?: string
  readonly exponent?: number
  readonly amountMinor?: Minor
  readonly description?: string | null
  readonly describedBy?: string | null
  readonly reason?: string | null
  readonly title?: string
  /** The expense as it was after it; null where it is none (any more). */
  readonly after?: ExpenseThen | null
  /** What every standing changed by, a currency; what did not change is left out. */
  readonly moved?: { readonly [currency: string]: { readonly [user: string]: Partial<Standing> } }
}

export type ProfileItem = Key & {
  readonly id: string
  readonly telegramId: number | null
  readonly name: string | null
  readonly username: string | null
  readonly avatarUrl: string | null
  readonly toldAt: string
}
export type TransactionItem = Key & { readonly txHash: string; readonly groupId: string; readonly settlementId: string; readonly claimedAt: string; readonly event: string }
/** `groupId` is null when its group has moved to another chat. */
export type ChatItem = Key & { readonly chatId: string; readonly groupId: string | null; readonly _heard: readonly string[] }

const profilePersonal = { name: 'id', username: 'id', avatarUrl: 'id' } as const satisfies PersonalOf<ProfileItem>
const expensePersonal = { payerName: 'payerId', description: 'describedBy', splits: { userName: 'userId' } } as const satisfies PersonalOf<ExpenseItem>
const settlementPersonal = { fromUserName: 'fromUserId', toUserName: 'toUserId' } as const satisfies PersonalOf<SettlementBody>

/** The names and words of people in the items of groups and users. */
export const expensesPersonal: PersonalByKind = {
  [members.prefix]: { ...profilePersonal, wallet: 'id' } satisfies PersonalOf<MemberItem>,
  [expenses.prefix]: expensePersonal,
  [deletedExpenses.prefix]: { expense: expensePersonal } satisfies PersonalOf<DeletedExpenseItem>,
  [expenseNames.prefix]: { expense: expensePersonal } satisfies PersonalOf<OlderDeletedName>,
  [participants.prefix]: { userName: 'userId', payerName: 'payerId', description: 'describedBy' } satisfies PersonalOf<ParticipantItem>,
  [settlements.prefix]: settlementPersonal,
  [received.prefix]: settlementPersonal,
  [entries.prefix]: { byName: 'by', description: 'describedBy', reason: 'describedBy' } satisfies PersonalOf<EntryItem>,
  [profiles.prefix]: profilePersonal,
}
