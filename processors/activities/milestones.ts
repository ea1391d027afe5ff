import type { MilestoneItem, MilestonePartsItem, MilestonesItem } from '../../projections/activities/items.ts'
import { milestoneLists, milestoneParts, milestones } from '../../projections/activities/keys.ts'
import {
  contributionsTo,
  dmOf,
  MAX_ACTIVE,
  MAX_MILESTONES,
  MAX_PARTS,
  MAX_TARGET,
} from '../../projections/activities/milestones.ts'
import { refuse } from '../../projections/activities/refusals.ts'
import type { SportOf } from '../../projections/activities/sports.ts'
import { isInstant, isoOf } from '../../projections/instant.ts'
import { bare } from '../../projections/item.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import type { MilestoneArchived, MilestoneCreated, MilestonesRecomputed } from '../../schemas/generated/activities.ts'
import { startWork } from '../folding/work.ts'
import { mintAwards, noAwards } from './awards.ts'
import { isReference } from './bodies.ts'
import { refusedFor, unitIn } from './connections.ts'
import { ledgerEntries } from './ledger.ts'
import { partOf } from './models.ts'
import { withProgress } from './progress.ts'

/** Creates a milestone. The activities that the person has already count from the beginning of its period. */
export const milestoneCreated =
  (sportOf: SportOf) =>
  (event: MilestoneCreated, get: Get): Result => {
    const { data, meta } = event
    const { key: user } = meta
    const list = get<MilestonesItem>(milestoneLists.key(user))
    const refused = refusedFor(get, user) ?? invalid(event)
    if (refused !== undefined) return refused
    if (list?.all.includes(data.milestoneId)) return DUPLICATE
    const { active, all } = list ?? { active: [], all: [] }
    if (all.length >= MAX_MILESTONES)
      return refuse('too-many-milestones', `A person has at most ${MAX_MILESTONES} milestones, with archived ones.`)
    if (active.length >= MAX_ACTIVE)
      return refuse('too-many-active-milestones', `At most ${MAX_ACTIVE} milestones are active. Archive one first.`)
    const work = startWork(get)
    const parts: MilestonePartsItem = { ...milestoneParts.key(user, data.milestoneId), parts: data.parts.map(partOf) }
    work.put(parts)
    work.put({
      ...milestoneLists.key(user),
      active: [...active, data.milestoneId],
      all: [...all, data.milestoneId],
    } satisfies MilestonesItem)
    const created = newMilestone(event, unitIn(get, user))
    for (const milestone of recounted(get, user, [created], sportOf)) work.put({ ...milestone, version: 1 })
    mintAwards(work, event, [data.milestoneId])
    return work.result()
  }

const invalid = ({ data }: MilestoneCreated): Result | undefined => {
  const { milestoneId, totalTarget, partsTotal, parts, periodStart, modelId } = data
  const isValid =
    [milestoneId, modelId].every(isReference) &&
    totalTarget >= 1 &&
    totalTarget <= MAX_TARGET &&
    partsTotal >= 1 &&
    partsTotal <= MAX_PARTS &&
    parts.length === partsTotal &&
    isInstant(periodStart)
  if (isValid) return undefined
  return refuse(
    'milestone-invalid',
    `A milestone has 1 to ${MAX_PARTS} parts and a target of 1 to ${MAX_TARGET} metres, and starts in the years 1 to 9998.`,
  )
}

const newMilestone = ({ data, meta }: MilestoneCreated, epoch: number): MilestoneItem => ({
  ...milestones.key(meta.key, data.milestoneId),
  milestoneId: data.milestoneId,
  modelId: data.modelId,
  sport: data.sport,
  targetType: data.targetType,
  totalTarget: data.totalTarget,
  partsTotal: data.partsTotal,
  periodStartAtUtc: isoOf(data.periodStart),
  createdAtUtc: isoOf(meta.occurredAt),
  epoch,
  progressValue: 0,
  highWaterProgress: 0,
  percentComplete: 0,
  partsAwardedCount: 0,
  partsEarned: 0,
  status: 'ACTIVE',
  version: 1,
  _awards: noAwards(data.partsTotal),
  _toldVersion: 1,
})

/** Computes the progress of milestones from the ledger. The version of a milestone whose progress stays does not change. */
const recounted = (
  get: Get,
  user: string,
  counted: readonly MilestoneItem[],
  sportOf: SportOf,
): readonly MilestoneItem[] => {
  const entries = ledgerEntries(get, user)
  const epoch = unitIn(get, user)
  return counted.map((milestone) => {
    const contribution = contributionsTo(milestone, sportOf)
    const progressDm = entries.reduce((sum, entry) => sum + contribution(entry), 0)
    return progressDm === dmOf(milestone.progressValue) ? milestone : withProgress(milestone, progressDm, epoch)
  })
}

/** The maximum number of milestones that one event recomputes. */
const MAX_RECOMPUTED = 20

export const milestonesRecomputed =
  (sportOf: SportOf) =>
  (event: MilestonesRecomputed, get: Get): Result => {
    const { data, meta } = event
    const { key: user } = meta
    const refused = refusedFor(get, user)
    if (refused !== undefined) return refused
    const ids = [...new Set(data.milestoneIds)].slice(0, MAX_RECOMPUTED)
    const found = ids.map((id) => get<MilestoneItem>(milestones.key(user, id)))
    if (found.includes(undefined)) return refuse('milestone-not-found', 'There is no such milestone.')
    const work = startWork(get)
    const before = found.flatMap((milestone) => milestone ?? [])
    for (const milestone of recounted(get, user, before, sportOf)) work.put(milestone)
    mintAwards(work, event, ids)
    return work.result()
  }

/** Archives a milestone. It keeps its awards and its progress, and activities no longer change it. */
export const milestoneArchived = (event: MilestoneArchived, get: Get): Result => {
  const { data, meta } = event
  const { key: user } = meta
  const refused = refusedFor(get, user)
  if (refused !== undefined) return refused
  const list = get<MilestonesItem>(milestoneLists.key(user))
  const milestone = get<MilestoneItem>(milestones.key(user, data.milestoneId))
  if (list === undefined || milestone === undefined) return refuse('milestone-not-found', 'There is no such milestone.')
  if (milestone.archivedAtUtc !== undefined) return DUPLICATE
  const archived: MilestoneItem = {
    ...bare(milestone),
    archivedAtUtc: isoOf(meta.occurredAt),
    version: milestone.version + 1,
    _toldVersion: milestone._toldVersion + 1,
  }
  return { items: [archived, { ...bare(list), active: list.active.filter((id) => id !== data.milestoneId) }] }
}
