// Generated from schemas/expenses.avdl by `npm run codegen`. Do not edit.
import type { Event } from '../event.ts'

/** How a payment was confirmed. */
export type ConfirmedBy = 'manual' | 'ton'

/** The texts of an expense. */
export interface ExpenseRecordedPersonal {
  /** The purpose of the expense, as the person who recorded it wrote it. */
  readonly description: string
}

/** The texts of the expense. */
export interface ExpenseRevisedPersonal {
  /** The purpose of the expense, as the person who recorded it wrote it. */
  readonly description: string
  /** Why it was changed. */
  readonly reason: string | null
}

/** The person who created the group. */
export interface GroupCreatedPersonal {
  /** The display name. */
  readonly name: string
  /** Telegram @username, without the @. */
  readonly username: string | null
  readonly avatarUrl: string | null
}

/** The person who joined. */
export interface MemberJoinedPersonal {
  /** The display name. */
  readonly name: string
  /** Telegram @username, without the @. */
  readonly username: string | null
  readonly avatarUrl: string | null
}

/** The new name, username and avatar of the member. */
export interface MemberProfileChangedPersonal {
  /** The display name. */
  readonly name: string
  /** Telegram @username, without the @. */
  readonly username: string | null
  readonly avatarUrl: string | null
}

/** The profile of a person. */
export interface ProfileToldPersonal {
  /** The display name. */
  readonly name: string
  /** Telegram @username, without the @. */
  readonly username: string | null
  readonly avatarUrl: string | null
}

/** The part of one person in an expense. */
export interface Split {
  readonly userId: string
  /** In the currency's smallest unit. The parts of an expense add up to its amount. */
  readonly minor: bigint
  /** Basis points, if the expense was split by percentage: 10000 is 100 %. */
  readonly bp: number | null
  /** The number of shares, if the expense was split by shares. */
  readonly shares: number | null
}

/** How an expense was divided. */
export type SplitType = 'equal' | 'exact' | 'percentage' | 'shares'

/** The wallet of a member. */
export interface WalletSetPersonal {
  /** TON address. Null removes it. */
  readonly wallet: string | null
}

/** A chat was linked to a group: to the first group that named the chat, or to the group that Telegram moved there. Derived. Keyed by the chat. */
export interface ChatLinkedData {
  readonly chatId: string
  readonly groupId: string
  /** True if Telegram moved the group to this chat. The link then replaces the link to any other group. */
  readonly moved: boolean
}

export type ChatLinkedPersonal = never

/** A chat was linked to a group: to the first group that named the chat, or to the group that Telegram moved there. Derived. Keyed by the chat. */
export type ChatLinked = Event<'ChatLinked', ChatLinkedData, ChatLinkedPersonal>

/** Telegram gave a chat another id. The old id has no group any more. Derived. Keyed by the old id. */
export interface ChatUnlinkedData {
  readonly chatId: string
  readonly groupId: string
}

export type ChatUnlinkedPersonal = never

/** Telegram gave a chat another id. The old id has no group any more. Derived. Keyed by the old id. */
export type ChatUnlinked = Event<'ChatUnlinked', ChatUnlinkedData, ChatUnlinkedPersonal>

/** An expense was deleted. It can be restored. */
export interface ExpenseDeletedData {
  readonly expenseId: string
}

export type ExpenseDeletedPersonal = never

/** An expense was deleted. It can be restored. */
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
  /** Decimals of the currency when the event was appended. */
  readonly exponent: number
  /** The way in which the expense was split. `splits` contains the amounts in every case. */
  readonly splitType: SplitType
  readonly splits: readonly Split[]
  readonly category: string | null
  /** Hash of the imported row. */
  readonly rowHash: string | null
}

/** Somebody paid for others. */
export type ExpenseRecorded = Event<'ExpenseRecorded', ExpenseRecordedData, ExpenseRecordedPersonal>

/** A deleted expense counts again, as it was. */
export interface ExpenseRestoredData {
  readonly expenseId: string
}

export type ExpenseRestoredPersonal = never

/** A deleted expense counts again, as it was. */
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
  /** Decimals of the currency when the event was appended. */
  readonly exponent: number
  /** The way in which the expense was split. `splits` contains the amounts in every case. */
  readonly splitType: SplitType
  readonly splits: readonly Split[]
  readonly category: string | null
  /** The new time at which it was paid. Null: the time stays. */
  readonly spentAt: number | null
}

