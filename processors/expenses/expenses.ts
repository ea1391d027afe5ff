import { FORGOTTEN } from '../../schemas/event.ts'
import type {
  ExpenseDeleted,
  ExpenseRecorded,
  ExpenseRestored,
  ExpenseRevised,
} from '../../schemas/generated/expenses.ts'
import { DUPLICATE, MAX_CHANGES, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type {
  EntryItem,
  ExpenseItem,
  ExpenseNameItem,
  ExpenseState,
  GroupItem,
} from '../../projections/expenses/items.ts'
import { canCorrect } from '../../projections/expenses/rules.ts'
import {
  deletedExpenses,
  expenseNamed,
  expenseNames,
  expenses,
  historyOf,
  isId,
} from '../../projections/expenses/keys.ts'
import type { Refused } from '../../projections/refusal.ts'
import { refuse } from '../../projections/expenses/refusals.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { startWork, type Work } from '../folding/work.ts'
import { contribute, negated, ofExpense, type Moved } from './balances.ts'
import { addEntry } from './entries.ts'
import { putExpense, removeExpense, expenseFields } from './expense-items.ts'
import { changeableGroup, inactiveRefusal, isOf } from './rights.ts'
import { misfit } from './sharing.ts'

/** Records an expense. One commit contains the expense, its participants and their debts (E42). */
export const expenseRecorded = (event: ExpenseRecorded, get: Get): Result => {
  const { data, meta } = event
  const { expenseId: id, spentAt, rowHash } = data
  const group = changeableGroup(event, get)
  if ('refusal' in group) return group
  if (!isId(id)) return refuse('expense-invalid', 'An expense needs an id of 1 to 64 letters, digits and _ . : @ -')
  if (get(expenseNames.key(meta.key, id)) !== undefined) return DUPLICATE
  const work = startWork(get)
  const refused = misfit(work, event)
  if (refused !== undefined) return refused
  const at = isoOf(spentAt)
  const expense: ExpenseItem = {
    GSI2PK: expenseNamed(id),
    GSI2SK: meta.key,
    id,
    groupId: meta.key,
    createdAt: isoOf(meta.occurredAt),
    createdBy: meta.actorId,
    revision: 1,
    _heard: withApplied(undefined, event),
    ...expenseFields(work, event, { group, spentAt: at, id }),
    ...(rowHash !== null && { rowHash }),
    ...expenses.key(meta.key, at, id),
  }
  work.put({ at, state: 'present', ...expenseNames.key(meta.key, id) } satisfies ExpenseNameItem)
  return replaceExpense(work, event, { kind: 'expense-recorded', before: undefined, after: expense })
}

/** Replaces the whole expense, and changes the balances by the difference, in one movement (E-g). A changed date changes the key. */
export const expenseRevised = (event: ExpenseRevised, get: Get): Result => {
  const { data } = event
  const found = findExpense(get, event)
  if ('refusal' in found) return found
  const { group, name, expense: before } = found
  if (hasApplied(before._heard, event)) return DUPLICATE
  if (name.state === 'deleted') return refuse('expense-deleted', `Expense ${before.id} is deleted. Restore it first.`)
  const forbidden = editorOnly(event, get, found)
  if (forbidden !== undefined) return forbidden
  if (data.revision !== before.revision + 1)
    return refuse(
      'revision-stale',
      `Expense ${before.id} is at revision ${before.revision}, and the request is based on revision ${data.revision - 1}. Read the expense again.`,
    )
  const work = startWork(get)
  const refused = misfit(work, event, before)
  if (refused !== undefined) return refused
  const spentAt = data.spentAt === null ? name.at : isoOf(data.spentAt)
  work.put({ ...name, at: spentAt } satisfies ExpenseNameItem)
  const after = {
    ...before,
    ...expenseFields(work, event, { group, spentAt, id: before.id }),
    ...expenses.key(event.meta.key, spentAt, before.id),
    revision: data.revision,
    _heard: withApplied(before._heard, event),
  }
  return replaceExpense(work, event, {
    kind: 'expense-revised',
    before,
    after,
    reason: event.personal === null || event.personal === FORGOTTEN ? null : event.personal.reason,
  })
}

interface FoundExpense {
  readonly group: GroupItem
  readonly name: ExpenseNameItem
  readonly expense: ExpenseItem
}

/** The expense that an event changes, also if it is deleted. Refuses the event if there is no such expense, or if the group accepts no changes. */
export const findExpense = (
  get: Get,
  event: ExpenseRevised | ExpenseDeleted | ExpenseRestored,
): FoundExpense | Refused => {
  const {
    data: { expenseId: id },
    meta: { key: group },
  } = event
  const item = changeableGroup(event, get)
  if ('refusal' in item) return item
  const name = isId(id) ? get(expenseNames.key(group, id)) : undefined
  const expense =
    name &&
    (name.state === 'deleted'
      ? get(deletedExpenses.key(group, name.deletedAt, id))?.expense
      : get(expenses.key(group, name.at, id)))
  return name === undefined || expense === undefined
    ? refuse('expense-not-found', `There is no expense ${id} in group ${group}.`)
    : { group: item, name, expense }
}

/**
 * Refuses people who cannot correct the expense. Imports and operators (events without an actor) are not refused. The edge refuses a payer
 * who left the group. The fold does not, because the edge can have appended the event before it read the departure.
 */
const editorOnly = (event: ExpenseRevised, get: Get, { expense, group }: FoundExpense): Refused | undefined => {
  const { key, actorId } = event.meta
  if (actorId === null || isOf(event, expense.payerId)) return undefined
  if (canCorrect(actorId, expense, group)) return inactiveRefusal(get, key, actorId)
  return refuse(
    'editor-only',
    `Only the payer (${expense.payerId}), the person who recorded it and the owner of the group can correct expense ${expense.id}.`,
  )
}

interface Change {
  readonly kind: EntryItem['kind'] & `expense-${string}`
  readonly before: ExpenseItem | undefined
  readonly after: ExpenseItem | undefined
  /** The reason that the editor wrote. Null if there is none. */
  readonly reason?: string | null
}

/** Replaces `before` by `after` in the items and balances of the group, and adds an entry to the statement. */
export const replaceExpense = (
  work: Work,
  event: Parameters<typeof addEntry>[1],
  { kind, before, after, reason }: Change,
): Result => {
  const group = event.meta.key
  const moved = contribute(work, group, event.meta.occurredAt, [
    ...(before ? [negated(ofExpense(before))] : []),
    ...(after ? [ofExpense(after)] : []),
  ])
  if ('refusal' in moved) return moved
  if (before !== undefined) removeExpense(work, before)
  if (after !== undefined) putExpense(work, after)
  const shown = after ?? before
  if (shown !== undefined)
    addEntry(work, event, kind, {
      after: after === undefined ? null : shapeOf(after),
      ...entryOf({ kind, event: event.meta.eventId, ...moved }, shown),
      ...(reason !== undefined && { reason }),
    })
  const result = work.result()
  return (result.items?.length ?? 0) <= MAX_CHANGES
    ? result
    : refuse('too-many-changes', 'This changes more participants than fit one commit. Change it in two steps.')
}

/**
 * The fields of an entry about an expense, with its key in the history of the expense. The history is in the order of
 * time, and entries of the same time are in the order of revisions.
 */
const entryOf = ({ event, kind, at, moved }: Moved & { event: string; kind: Change['kind'] }, expense: ExpenseItem) => {
  const { id, revision, currency, exponent, amountMinor, description, describedBy } = expense
  const order = `${String(revision).padStart(9, '0')}${kind === 'expense-recorded' || kind === 'expense-revised' ? 'a' : 'b'}`
  return {
    GSI2PK: historyOf(id),
    GSI2SK: `${at}#${order}#${event}`,
    at,
    moved,
    expenseId: id,
    revision,
    currency,
    exponent,
    amountMinor,
    description,
    describedBy,
  }
}

const shapeOf = ({ spentAt, payerId, splitType, category, splits }: ExpenseItem): ExpenseState => ({
  spentAt,
  payerId,
  splitType,
  category,
  splits: splits.map(({ userId, amountMinor }) => ({ userId, amountMinor })),
})
