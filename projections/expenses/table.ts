import { ACCESS_KINDS, TOKEN_INDEX, TTL } from '../access/table.ts'
import type { TableSpec } from '../table.ts'
import { BALANCES, DELETED, ENTRIES, EXPENSE_NAMES, EXPENSES, MEMBERS, SETTLEMENT_NAMES, SETTLEMENTS } from './keys.ts'

/** Of a user: groups, and expenses they owe for (E2). */
export const USER_INDEX = TOKEN_INDEX.name
/** By the id of an expense or a settlement (E3); an expense's history, too. */
export const NAME_INDEX = 'GSI2'
/** Of a user: what they paid, sent and received (E4, E-e). */
export const ACTIVITY_INDEX = 'GSI3'

const GROUPS = 'GROUP#'

export const expensesTable: TableSpec = {
  name: 'FractiTable',
  ttl: TTL,
  indexes: [
    { ...TOKEN_INDEX, project: 'all' },
    { name: NAME_INDEX, pk: 'GSI2PK', sk: 'GSI2SK', project: 'all' },
    { name: ACTIVITY_INDEX, pk: 'GSI3PK', sk: 'GSI3SK', project: 'all' },
  ],
  kinds: [
    { name: 'group', pk: GROUPS, sk: 'METADATA' },
    { name: 'member', pk: GROUPS, sk: MEMBERS },
    { name: 'roster', pk: GROUPS, sk: 'ROSTER' },
    { name: 'invitations', pk: GROUPS, sk: 'INVITATIONS' },
    { name: 'expense', pk: GROUPS, sk: EXPENSES },
    { name: 'expense by name', pk: GROUPS, sk: EXPENSE_NAMES },
    { name: 'deleted expense', pk: GROUPS, sk: DELETED },
    { name: 'participant', pk: GROUPS, sk: 'PART#' },
    { name: 'settlement', pk: GROUPS, sk: SETTLEMENTS },
    { name: 'settlement by name', pk: GROUPS, sk: SETTLEMENT_NAMES },
    { name: 'settlement received', pk: GROUPS, sk: 'RECEIVED#' },
    { name: 'balance', pk: GROUPS, sk: BALANCES },
    { name: 'balance of a day', pk: GROUPS, sk: 'ASOF#' },
    { name: 'credit', pk: GROUPS, sk: 'OWED#' },
    { name: 'entry', pk: GROUPS, sk: ENTRIES },
    { name: 'profile', sk: 'PROFILE' },
    { name: 'transaction', pk: 'TXHASH#' },
    { name: 'chat', pk: 'CHAT#' },
    ...ACCESS_KINDS,
  ],
}
