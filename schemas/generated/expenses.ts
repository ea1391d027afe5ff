// Generated from schemas/expenses/*.avsc by `npm run codegen`. Do not edit.
import type { Event } from '../event.ts'

/** Who says that a payment arrived. */
export type ConfirmedBy = 'manual' | 'ton'

/** What was written about an expense. */
export interface ExpenseRecordedPersonal {
  /** What it was for, in the words of who recorded it. */
  readonly description: string
}

/** What was written about the expense. */
export interface ExpenseRevisedPersonal {
  /** What it was for, in the words of who recorded it. */
  readonly description: string
  /** Why it was changed. */
  readonly reason: string | null
}

/** Who made the group. */
export interface GroupCreatedPersonal {
  /** As they call themselves. */
  readonly name: string
  /** Telegram @username, without the @. */
  readonly username: string | null
  readonly avatarUrl: string | null
}

/** Who joined. */
export interface MemberJoinedPersonal {
  /** As they call themselves. */
  readonly name: string
  /** Telegram @username, without the @. */
  readonly username: string | null
  readonly avatarUrl: string | null
}

/** As the member is called from now on. */
export interface MemberProfileChangedPersonal {
  /** As they call themselves. */
  readonly name: string
  /** Telegram @username, without the @. */
  readonly username: string | null
  readonly avatarUrl: string | null
}

/** What is known of a person. */
export interface ProfileToldPersonal {
  /** As they call themselves. */
  readonly name: string
  /** Telegram @username, without the @. */
  readonly username: string | null
  readonly avatarUrl: string | null
}

/** What one person bears of an expense. */
export interface Split {
  readonly userId: string
  /** In the currency's smallest unit; all of an expense's sum up to its amount. */
  readonly minor: bigint
  /** Basis points, where it was split by percentage: 10000 is all of it. */
  readonly bp: number | null
  /** Where it was split by shares. */
  readonly shares: number | null
}

/** How an expense was divided. */
export type SplitType = 'equal' | 'exact' | 'percentage' | 'shares'

/** Where a member is paid. */
export interface WalletSetPersonal {
  /** TON address; null takes it back. */
  readonly wallet: string | null
}

/** A chat's group: the first that named it, or the one that Telegram moved there. Derived; keyed by the chat. */
export interface ChatLinkedData {
  readonly chatId: string
  readonly groupId: string
  /** Telegram moved the group there: it is its chat, whatever was made for it meanwhile. */
  readonly moved: boolean
}

export type ChatLinkedPersonal = never

export type ChatLinked = Event<'ChatLinked', ChatLinkedData, ChatLinkedPersonal>

/** A chat has moved away from this id, and its group with it. Derived; keyed by the chat. */
export interface ChatUnlinkedData {
  readonly chatId: string
  readonly groupId: string
}

export type ChatUnlinkedPersonal = never

export type ChatUnlinked = Event<'ChatUnlinked', ChatUnlinkedData, ChatUnlinkedPersonal>

/** An expense counts no more. It can be restored. */
export interface ExpenseDeletedData {
  readonly expenseId: string
}

export type ExpenseDeletedPersonal = never

export type ExpenseDeleted = Event<'ExpenseDeleted', ExpenseDeletedData, ExpenseDeletedPersonal>

/** Somebody paid for others. */
export interface ExpenseRecordedData {
  readonly expenseId: string
  /** When it was paid. meta.occurredAt is when it was recorded. */
  readonly spentAt: number
  readonly payerId: string
  /** In the currency's smallest unit: 1050 with exponent 2 is 10.50. */
  readonly amountMinor: bigint
  readonly currency: string
  /** Decimals of the currency when it was said. */
  readonly exponent: number
  /** How the amounts came about; they stand in splits, whatever it is. */
  readonly splitType: SplitType
  readonly splits: readonly Split[]
  readonly category: string | null
  /** Hash of the imported row. */
  readonly rowHash: string | null
}

export type ExpenseRecorded = Event<'ExpenseRecorded', ExpenseRecordedData, ExpenseRecordedPersonal>

/** A deleted expense counts again, as it was. */
export interface ExpenseRestoredData {
  readonly expenseId: string
}

export type ExpenseRestoredPersonal = never

export type ExpenseRestored = Event<'ExpenseRestored', ExpenseRestoredData, ExpenseRestoredPersonal>

