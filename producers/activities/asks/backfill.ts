import type { AskAnswer, AskCall, AskHandler } from '../../../projections/ask.ts'
import { getAll } from '../../../projections/entity.ts'
import { workouts } from '../../../projections/activities/keys.ts'
import { answer, fetched, type AskParts } from './link.ts'
import { listHandler, type ListedPage } from './lists.ts'

/** A backfill leaves the rest of each window to webhooks. */
const SHARE = { '15m': 0.5, day: 0.6, 'read-15m': 0.5, 'read-day': 0.6 }

/** Fetches all activities of an athlete, from the latest to the oldest, one page per call. */
export const backfillHandler = (parts: AskParts): AskHandler =>
  listHandler(parts, {
    share: SHARE,
    listing: ({ connection }) => connection.backfill,
    answerOf: (page, { reader }) => answerOf(parts, page, reader),
  })

const answerOf = async (
  { refs }: AskParts,
  page: ListedPage,
  reader: AskCall['reader'],
): Promise<readonly AskAnswer[]> => {
  const { link, body, activities, requestedAt, oldest, done } = page
  const { of } = await refs()
  const asked = Math.floor(requestedAt / 1000)
  const { epoch, run, page: number } = { ...body }
  const count = activities.length - (await countRepeated(page, reader))
  return [
    ...activities.map((activity) =>
      fetched(link, { ref: of('activity', activity.activityId), asked, requestedAt, via: 'backfill' }, activity),
    ),
    {
      ...answer('BackfillPageFetched', { epoch, run, page: number, count, done }),
      personal: { oldest },
      subjectId: link.subject,
    },
  ]
}

/** The number of activities that the previous page contained, because both pages contain the second `before`. */
const countRepeated = async ({ link, activities, before }: ListedPage, reader: AskCall['reader']): Promise<number> => {
  if (before === null) return 0
  const overlap = activities.filter(({ startDate }) => Math.floor(startDate / 1000) >= before)
  const stored = await getAll(
    reader,
    overlap.map(({ activityId }) => workouts.key(link.user, activityId)),
  )
  return stored.filter((workout) => workout?.isDeleted === false).length
}