/** An expense is corrected. The event contains the whole expense. */
export type ExpenseRevised = Event<'ExpenseRevised', ExpenseRevisedData, ExpenseRevisedPersonal>

/** The owner archived the group. It is read-only until the owner unarchives it. */
export interface GroupArchivedData {
}

export type GroupArchivedPersonal = never

/** The owner archived the group. It is read-only until the owner unarchives it. */
export type GroupArchived = Event<'GroupArchived', GroupArchivedData, GroupArchivedPersonal>

/** Telegram gave the chat of a group another id. The id of the group stays. */
export interface GroupChatMigratedData {
  /** The new id. */
  readonly chatId: string
}

export type GroupChatMigratedPersonal = never

/** Telegram gave the chat of a group another id. The id of the group stays. */
export type GroupChatMigrated = Event<'GroupChatMigrated', GroupChatMigratedData, GroupChatMigratedPersonal>

/** A group was created. Its creator is its first member. The log key is its id. */
export interface GroupCreatedData {
  /** The Telegram chat it belongs to. */
  readonly chatId: string | null
  readonly title: string
  /** The default currency of amounts. */
  readonly currency: string
}

/** A group was created. Its creator is its first member. The log key is its id. */
export type GroupCreated = Event<'GroupCreated', GroupCreatedData, GroupCreatedPersonal>

/** The default currency of the group was changed. No amount is converted. */
export interface GroupCurrencyChangedData {
  readonly currency: string
}

export type GroupCurrencyChangedPersonal = never

/** The default currency of the group was changed. No amount is converted. */
export type GroupCurrencyChanged = Event<'GroupCurrencyChanged', GroupCurrencyChangedData, GroupCurrencyChangedPersonal>

/** The owner of the group, or an administrator of its Telegram chat, removed a person. Balances keep what the person owes and is owed. */
export interface GroupMemberRemovedData {
  readonly userId: string
}

export type GroupMemberRemovedPersonal = never

/** The owner of the group, or an administrator of its Telegram chat, removed a person. Balances keep what the person owes and is owed. */
export type GroupMemberRemoved = Event<'GroupMemberRemoved', GroupMemberRemovedData, GroupMemberRemovedPersonal>

/** The owner handed the group over to another member. */
export interface GroupOwnerChangedData {
  /** The new owner. */
  readonly userId: string
}

export type GroupOwnerChangedPersonal = never

/** The owner handed the group over to another member. */
export type GroupOwnerChanged = Event<'GroupOwnerChanged', GroupOwnerChangedData, GroupOwnerChangedPersonal>

/** A group was renamed. Items that were written before keep the old title. */
export interface GroupRenamedData {
  readonly title: string
}

export type GroupRenamedPersonal = never

/** A group was renamed. Items that were written before keep the old title. */
export type GroupRenamed = Event<'GroupRenamed', GroupRenamedData, GroupRenamedPersonal>

/** The group's setting for simplified debts was changed. */
export interface GroupSettingsChangedData {
  readonly simplify: boolean
}

export type GroupSettingsChangedPersonal = never

/** The group's setting for simplified debts was changed. */
export type GroupSettingsChanged = Event<'GroupSettingsChanged', GroupSettingsChangedData, GroupSettingsChangedPersonal>

/** The owner unarchived the group. Members can change it again. */
export interface GroupUnarchivedData {
}

export type GroupUnarchivedPersonal = never

/** The owner unarchived the group. Members can change it again. */
export type GroupUnarchived = Event<'GroupUnarchived', GroupUnarchivedData, GroupUnarchivedPersonal>

/** A member invited others to the group. Everybody who has the secret can join until the invitation expires or is revoked. */
export interface InvitationCreatedData {
  readonly invitationId: string
  /** SHA-256 of the secret in hex. The secret itself is stored nowhere. */
  readonly secretHash: string
  /** The instant at which the invitation expires. */
  readonly expiresAt: number
}

export type InvitationCreatedPersonal = never

/** A member invited others to the group. Everybody who has the secret can join until the invitation expires or is revoked. */
export type InvitationCreated = Event<'InvitationCreated', InvitationCreatedData, InvitationCreatedPersonal>

/** An invitation was revoked. */
export interface InvitationRevokedData {
  readonly invitationId: string
}

export type InvitationRevokedPersonal = never

