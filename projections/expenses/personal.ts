import type { PersonalByKind, PersonalOf } from '../personal.ts'
import type {
  DeletedExpenseItem,
  EntryItem,
  ExpenseItem,
  MemberItem,
  OlderDeletedName,
  ParticipantItem,
  ProfileItem,
  SettlementBody,
} from './items.ts'
import {
  deletedExpenses,
  entries,
  expenseNames,
  expenses,
  members,
  participants,
  profiles,
  received,
  settlements,
} from './keys.ts'

const profilePersonal = { name: 'id', username: 'id', avatarUrl: 'id' } as const satisfies PersonalOf<ProfileItem>
const expensePersonal = {
  payerName: 'payerId',
  description: 'describedBy',
  splits: { userName: 'userId' },
} as const satisfies PersonalOf<ExpenseItem>
const settlementPersonal = {
  fromUserName: 'fromUserId',
  toUserName: 'toUserId',
} as const satisfies PersonalOf<SettlementBody>

/** The attributes with names and texts of people, by kind of item. Each attribute names the attribute with the id of the person. */
export const expensesPersonal: PersonalByKind = {
  [members.prefix]: { ...profilePersonal, wallet: 'id' } satisfies PersonalOf<MemberItem>,
  [expenses.prefix]: expensePersonal,
  [deletedExpenses.prefix]: { expense: expensePersonal } satisfies PersonalOf<DeletedExpenseItem>,
  [expenseNames.prefix]: { expense: expensePersonal } satisfies PersonalOf<OlderDeletedName>,
  [participants.prefix]: {
    userName: 'userId',
    payerName: 'payerId',
    description: 'describedBy',
  } satisfies PersonalOf<ParticipantItem>,
  [settlements.prefix]: settlementPersonal,
  [received.prefix]: settlementPersonal,
  [entries.prefix]: { byName: 'by', description: 'describedBy', reason: 'describedBy' } satisfies PersonalOf<EntryItem>,
  [profiles.prefix]: profilePersonal,
}
