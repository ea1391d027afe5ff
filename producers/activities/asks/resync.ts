import type { AskAnswer, AskCall, AskHandler } from '../../../projections/ask.ts'
import type { PresentWorkout, WorkoutItem } from '../../../projections/activities/items.ts'
import { ledgerPages, ledgers, workouts } from '../../../projections/activities/keys.ts'
import { getAll } from '../../../projections/entity.ts'
import type { Reader } from '../../../projections/table.ts'
import type { ActivityFetchedPersonal } from '../../../schemas/generated/activities.ts'
import { answer, fetched, type AskParts } from './link.ts'
import { listHandler, type ListedPage } from './lists.ts'

const SHARE = { '15m': 0.5, day: 0.8, 'read-15m': 0.5, 'read-day': 0.8 }
const DAYS_S = 35 * 86_400
/** At most this many activities are fetched one by one after a page. The next resync finds the others. */
const MOST_MISSING = 80

/** Compares the activities of the last 35 days with Strava's list, one page per call. */
export const resyncHandler = (parts: AskParts): AskHandler =>
  listHandler(parts, {
    share: SHARE,
    listing: ({ connection }) => connection.resync,
    answerOf: (page, { reader }) => answerOf(parts, page, reader),
  })

const answerOf = async (
  { refs }: AskParts,
  page: ListedPage,
  reader: AskCall['reader'],
): Promise<readonly AskAnswer[]> => {
  const { link, body, requestedAt, oldest } = page
  const asked = Math.floor(requestedAt / 1000)
  const first = asked - DAYS_S
  const activities = page.activities.filter(({ startDate }) => startDate >= first * 1000)
  const { of } = await refs()
  const stored = await getAll(
    reader,
    activities.map(({ activityId }) => workouts.key(link.user, activityId)),
  )
  const changed = activities.filter((activity, at) => isChanged(activity, stored[at]))
  const done = page.done || (oldest !== null && oldest < first)
  const from = page.done || oldest === null ? first : Math.max(first, oldest)
  const missing = await missingFrom(page, { from, reader })
  const { epoch, run, page: number } = { ...body }
  return [
    ...changed.map((activity) =>
      fetched(link, { ref: of('activity', activity.activityId), asked, requestedAt, via: 'resync' }, activity),
    ),
    {
      ...answer('ResyncPageFetched', {
        epoch,
        run,
        page: number,
        done,
        missing: missing.slice(0, MOST_MISSING).map((activityId) => of('activity', activityId)),
      }),
      personal: { oldest },
      subjectId: link.subject,
    },
  ]
}

/** True if the activity is not stored, or is stored with other values. */
const isChanged = (activity: ActivityFetchedPersonal, stored: WorkoutItem | undefined): boolean =>
  stored === undefined || stored.isDeleted || fieldsOf(activity).some((value, at) => value !== storedFields(stored)[at])

const fieldsOf = ({
  name,
  sportType,
  startDate,
  hidden,
  distanceDm,
  elevationDm,
  visibility,
}: ActivityFetchedPersonal) => [name, sportType, startDate, hidden, distanceDm, elevationDm, visibility]

const storedFields = (workout: PresentWorkout) => [
  workout.name,
  workout.sportType,
  Date.parse(workout.startDateUtc),
  workout.hidden,
  Math.round(workout.distanceMeters * 10),
  Math.round(workout.totalElevationGain * 10),
  workout.visibility,
]

/**
 * The ids of the stored activities that start after `from` and not after the previous page, and that the page lacks. Leaves out activities of an
 * import: Strava's list need not contain them.
 */
const missingFrom = async (
  { link: { user }, activities, before }: ListedPage,
  { from, reader }: { readonly from: number; readonly reader: Reader },
): Promise<readonly string[]> => {
  const listed = new Set(activities.map(({ activityId }) => activityId))
  const ids = (await entriesSince(reader, user, from))
    .filter(([id, startS]) => startS > from && (before === null || startS <= before) && !listed.has(id))
    .map(([id]) => id)
  const stored = await getAll(
    reader,
    ids.map((id) => workouts.key(user, id)),
  )
  return ids.filter((_, at) => {
    const workout = stored[at]
    return workout?.isDeleted === false && workout.epoch > 0
  })
}

/** The entries of the ledger from the month of a time on. */
const entriesSince = async (reader: Reader, user: string, fromS: number) => {
  const ledger = await ledgers.get(reader, user)
  if (ledger === undefined) return []
  const from = new Date(fromS * 1000).toISOString().slice(0, 7)
  // A page of a month sorts after the month, and before the end of the range.
  const pages = await ledgerPages.every(reader, user, { from, to: `${ledger.last}~`, limit: 24 })
  return pages.flatMap(({ entries }) => entries)
}
