import { projection, type Domain } from '../../projections/projection.ts'
import { userPartition } from '../../projections/access/keys.ts'
import { expensesPersonal } from '../../projections/expenses/personal.ts'
import { groupPartition, logKeyOf } from '../../projections/expenses/keys.ts'
import { expensesTable } from '../../projections/expenses/table.ts'
import type { CommonEvent } from '../../schemas/generated/common.ts'
import type { ExpensesEvent } from '../../schemas/generated/expenses.ts'
import { forgetting } from '../folding/forgotten.ts'
import { ACCESS_EVENTS, accessFolds } from '../folding/tokens.ts'
import { chatLinked, chatUnlinked } from './chats.ts'
import { expenseDeleted, expenseRestored } from './deletions.ts'
import { expenseRecorded, expenseRevised } from './expenses.ts'
import { groupChatMigrated, groupCreated, groupCurrencyChanged, groupRenamed, groupSettingsChanged } from './groups.ts'
import { invitationCreated, invitationRevoked } from './invitations.ts'
import { groupMemberRemoved, memberJoined, memberLeft, memberProfileChanged, walletSet } from './members.ts'
import { groupArchived, groupOwnerChanged, groupUnarchived } from './owners.ts'
import { storeProfile } from './profiles.ts'
import { withdraw } from './roster.ts'
import { settlementConfirmed, settlementFailed, settlementProposed } from './settlements.ts'
import { transactionClaimed } from './transactions.ts'

/** Nobody can act for a forgotten person. So if a forgotten person owns a group, `withdraw` makes another member the owner. */
const { personalItems, personForgotten } = forgetting({
  partitions: (key, subject) => [groupPartition(key), ...(key === subject ? [userPartition(key)] : [])],
  personal: expensesPersonal,
  also: withdraw,
})

export const expenses: Domain = {
  name: 'expenses',
  topic: 'expenses.events',
  table: expensesTable,
  partitions: { keyIn: logKeyOf, example: 'GROUP#0b6f3c1e-5d0a-4a53-9d53-6f1f0f7a2c11 or USER#4711' },
  foldVersion: 3,
  // Since fold version 3, a deleted expense is in an item of its own. Older edges look for it in its ExpenseNameItem, and do not find it.
  readableFrom: 3,
  keyedByPeople: [...ACCESS_EVENTS, 'ProfileTold'],
  personal: personalItems,
  projections: [
    projection<ExpensesEvent | CommonEvent>('expenses', {
      GroupCreated: groupCreated,
      GroupRenamed: groupRenamed,
      GroupCurrencyChanged: groupCurrencyChanged,
      GroupSettingsChanged: groupSettingsChanged,
      GroupChatMigrated: groupChatMigrated,
      GroupOwnerChanged: groupOwnerChanged,
      GroupArchived: groupArchived,
      GroupUnarchived: groupUnarchived,
      InvitationCreated: invitationCreated,
      InvitationRevoked: invitationRevoked,
      MemberJoined: memberJoined,
      MemberLeft: memberLeft,
      GroupMemberRemoved: groupMemberRemoved,
      MemberProfileChanged: memberProfileChanged,
      WalletSet: walletSet,
      ExpenseRecorded: expenseRecorded,
      ExpenseRevised: expenseRevised,
      ExpenseDeleted: expenseDeleted,
      ExpenseRestored: expenseRestored,
      SettlementProposed: settlementProposed,
      SettlementConfirmed: settlementConfirmed,
      SettlementFailed: settlementFailed,
      TransactionClaimed: transactionClaimed,
      ChatLinked: chatLinked,
      ChatUnlinked: chatUnlinked,
      ProfileTold: storeProfile,
      ...accessFolds,
      PersonForgotten: personForgotten,
    }),
  ],
}
