import type { LedgerEntry, MilestoneItem, MilestonesItem } from '../../projections/activities/items.ts'
import { milestoneLists, milestones } from '../../projections/activities/keys.ts'
import { contributionsTo, dmOf, metresOf, partsEarnedAt, percentOf } from '../../projections/activities/milestones.ts'
import type { SportOf } from '../../projections/activities/sports.ts'
import type { Event } from '../../schemas/event.ts'
import type { Work } from '../folding/work.ts'
import { mintAwards } from './awards.ts'

/** An activity before and after an event. Undefined: it is not in the ledger. */
export interface Replaced {
  readonly before: LedgerEntry | undefined
  readonly after: LedgerEntry | undefined
}

/** Changes the progress of the active milestones by the difference that an activity makes, and mints the awards that they have earned. */
export const moveMilestones = (
  work: Work,
  event: Event,
  { before, after }: Replaced,
  { sportOf, epoch }: { readonly sportOf: SportOf; readonly epoch: number },
): void => {
  const { key: user } = event.meta
  const active = work.get<MilestonesItem>(milestoneLists.key(user))?.active ?? []
  let isChanged = false
  for (const milestone of active.map((id) => work.get<MilestoneItem>(milestones.key(user, id)))) {
    if (milestone === undefined) continue
    const contribution = contributionsTo(milestone, sportOf)
    const amount = (entry: LedgerEntry | undefined): number => (entry === undefined ? 0 : contribution(entry))
    const difference = amount(after) - amount(before)
    if (difference === 0) continue
    isChanged = true
    work.put(withProgress(milestone, Math.max(0, dmOf(milestone.progressValue) + difference), epoch))
  }
  if (isChanged && after !== undefined) mintAwards(work, event, active)
}

/** The milestone with another progress in decimetres. The version increases by 1. */
export const withProgress = (milestone: MilestoneItem, progressDm: number, epoch: number): MilestoneItem => ({
  ...milestone,
  epoch,
  progressValue: metresOf(progressDm),
  highWaterProgress: Math.max(milestone.highWaterProgress, metresOf(progressDm)),
  percentComplete: percentOf(progressDm, milestone),
  partsEarned: partsEarnedAt(progressDm, milestone),
  version: milestone.version + 1,
})