/** An invitation was revoked. */
export type InvitationRevoked = Event<'InvitationRevoked', InvitationRevokedData, InvitationRevokedPersonal>

/** A person became a member of the group, for the first time or again. */
export interface MemberJoinedData {
  readonly userId: string
  /** SHA-256, in hex, of the secret of the invitation by which the person joined. Null if Telegram reported the person, in imports, and in events from before invitations existed. */
  readonly invitation: string | null
  /** The Telegram chat from which the person opened the Mini App, as Telegram signed it, if that admitted the person. */
  readonly chatId: string | null
}

/** A person became a member of the group, for the first time or again. */
export type MemberJoined = Event<'MemberJoined', MemberJoinedData, MemberJoinedPersonal>

/** A member left the group. Balances keep what they owe and are owed. */
export interface MemberLeftData {
  readonly userId: string
}

export type MemberLeftPersonal = never

/** A member left the group. Balances keep what they owe and are owed. */
export type MemberLeft = Event<'MemberLeft', MemberLeftData, MemberLeftPersonal>

/** A member's name, username or avatar changed. Items that were written before keep the old name. */
export interface MemberProfileChangedData {
  readonly userId: string
}

/** A member's name, username or avatar changed. Items that were written before keep the old name. */
export type MemberProfileChanged = Event<'MemberProfileChanged', MemberProfileChangedData, MemberProfileChangedPersonal>

/** The latest profile of a person, from any group. Derived. Keyed by the person. */
export interface ProfileToldData {
  /** The time of the event that it is derived from. An older profile does not replace a newer one. */
  readonly at: number
}

/** The latest profile of a person, from any group. Derived. Keyed by the person. */
export type ProfileTold = Event<'ProfileTold', ProfileToldData, ProfileToldPersonal>

/** A payment arrived, and the settlement counts from now on. If it names a transaction, it is derived from TransactionClaimed. */
export interface SettlementConfirmedData {
  readonly settlementId: string
  readonly txHash: string | null
  readonly verifiedAt: number
  readonly confirmedBy: ConfirmedBy
}

export type SettlementConfirmedPersonal = never

/** A payment arrived, and the settlement counts from now on. If it names a transaction, it is derived from TransactionClaimed. */
export type SettlementConfirmed = Event<'SettlementConfirmed', SettlementConfirmedData, SettlementConfirmedPersonal>

/** A payment did not happen. */
export interface SettlementFailedData {
  readonly settlementId: string
  readonly txHash: string | null
  readonly confirmedBy: ConfirmedBy
}

export type SettlementFailedPersonal = never

/** A payment did not happen. */
export type SettlementFailed = Event<'SettlementFailed', SettlementFailedData, SettlementFailedPersonal>

/** A member pays, or reports that they paid, what they owe to another. The settlement counts when it is confirmed. */
export interface SettlementProposedData {
  readonly settlementId: string
  readonly fromUserId: string
  readonly toUserId: string
  /** In the currency's smallest unit. */
  readonly amountMinor: bigint
  readonly currency: string
  readonly exponent: number
  /** The TON transaction, if it is known already. */
  readonly txHash: string | null
  /** The time by which settlements of a group are sorted. It never changes. */
  readonly proposedAt: number
  /** Hash of the imported row. */
  readonly rowHash: string | null
}

export type SettlementProposedPersonal = never

/** A member pays, or reports that they paid, what they owe to another. The settlement counts when it is confirmed. */
export type SettlementProposed = Event<'SettlementProposed', SettlementProposedData, SettlementProposedPersonal>

/** A TON transaction was claimed for a settlement. The first claim in the log wins. Keyed by the transaction. */
export interface TransactionClaimedData {
  readonly txHash: string
  readonly groupId: string
  readonly settlementId: string
  readonly verifiedAt: number
  readonly confirmedBy: ConfirmedBy
}

export type TransactionClaimedPersonal = never

/** A TON transaction was claimed for a settlement. The first claim in the log wins. Keyed by the transaction. */
export type TransactionClaimed = Event<'TransactionClaimed', TransactionClaimedData, TransactionClaimedPersonal>

/** A member set the wallet that receives their settlements. */
export interface WalletSetData {
  readonly userId: string
}

/** A member set the wallet that receives their settlements. */
export type WalletSet = Event<'WalletSet', WalletSetData, WalletSetPersonal>

/** The events that schemas/expenses.avdl declares. */
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
