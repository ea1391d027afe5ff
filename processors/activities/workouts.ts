import type { PresentWorkout, SyncItem, WorkoutItem } from '../../projections/activities/items.ts'
import { workouts } from '../../projections/activities/keys.ts'
import { entryOf, metresOf } from '../../projections/activities/milestones.ts'
import type { SportOf } from '../../projections/activities/sports.ts'
import { isoOf, msOf } from '../../projections/instant.ts'
import { bare } from '../../projections/item.ts'
import type { Event } from '../../schemas/event.ts'
import type { ActivityFetched, ActivityFetchedPersonal } from '../../schemas/generated/activities.ts'
import type { Work } from '../folding/work.ts'
import { unitOf } from './connections.ts'
import { replaceEntry } from './ledger.ts'
import { moveMilestones } from './progress.ts'

/** The latest time at which the activity is known not to exist, in epoch seconds. */
export const absentSince = ({ deleted, gaveUp }: SyncItem): number => Math.max(deleted ?? NEVER, gaveUp ?? NEVER)
const NEVER = -Infinity

/** True if a request that is later than every delete returned the activity. */
const isPresent = (sync: SyncItem): boolean => (sync.applied ?? NEVER) > absentSince(sync)

/**
 * Stores the activity, if it exists: a request that is later than every delete returned it. Keeps the newest request. A request for an older
 * webhook never replaces one for a newer webhook. An activity whose id belongs to another pseudonym is not stored.
 */
export const storeBody = (
  work: Work,
  event: ActivityFetched,
  { body, sync, sportOf }: { body: ActivityFetchedPersonal; sync: SyncItem; sportOf: SportOf },
): void => {
  const { data, meta } = event
  if (data.asked <= absentSince(sync)) return removeWorkout(work, event, sync, sportOf)
  const stored = work.get<WorkoutItem>(workouts.key(meta.key, body.activityId))
  if (body.activityId !== sync.activityId || (stored !== undefined && stored.ref !== sync.ref)) return
  const before = present(stored)
  if (before !== undefined && isNotNewer(event, before)) return
  const epoch = unitOf(data.epoch)
  const after = workoutOf(event, body, epoch)
  const entry = entryOf(after)
  const was = before && entryOf(before)
  const page = replaceEntry(work, { user: meta.key, epoch }, { before: was, page: before?._page, after: entry })
  work.put({ ...after, _page: page ?? '' })
  moveMilestones(work, event, { before: was, after: entry }, { sportOf, epoch })
}

/** Removes the data of an activity that does not exist any more. Only its id stays, so that every order of the same webhooks gives the same item. */
export const removeWorkout = (work: Work, event: Event, sync: SyncItem, sportOf: SportOf): void => {
  const { activityId, ref, epoch } = sync
  if (activityId === null || isPresent(sync)) return
  const { key: user } = event.meta
  const stored = work.get<WorkoutItem>(workouts.key(user, activityId))
  if (stored !== undefined && stored.ref !== ref) return
  const before = present(stored)
  work.put({ ...workouts.key(user, activityId), activityId, ref, epoch, isDeleted: true } satisfies WorkoutItem)
  if (before === undefined) return
  const was = entryOf(before)
  replaceEntry(work, { user, epoch }, { before: was, page: before._page, after: undefined })
  moveMilestones(work, event, { before: was, after: undefined }, { sportOf, epoch })
}

const present = (workout: WorkoutItem | undefined): PresentWorkout | undefined =>
  workout === undefined || workout.isDeleted ? undefined : bare(workout)

const isNotNewer = (
  { data: { asked, requestedAt } }: ActivityFetched,
  { eventTime, fetchedAtUtc }: PresentWorkout,
): boolean => asked < eventTime || (asked === eventTime && requestedAt <= msOf(fetchedAtUtc))

const workoutOf = ({ data, meta }: ActivityFetched, body: ActivityFetchedPersonal, epoch: number): PresentWorkout => ({
  ...workouts.key(meta.key, body.activityId),
  activityId: body.activityId,
  epoch,
  isDeleted: false,
  ref: data.ref,
  name: body.name,
  sportType: body.sportType,
  startDateUtc: isoOf(body.startDate),
  startDateLocal: isoOf(body.startDateLocal).slice(0, 'YYYY-MM-DDTHH:MM:SS'.length),
  utcOffsetS: body.utcOffsetS,
  hidden: body.hidden,
  distanceMeters: metresOf(body.distanceDm),
  totalElevationGain: metresOf(body.elevationDm),
  movingTimeS: body.movingS,
  elapsedTimeS: body.elapsedS,
  visibility: body.visibility,
  eventTime: data.asked,
  fetchedAtUtc: isoOf(data.requestedAt),
  _page: '',
})
