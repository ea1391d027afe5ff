import type { PresentWorkout } from '../../projections/activities/items.ts'
import { connections } from '../../projections/activities/keys.ts'
import { EARLIEST_S, LATEST_S, recentActivities, type ActivityPosition } from '../../projections/activities/queries.ts'
import { memberOf, textMember } from '../json-member.ts'
import { dateIn, instantOf } from '../http/instants.ts'
import { badCursor, listing } from '../http/lists.ts'
import { mistake } from '../http/problem.ts'
import type { Route } from '../http/route.ts'
import { bool, integer, number, text, textOrNull } from '../http/schemas.ts'
import { shape } from '../http/shape.ts'
import { requireNotDeleting } from './account.ts'
import { isHidden } from './milestone-routes.ts'

const activity = shape<PresentWorkout>()({
  activityId: text,
  name: text,
  sportType: text,
  startDateUtc: text,
  startDateLocal: { ...text, description: 'The local time of the start.' },
  hidden: { ...bool, description: 'Strava hides the time of the start.' },
  distanceMeters: number,
  totalElevationGain: number,
  movingTimeS: integer,
  elapsedTimeS: integer,
  visibility: textOrNull,
})

const bound = (description: string) => ({ type: 'string', minLength: 1, maxLength: 40, description }) as const

const listActivities = listing({
  url: '/activities/recent',
  operationId: 'listActivities',
  summary: 'List your activities, the newest first.',
  admit: requireNotDeleting,
  query: {
    from: bound('A day (UTC) or an RFC 3339 instant: only activities that start then or later.'),
    to: bound('A day (UTC) or an RFC 3339 instant: only activities that start then or earlier.'),
  },
  of: activity,
  page: async ({ caller: { reader, user }, query }, { limit, cursor }) => {
    const from = query.from === undefined ? EARLIEST_S : secondsOf(query.from, 'querystring/from', 'T00:00:00Z')
    const to = query.to === undefined ? LATEST_S : secondsOf(query.to, 'querystring/to', 'T23:59:59Z')
    if (from > to)
      throw mistake(400, {
        pointer: 'querystring/from',
        code: 'bad-range',
        detail: 'querystring/from must not be after querystring/to.',
      })
    const after = cursor === undefined ? undefined : positionIn(cursor)
    if (isHidden(await connections.get(reader, user))) return { items: [] }
    const { items, last } = await recentActivities(reader, user, { from, to, after, limit })
    return { items, ...(last && { cursor: Buffer.from(JSON.stringify(last)).toString('base64url') }) }
  },
})

/** The epoch seconds of an instant, or of a day with this time. */
const secondsOf = (value: string, pointer: string, timeOfDay: string): number =>
  Math.floor(
    instantOf(/^\d{4}-\d\d-\d\d$/.test(value) ? `${dateIn(value, pointer)}${timeOfDay}` : value, pointer) / 1000,
  )

const positionIn = (cursor: string): ActivityPosition => {
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const [startS, activityId] = [memberOf(position, 'startS'), textMember(position, 'activityId')]
    return Number.isSafeInteger(startS) && activityId !== '' ? { startS: Number(startS), activityId } : badCursor()
  } catch {
    return badCursor()
  }
}

export const activityRoutes: readonly Route[] = [listActivities]
