import type { ActivityFetchedPersonal } from '../../../schemas/generated/activities.ts'
import { memberOf, textMember } from '../../json-member.ts'
import { stravaId } from './json.ts'

const DAY_MS = 86_400_000
const HIDDEN_AT_MS = 1_000
/** More than the longest distance that Strava stores. Keeps the number of decimetres inside 32 bits. */
const MOST_METRES = 200_000_000
const MOST_SECONDS = 2_000_000_000
const MOST_OFFSET_S = 86_400
const MOST_NAME = 500

/** Reads an activity or a summary of an activity, in the units of our events. Undefined if it has no id or no start. An absent distance or gain counts as 0. */
export const readActivity = (value: unknown): ActivityFetchedPersonal | undefined => {
  const activityId = stravaId(memberOf(value, 'id'))
  const startDate = Date.parse(textMember(value, 'start_date'))
  if (activityId === undefined || !Number.isFinite(startDate)) return undefined
  const local = Date.parse(textMember(value, 'start_date_local'))
  const startDateLocal = Number.isFinite(local) ? local : startDate
  return {
    activityId,
    name: textMember(value, 'name').slice(0, MOST_NAME).toWellFormed(),
    sportType: textMember(value, 'sport_type') || textMember(value, 'type'),
    startDate,
    startDateLocal,
    utcOffsetS: Math.trunc(numberIn(value, 'utc_offset', MOST_OFFSET_S, -MOST_OFFSET_S)),
    hidden: ((startDateLocal % DAY_MS) + DAY_MS) % DAY_MS === HIDDEN_AT_MS,
    distanceDm: decimetres(numberIn(value, 'distance', MOST_METRES)),
    elevationDm: decimetres(numberIn(value, 'total_elevation_gain', MOST_METRES)),
    movingS: Math.trunc(numberIn(value, 'moving_time', MOST_SECONDS)),
    elapsedS: Math.trunc(numberIn(value, 'elapsed_time', MOST_SECONDS)),
    visibility: textMember(value, 'visibility') || (memberOf(value, 'private') === true ? 'only_me' : null),
  }
}

const decimetres = (metres: number): number => Math.round(metres * 10)

/** The number in a field, limited to `least` and `most`. 0 if the field has no number. */
const numberIn = (value: unknown, field: string, most: number, least = 0): number => {
  const number = memberOf(value, field)
  return typeof number === 'number' && Number.isFinite(number) ? Math.min(Math.max(number, least), most) : 0
}
