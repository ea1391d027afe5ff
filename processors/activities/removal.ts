import type { MilestoneItem, MilestonesItem } from '../../projections/activities/items.ts'
import { awardKey, milestoneLists, milestoneParts, milestones } from '../../projections/activities/keys.ts'
import { bare } from '../../projections/item.ts'
import type { Work } from '../folding/work.ts'
import { awardedParts, withoutAwards } from './awards.ts'

/** The maximum number of items that one event removes. */
const REMOVED_PER_EVENT = 80

/** Removes the milestones of a person with their parts and awards, as many as fit into one event. Returns true if none is left. */
export const removeMilestones = (work: Work, user: string): boolean => {
  const list = work.get<MilestonesItem>(milestoneLists.key(user))
  if (list === undefined) return true
  let left = REMOVED_PER_EVENT
  const remaining: string[] = []
  for (const id of list.all) {
    left -= left > 0 ? removeMilestone(work, user, id, left) : 0
    if (work.get<MilestoneItem>(milestones.key(user, id)) !== undefined) remaining.push(id)
  }
  work.put({ ...list, active: [], all: remaining } satisfies MilestonesItem)
  return remaining.length === 0
}

/** Removes at most `limit` items of a milestone: first the awards, then the milestone. Returns the number of removed items. */
const removeMilestone = (work: Work, user: string, id: string, limit: number): number => {
  const milestone = work.get<MilestoneItem>(milestones.key(user, id))
  if (milestone === undefined) return 0
  const awarded = awardedParts(milestone._awards)
  const parts = awarded.slice(0, limit)
  for (const part of parts) work.remove(awardKey(user, id, part))
  if (parts.length < awarded.length || limit - parts.length < 2) {
    work.put({ ...bare(milestone), _awards: withoutAwards(milestone._awards, parts) })
    return parts.length + 1
  }
  work.remove(milestoneParts.key(user, id))
  work.remove(milestones.key(user, id))
  return parts.length + 2
}
