import type { GroupArchived, GroupOwnerChanged, GroupUnarchived } from '../../schemas/generated/expenses.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { EntryKind, GroupItem } from '../../projections/expenses/items.ts'
import { groups } from '../../projections/expenses/keys.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { startWork } from '../folding/work.ts'
import { addEntry } from './entries.ts'
import { noGroup } from './group-refusals.ts'
import { changeableGroup, ownerOnly } from './rights.ts'
import { memberMisfit } from './sharing.ts'

/** The owner hands the group over to another member. */
export const groupOwnerChanged = (event: GroupOwnerChanged, get: Get): Result => {
  const {
    data: { userId },
    meta,
  } = event
  const group = changeableGroup(event, get)
  if ('refusal' in group) return group
  if (hasApplied(group._heard, event) || group.ownerId === userId) return DUPLICATE
  const forbidden = ownerOnly(event, group)
  if (forbidden !== undefined) return forbidden
  const work = startWork(get)
  const unfit = memberMisfit(work, meta.key, [userId])
  if (unfit !== undefined) return unfit
  work.put({ ...group, ownerId: userId, ownerSince: isoOf(meta.occurredAt), _heard: withApplied(group._heard, event) })
  addEntry(work, event, 'owner-changed', { subjectId: userId })
  return work.result()
}

export const groupArchived = (event: GroupArchived, get: Get): Result =>
  changeAsOwner(event, get, {
    kind: 'group-archived',
    isDone: ({ archivedAt }) => archivedAt !== undefined,
    change: (group) => ({ ...group, archivedAt: isoOf(event.meta.occurredAt) }),
  })

export const groupUnarchived = (event: GroupUnarchived, get: Get): Result =>
  changeAsOwner(event, get, {
    kind: 'group-unarchived',
    isDone: ({ archivedAt }) => archivedAt === undefined,
    change: ({ archivedAt: _, ...group }) => ({ ...group, unarchivedAt: isoOf(event.meta.occurredAt) }),
  })

interface OwnerChange {
  readonly kind: EntryKind
  isDone(group: GroupItem): boolean
  change(group: GroupItem): GroupItem
}

const changeAsOwner = (
  event: GroupArchived | GroupUnarchived,
  get: Get,
  { kind, isDone, change }: OwnerChange,
): Result => {
  const group = get(groups.key(event.meta.key))
  if (group === undefined) return noGroup(event.meta.key)
  if (hasApplied(group._heard, event)) return DUPLICATE
  const forbidden = ownerOnly(event, group)
  if (forbidden !== undefined) return forbidden
  if (isDone(group)) return DUPLICATE
  const work = startWork(get)
  work.put({ ...change(group), _heard: withApplied(group._heard, event) })
  addEntry(work, event, kind, {})
  return work.result()
}
