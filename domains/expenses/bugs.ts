import type { Item, Key } from '../../projections/item.ts'
import type { Change, Get } from '../../projections/projection.ts'
import type { BalanceItem, ExpenseItem, InvitationsItem } from '../../projections/expenses/items.ts'
import { groupPartition } from '../../projections/expenses/keys.ts'
import type { Bug } from '../../simulation/bug.ts'
import { rulesOf, type Fold } from '../../simulation/bug-rules.ts'

const { ruling, writing } = rulesOf('expenses')

/** Returns a bug for the simulation: the fold of one event type reads changed items. */
const finding = (type: string, change: (item: Item | undefined, key: Key) => Item | undefined): Bug =>
  ruling((fold, each): Fold =>
    each === type
      ? (event, get) =>
          fold(event, (<I extends Item>(key: Key) => change(get(key), key) as I | undefined) satisfies Get)
      : fold,
  )

const dropping = (prefix: string, types: readonly string[]): Bug =>
  writing((item) => (item.SK.startsWith(prefix) ? [] : [item]), types)

const without = (item: BalanceItem): BalanceItem => ({
  ...item,
  members: Object.fromEntries(Object.entries(item.members).slice(1)),
})
const short = ({ splits, ...expense }: ExpenseItem): ExpenseItem => ({ ...expense, splits: splits.slice(1) })

/** The common part of the bugs that appear only after a person was forgotten. The checker C8 must find them. */
const FORGETS: Bug = { options: { domain: 'expenses', moves: [] }, detectedBy: 'C8' }

export const EXPENSES_BUGS: Readonly<Record<string, Bug>> = {
  'a deleted expense still counts in the balances': dropping('BALANCE#', ['ExpenseDeleted']),
  'a revision does not reach the balances': dropping('BALANCE#', ['ExpenseRevised']),
  'a balance lacks one member': writing((item) =>
    item.SK.startsWith('BALANCE#') && 'members' in item ? [without(item as Item as BalanceItem)] : [item],
  ),
  'the parts of an expense do not sum up': writing((item) =>
    item.SK.startsWith('TX#') && 'splits' in item ? [short(item as Item as ExpenseItem) as Change] : [item],
  ),
  'a part stays when its expense is deleted': dropping('PART#', ['ExpenseDeleted']),
  'a repeated expense counts twice': finding('ExpenseRecorded', (item, { SK }) =>
    SK.startsWith('EXPENSE#') ? undefined : item,
  ),
  'a revision of a stale expense is applied': ruling((fold, type) =>
    type === 'ExpenseRevised'
      ? (event, get) => {
          const { refusal } = fold(event, get)
          const current = /at revision (\d+)/.exec(refusal?.code === 'revision-stale' ? refusal.detail : '')
          return current === null
            ? fold(event, get)
            : fold({ ...event, data: { ...(event.data as object), revision: Number(current[1]) + 1 } }, get)
        }
      : fold,
  ),
  'every member can correct every expense': ruling((fold, type) =>
    type === 'ExpenseRevised' ? (event, get) => fold({ ...event, meta: { ...event.meta, actorId: null } }, get) : fold,
  ),
  'the expense stays at its old date after the date is corrected': writing(
    (item) => (item.SK.startsWith('TX#') && '_removed' in item ? [] : [item]),
    ['ExpenseRevised'],
  ),
  'a restored expense stays listed as deleted': dropping('DELETED#', ['ExpenseRestored']),
  'every member can delete every expense': ruling((fold, type) =>
    type === 'ExpenseDeleted' ? (event, get) => fold({ ...event, meta: { ...event.meta, actorId: null } }, get) : fold,
  ),
  'a settlement is confirmed again': finding('SettlementConfirmed', (item, { SK }) =>
    SK.startsWith('SETTLE#') && item ? { ...item, status: 'pending', _heard: [] } : item,
  ),
  'debts ignore a confirmed settlement': dropping('OWED#', ['SettlementConfirmed']),
  'the settlement of the payee keeps its old status': dropping('RECEIVED#', [
    'SettlementConfirmed',
    'SettlementFailed',
  ]),
  'one transaction settles several settlements': finding('TransactionClaimed', () => undefined),
  'a group still counts a member who left': dropping('METADATA', ['MemberLeft']),
  'a removed member joins by an old invitation': finding('MemberJoined', (item, { SK }) =>
    SK.startsWith('USER#') && item ? { ...item, admittedFrom: 0 } : item,
  ),
  'a removed member joins without an invitation': finding('MemberJoined', (item, { SK }) => {
    if (!SK.startsWith('USER#') || item === undefined) return item
    const { removedAt: _, ...rest } = item
    return rest as Item
  }),
  'a removed member can record expenses': finding('ExpenseRecorded', (item, { SK }) => {
    if (!SK.startsWith('USER#') || item === undefined) return item
    const { removedAt: _, ...rest } = item
    return rest as Item
  }),
  'an expired invitation admits': finding('MemberJoined', (item, { SK }) =>
    SK === 'INVITATIONS' && item
      ? {
          ...item,
          open: (item as Item as InvitationsItem).open.map((invitation) => ({ ...invitation, expiresAt: '9999' })),
        }
      : item,
  ),
  'a revoked invitation admits': dropping('INVITATIONS', ['InvitationRevoked']),
  'an invitation outlives the membership of its creator': dropping('INVITATIONS', ['MemberLeft', 'GroupMemberRemoved']),
  'an owner who leaves stays the owner': writing(
    (item) => (item.SK === 'ROSTER' ? [] : [item]),
    ['MemberLeft', 'GroupMemberRemoved'],
  ),
  'every member can remove others': ruling((fold, type) =>
    type === 'GroupMemberRemoved'
      ? (event, get) => fold({ ...event, meta: { ...event.meta, actorId: null } }, get)
      : fold,
  ),
  'an archived group accepts an expense': finding('ExpenseRecorded', (item, { SK }) => {
    if (SK !== 'METADATA' || item === undefined) return item
    const { archivedAt: _, ...rest } = item
    return rest as Item
  }),
  'a name stays in a deleted expense': {
    ...FORGETS,
    domain: (domain) => ({
      ...domain,
      ...(domain.personal && {
        personal: {
          ...domain.personal,
          hasPersonalData: (item, subject) =>
            !item.SK.startsWith('DELETED#') && domain.personal?.hasPersonalData(item, subject) === true,
        },
      }),
    }),
  },
  'the profile of a forgotten person stays': {
    ...FORGETS,
    domain: (domain) => ({
      ...domain,
      ...(domain.personal && { personal: { ...domain.personal, partitions: (key) => [groupPartition(key)] } }),
    }),
  },
}
