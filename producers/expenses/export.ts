import { expensesQueries } from '../../projections/expenses/queries.ts'
import type { Reader } from '../../projections/table.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Exporter, ExportPaging, ExportRow } from '../exporting.ts'
import { balance, namesOf } from './balance-views.ts'
import { entry, expense } from './expense-views.ts'
import { settlement } from './settlement-views.ts'
import * as views from './views.ts'
import { entries, expenses, groups, settlements } from '../../projections/expenses/keys.ts'

type SectionPaging = Pick<ExportPaging, 'limit' | 'cursor'>
type Rows = { readonly items: readonly ExportRow[]; readonly cursor?: string }

/** The sections of an export after its first page. Each function returns one page of its section. */
const SECTIONS = {
  expenses: async (reader: Reader, group: string, paging: SectionPaging): Promise<Rows> => {
    const { items, ...rest } = await expenses.page(reader, group, { reverse: true, ...paging })
    return { items: items.map((each) => ({ kind: 'expense', ...expense.view(each) })), ...rest }
  },
  settlements: async (reader: Reader, group: string, paging: SectionPaging): Promise<Rows> => {
    const { items, ...rest } = await settlements.page(reader, group, { reverse: true, ...paging })
    return { items: items.map((each) => ({ kind: 'settlement', ...settlement.view(each) })), ...rest }
  },
  history: async (reader: Reader, group: string, paging: SectionPaging): Promise<Rows> => {
    const { items, ...rest } = await entries.page(reader, group, { reverse: true, ...paging })
    return {
      items: items.map((each) => ({ ...entry.view(each), kind: 'entry', what: each.kind, groupId: group })),
      ...rest,
    }
  },
} as const
type Section = keyof typeof SECTIONS

/**
 * Exports a group: the group, its members and balances, its expenses and settlements, and its history.
 * `tributary import` can read the exported rows again.
 */
export const expensesExporter: Exporter = {
  page: async (reader, group, paging) =>
    paging.cursor === undefined ? opening(reader, group) : section(reader, group, paging),
  columns: [
    'kind',
    'date',
    'id',
    'userId',
    'userName',
    'toUserId',
    'toUserName',
    'description',
    'category',
    'currency',
    'amount',
    'splitType',
    'splits',
    'status',
    'paid',
    'share',
    'sent',
    'received',
    'net',
    'createdAt',
  ],
  cells: (row) => CELLS[row.kind]?.(row) ?? [],
}

const opening = async (reader: Reader, id: string): Promise<Rows | undefined> => {
  const queries = expensesQueries(reader)
  const [group, members, balances] = await Promise.all([
    groups.get(reader, id),
    queries.everyMember(id),
    queries.balances(id),
  ])
  if (group === undefined) return undefined
  const names = namesOf(members)
  return {
    items: [
      { kind: 'group', ...views.group.view(group), ownerSince: group.ownerSince },
      ...members.map((each) => ({ kind: 'member', groupId: id, ...views.member.view(each) })),
      ...balances.map((each) => ({
        kind: 'balance',
        groupId: id,
        changedAt: each.changedAt,
        ...balance.view(each, names),
      })),
    ],
    cursor: 'expenses.',
  }
}

const section = async (reader: Reader, group: string, { limit, cursor = '', history }: ExportPaging): Promise<Rows> => {
  const [, name, inner] = /^(\w+)\.(.*)$/.exec(cursor) ?? []
  if (name === undefined || !Object.hasOwn(SECTIONS, name))
    throw new Fault('bad-cursor', 'The cursor does not belong to this export. Repeat the request without it.')
  const found = await SECTIONS[name as Section](reader, group, { limit, ...(inner && { cursor: inner }) })
  const next = after(name as Section, found.cursor, history)
  return { items: found.items, ...(next !== undefined && { cursor: next }) }
}

/** Returns the cursor of the next page of a section, or of the next section. Undefined after the last section. */
const after = (name: Section, inner: string | undefined, history: boolean): string | undefined => {
  if (inner !== undefined) return `${name}.${inner}`
  return name === 'expenses' ? 'settlements.' : name === 'settlements' && history ? 'history.' : undefined
}

type Cells = Readonly<Record<string, unknown>>
const CELLS: Readonly<Record<string, (row: Cells) => readonly Cells[]>> = {
  group: ({ createdAt, title, ...row }) => [{ ...row, date: createdAt, description: title }],
  member: ({ joinedAt, leftAt, removedAt, id, name, groupId }) => [
    {
      kind: 'member',
      date: joinedAt,
      id: groupId,
      userId: id,
      userName: name,
      status: removedAt !== undefined ? 'removed' : leftAt === undefined ? 'active' : 'left',
    },
  ],
  balance: ({ kind, groupId, currency, changedAt, members }) =>
    (members as readonly Cells[]).map((member) => ({ kind, id: groupId, date: changedAt, currency, ...member })),
  expense: ({ payerId, payerName, splits, ...row }) => [
    {
      ...row,
      userId: payerId,
      userName: payerName,
      splits: (splits as readonly Cells[])
        .map(({ userId, amount }) => `${String(userId)} ${String(amount)}`)
        .join('; '),
    },
  ],
  settlement: ({ fromUserId, fromUserName, createdAt, ...row }) => [
    { ...row, userId: fromUserId, userName: fromUserName, date: createdAt },
  ],
  entry: ({ at, what, by, byName, expenseId, settlementId, description, title, currency, amount, userId }) => [
    {
      kind: 'entry',
      date: at,
      id: expenseId ?? settlementId,
      userId: by,
      userName: byName,
      toUserId: userId,
      description: description ?? title,
      currency,
      amount,
      status: what,
    },
  ],
}