/** An expense is corrected. The event contains the whole expense. */
export interface ExpenseRevisedData {
  readonly expenseId: string
  /** The new revision. The actor had read the revision before it. */
  readonly revision: number
  readonly payerId: string
  /** In the currency's smallest unit: 1050 with exponent 2 is 10.50. */
  readonly amountMinor: bigint
  readonly currency: string
  /** Decimals of the currency when it was said. */
  readonly exponent: number
  /** How the amounts came about; they stand in splits, whatever it is. */
  readonly splitType: SplitType
  readonly splits: readonly Split[]
  readonly category: string | null
  /** The new time at which it was paid. Null: the time stays. */
  readonly spentAt: number | null
}

export type ExpenseRevised = Event<'ExpenseRevised', ExpenseRevisedData, ExpenseRevisedPersonal>

/** The owner archived the group. It is read-only until the owner unarchives it. */
export interface GroupArchivedData {
}

export type GroupArchivedPersonal = never

export type GroupArchived = Event<'GroupArchived', GroupArchivedData, GroupArchivedPersonal>

/** Telegram gave the chat of a group another id; the group's own stays. */
export interface GroupChatMigratedData {
  /** The new one. */
  readonly chatId: string
}

export type GroupChatMigratedPersonal = never

export type GroupChatMigrated = Event<'GroupChatMigrated', GroupChatMigratedData, GroupChatMigratedPersonal>

/** A group was made; who made it is its first member. The log key is its id. */
export interface GroupCreatedData {
  /** The Telegram chat it belongs to. */
  readonly chatId: string | null
  readonly title: string
  /** What amounts are in unless told. */
  readonly currency: string
}

export type GroupCreated = Event<'GroupCreated', GroupCreatedData, GroupCreatedPersonal>

/** Amounts of the group are in another currency unless told; nothing is converted. */
export interface GroupCurrencyChangedData {
  readonly currency: string
}

export type GroupCurrencyChangedPersonal = never

export type GroupCurrencyChanged = Event<'GroupCurrencyChanged', GroupCurrencyChangedData, GroupCurrencyChangedPersonal>

/** The owner of the group, or an administrator of its Telegram chat, removed a person. Balances keep what the person owes and is owed. */
export interface GroupMemberRemovedData {
  readonly userId: string
}

export type GroupMemberRemovedPersonal = never

export type GroupMemberRemoved = Event<'GroupMemberRemoved', GroupMemberRemovedData, GroupMemberRemovedPersonal>

/** The owner handed the group over to another member. */
export interface GroupOwnerChangedData {
  /** The new owner. */
  readonly userId: string
}

export type GroupOwnerChangedPersonal = never

export type GroupOwnerChanged = Event<'GroupOwnerChanged', GroupOwnerChangedData, GroupOwnerChangedPersonal>

/** A group has another title. What was written before keeps the one it had. */
export interface GroupRenamedData {
  readonly title: string
}

export type GroupRenamedPersonal = never

export type GroupRenamed = Event<'GroupRenamed', GroupRenamedData, GroupRenamedPersonal>

/** Whether a group's debts are shown simplified. */
export interface GroupSettingsChangedData {
  readonly simplify: boolean
}

export type GroupSettingsChangedPersonal = never

export type GroupSettingsChanged = Event<'GroupSettingsChanged', GroupSettingsChangedData, GroupSettingsChangedPersonal>

/** The owner unarchived the group. Members can change it again. */
export interface GroupUnarchivedData {
}

export type GroupUnarchivedPersonal = never

export type GroupUnarchived = Event<'GroupUnarchived', GroupUnarchivedData, GroupUnarchivedPersonal>

/** A member invited others to the group. Whoever knows the secret can join until the invitation expires or is revoked. */
export interface InvitationCreatedData {
  readonly invitationId: string
  /** SHA-256 of the secret in hex. The secret itself is stored nowhere. */
  readonly secretHash: string
  /** The invitation admits nobody from this instant on. */
  readonly expiresAt: number
}

export type InvitationCreatedPersonal = never

export type InvitationCreated = Event<'InvitationCreated', InvitationCreatedData, InvitationCreatedPersonal>

/** An invitation admits nobody any more. */
export interface InvitationRevokedData {
  readonly invitationId: string
}

export type InvitationRevokedPersonal = never

