import type { SplitType } from '../../schemas/generated/expenses.ts'
import type { Key } from '../item.ts'

/**
 * An exact amount in the currency's smallest unit: a number if it is below 2^53, else a bigint (`wholeOf`). Items also
 * have `amount`, the same amount as a decimal number. `amount` is exact to 15 digits and only for people who read the
 * table: no computation uses it.
 */
export type Minor = number | bigint

/** The keys of two indexes. `Named`: items by their id (`NAME_INDEX`). `Active`: the activity of a user (`ACTIVITY_INDEX`). */
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
  /** The time of the last change of the owner. Absent if the owner is the creator or the first member. */
  readonly ownerSince?: string
  /** The time at which the group was archived. Absent if the group is not archived. An archived group is read-only. */
  readonly archivedAt?: string
  /** The last time at which the group was unarchived. */
  readonly unarchivedAt?: string
  /** The number of members who have not left (E-i). */
  readonly memberCount: number
  readonly simplify: boolean
  readonly _heard: readonly string[]
}

export type MemberItem = Key & {
  readonly id: string
  /** Null if the id is not a number of Telegram. */
  readonly telegramId: number | null
  /** Null if the person was forgotten. */
  readonly name: string | null
  readonly username: string | null
  readonly wallet: string | null
  readonly avatarUrl: string | null
  readonly joinedAt: string
  /** The last time at which the person joined again after they left. */
  readonly rejoinedAt?: string
  /** Set while the person is not a member, because they left or were removed (E-i). GSI1 then lists the group under LEFT# or REMOVED#. */
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
  /** The number of the invitation within its group, counted from 0. */
  readonly number: number
  readonly createdBy: string | null
  readonly createdAt: string
  readonly expiresAt: string
}

/** The invitations of a group that are not revoked. A new invitation removes the expired ones. `next`: the number of the next invitation. */
export type InvitationsItem = Key & {
  readonly open: readonly Invitation[]
  readonly next: number
  readonly _heard: readonly string[]
}

export type SplitValue = {
  readonly userId: string
  readonly userName: string | null
  readonly amount: number
  readonly amountMinor: Minor
  /** In percent: 12.5 is an eighth. */
  readonly percentage?: number
  readonly shares?: number
}

export type ExpenseItem = Key &
  Named &
  Active & {
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
    /** The person who wrote the description. */
    readonly describedBy: string | null
    readonly splitType: SplitType
    readonly splits: readonly SplitValue[]
    readonly category: string | null
    /** The time at which the expense was paid. Lists are sorted by this time. */
    readonly spentAt: string
    /** The time at which the expense was recorded. */
    readonly createdAt: string
    readonly createdBy: string | null
    readonly updatedAt: string
    readonly revision: number
    readonly rowHash?: string
    readonly _heard: readonly string[]
  }

/** Leads from the id of an expense to its item. `at` and `deletedAt`: the times in the keys of its ExpenseItem and its DeletedExpenseItem. */
export type ExpenseNameItem = Key & { readonly at: string } & (
    | { readonly state: 'present'; readonly deletedAt?: undefined }
    | { readonly state: 'deleted'; readonly deletedAt: string }
  )

/** The time at which an expense was paid. Items of fold version 2 have no `spentAt`: their `createdAt` contains this time. */
export const paidAt = ({ spentAt, createdAt }: { readonly spentAt?: string; readonly createdAt: string }): string =>
  spentAt ?? createdAt

/** The ExpenseNameItem of a deleted expense as fold version 2 wrote it. It contains the expense itself. */
export type OlderDeletedName = ExpenseNameItem & { readonly expense?: ExpenseItem }

/** A deleted expense as it was before the deletion. A restore puts the expense back. */
export type DeletedExpenseItem = Key & {
  readonly expense: ExpenseItem
  readonly deletedAt: string
  readonly deletedBy: string | null
}

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
  /** The revision of the expense. A new revision writes the items of all participants again, also if only a text changed. */
  readonly revision: number
}

type SettlementStatus = 'pending' | 'completed' | 'failed'

export type SettlementBody = {
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
  /** While the settlement is pending: the transaction that its sender named. Afterwards: the transaction that was claimed for it. */
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

/** A member's sums. Net is paid − share + sent − received (E-d). The nets of all members sum up to zero. */
export type MemberBalance = {
  readonly paid: Minor
  readonly share: Minor
  readonly sent: Minor
  readonly received: Minor
}
export type BalanceItem = Key & {
  readonly currency: string
  readonly exponent: number
  readonly members: { readonly [user: string]: MemberBalance }
  /** The time of the last change. It never decreases, even if an event has an earlier time. */
  readonly changedAt: string
}
/** The balance at the end of `day` (UTC). It is written when the balance changes on a later day. A day without a change has no such item. */
export type BalanceDayItem = BalanceItem & { readonly day: string }
/** The amount that each person owes to `payerId`, before debts in both directions are netted. Below zero if the person paid too much. */
export type CreditItem = Key & {
  readonly payerId: string
  readonly currency: string
  readonly exponent: number
  readonly owed: { readonly [user: string]: Minor }
}

export type EntryKind =
  | 'group-created'
  | 'group-renamed'
  | 'currency-changed'
  | 'settings-changed'
  | 'chat-migrated'
  | 'owner-changed'
  | 'group-archived'
  | 'group-unarchived'
  | 'member-joined'
  | 'member-left'
  | 'member-removed'
  | 'invitation-created'
  | 'invitation-revoked'
  | 'expense-recorded'
  | 'expense-revised'
  | 'expense-deleted'
  | 'expense-restored'
  | 'settlement-proposed'
  | 'settlement-confirmed'
  | 'settlement-failed'

export type ExpenseState = {
  readonly spentAt: string
  readonly payerId: string
  readonly splitType: SplitType
  readonly category: string | null
  readonly splits: readonly { readonly userId: string; readonly amountMinor: Minor }[]
}

/** An entry of the group's statement and of an expense's history: what happened, who did it, and how balances changed. */
export type EntryItem = Key & {
  /** The key of the expense's history in the index GSI2. Absent if the entry is not about an expense. */
  readonly GSI2PK?: string
  readonly GSI2SK?: string
  readonly kind: EntryKind
  readonly at: string
  readonly by: string | null
  readonly byName: string | null
  readonly event: string
  /** The person who joined, left, was removed or became the owner. For a settlement: the payee. */
  readonly subjectId?: string
  /** The payer of a settlement. */
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
  /** The expense after the change. Null if it is deleted. */
  readonly after?: ExpenseState | null
  /** The changes of each member's balance, by currency. Unchanged sums are left out. */
  readonly moved?: { readonly [currency: string]: { readonly [user: string]: Partial<MemberBalance> } }
}

export type ProfileItem = Key & {
  readonly id: string
  readonly telegramId: number | null
  readonly name: string | null
  readonly username: string | null
  readonly avatarUrl: string | null
  readonly toldAt: string
}
export type TransactionItem = Key & {
  readonly txHash: string
  readonly groupId: string
  readonly settlementId: string
  readonly claimedAt: string
  readonly event: string
}
/** The group of a Telegram chat. `groupId` is null if the group moved to another chat. */
export type ChatItem = Key & {
  readonly chatId: string
  readonly groupId: string | null
  readonly _heard: readonly string[]
}
