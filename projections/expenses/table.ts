import { ACCESS_KINDS, TOKEN_INDEX, TTL } from '../access/table.ts'
import type { TableSpec } from '../table.ts'
import {
  balances,
  chats,
  credits,
  dayBalances,
  deletedExpenses,
  entries,
  expenseNames,
  expenses,
  groups,
  invitations,
  members,
  participants,
  profiles,
  received,
  rosters,
  settlementNames,
  settlements,
  transactions,
} from './keys.ts'

/** The index of the groups of a user, and of the expenses for which the user owes (E2). */
export const USER_INDEX = TOKEN_INDEX.name
/** The index of expenses and settlements by id (E3), and of the history of an expense. */
export const NAME_INDEX = 'GSI2'
/** The index of the expenses that a user paid, and of the settlements that the user sent and received (E4, E-e). */
export const ACTIVITY_INDEX = 'GSI3'

export const expensesTable: TableSpec = {
  name: 'FractiTable',
  ttl: TTL,
  indexes: [
    { ...TOKEN_INDEX, project: 'all' },
    { name: NAME_INDEX, pk: 'GSI2PK', sk: 'GSI2SK', project: 'all' },
    { name: ACTIVITY_INDEX, pk: 'GSI3PK', sk: 'GSI3SK', project: 'all' },
  ],
  kinds: [
    ...[
      groups,
      members,
      rosters,
      invitations,
      expenses,
      expenseNames,
      deletedExpenses,
      participants,
      settlements,
      settlementNames,
      received,
      balances,
      dayBalances,
      credits,
      entries,
      profiles,
      transactions,
      chats,
    ].map(({ kind }) => kind),
    ...ACCESS_KINDS,
  ],
}