export type InvitationRevoked = Event<'InvitationRevoked', InvitationRevokedData, InvitationRevokedPersonal>

/** A person became a member of the group, for the first time or again. */
export interface MemberJoinedData {
  readonly userId: string
  /** SHA-256, in hex, of the secret of the invitation by which the person joined. Null if Telegram reported the person, in imports, and in events from before invitations existed. */
  readonly invitation: string | null
  /** The Telegram chat from which the person opened the Mini App, as Telegram signed it, if that admitted the person. */
  readonly chatId: string | null
}

export type MemberJoined = Event<'MemberJoined', MemberJoinedData, MemberJoinedPersonal>

/** Somebody left the group; what they owe and are owed stays. */
export interface MemberLeftData {
  readonly userId: string
}

export type MemberLeftPersonal = never

export type MemberLeft = Event<'MemberLeft', MemberLeftData, MemberLeftPersonal>

/** A member's name, username or avatar changed. What was written before keeps the name it had. */
export interface MemberProfileChangedData {
  readonly userId: string
}

export type MemberProfileChanged = Event<'MemberProfileChanged', MemberProfileChangedData, MemberProfileChangedPersonal>

/** What was last heard of a person, in any group. Derived; keyed by the person. */
export interface ProfileToldData {
  /** When it was said: an older word does not replace a newer one. */
  readonly at: number
}

export type ProfileTold = Event<'ProfileTold', ProfileToldData, ProfileToldPersonal>

/** A payment arrived: it counts. With a transaction, derived from its claim. */
export interface SettlementConfirmedData {
  readonly settlementId: string
  readonly txHash: string | null
  readonly verifiedAt: number
  readonly confirmedBy: ConfirmedBy
}

export type SettlementConfirmedPersonal = never

export type SettlementConfirmed = Event<'SettlementConfirmed', SettlementConfirmedData, SettlementConfirmedPersonal>

/** A payment did not happen. */
export interface SettlementFailedData {
  readonly settlementId: string
  readonly txHash: string | null
  readonly confirmedBy: ConfirmedBy
}

export type SettlementFailedPersonal = never

export type SettlementFailed = Event<'SettlementFailed', SettlementFailedData, SettlementFailedPersonal>

/** Somebody pays, or says they paid, what they owe to another; it counts when it is confirmed. */
export interface SettlementProposedData {
  readonly settlementId: string
  readonly fromUserId: string
  readonly toUserId: string
  /** In the currency's smallest unit. */
  readonly amountMinor: bigint
  readonly currency: string
  readonly exponent: number
  /** The TON transaction, where it is known already. */
  readonly txHash: string | null
  /** Its place among the group's settlements, for good. */
  readonly proposedAt: number
  /** Hash of the imported row. */
  readonly rowHash: string | null
}

export type SettlementProposedPersonal = never

export type SettlementProposed = Event<'SettlementProposed', SettlementProposedData, SettlementProposedPersonal>

/** A TON transaction settles this and nothing else: the first who says so. Keyed by the transaction. */
export interface TransactionClaimedData {
  readonly txHash: string
  readonly groupId: string
  readonly settlementId: string
  readonly verifiedAt: number
  readonly confirmedBy: ConfirmedBy
}

export type TransactionClaimedPersonal = never

export type TransactionClaimed = Event<'TransactionClaimed', TransactionClaimedData, TransactionClaimedPersonal>

/** A member told the wallet to which settlements go. */
export interface WalletSetData {
  readonly userId: string
}

export type WalletSet = Event<'WalletSet', WalletSetData, WalletSetPersonal>

export type ExpensesEvent =
  | ChatLinked
  | ChatUnlinked
  | ExpenseDeleted
  | ExpenseRecorded
  | ExpenseRestored
  | ExpenseRevised
  | GroupArchived
  | GroupChatMigrated
  | GroupCreated
  | GroupCurrencyChanged
  | GroupMemberRemoved
  | GroupOwnerChanged
  | GroupRenamed
  | GroupSettingsChanged
  | GroupUnarchived
  | InvitationCreated
  | InvitationRevoked
  | MemberJoined
  | MemberLeft
  | MemberProfileChanged
  | ProfileTold
  | SettlementConfirmed
  | SettlementFailed
  | SettlementProposed
  | TransactionClaimed
  | WalletSet
