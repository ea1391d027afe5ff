import { MAX_DM } from '../../projections/activities/milestones.ts'
import { isInstant } from '../../projections/instant.ts'
import { FORGOTTEN, type Forgotten } from '../../schemas/event.ts'
import type { ActivityFetchedPersonal } from '../../schemas/generated/activities.ts'

/** Strava's ids as digits. They are never numbers, because they can be longer than a double is exact. */
const isId = (text: string): boolean => /^\d{1,20}$/.test(text)

/** Returns an id of Strava. Null if the text is not an id, or if the person was forgotten. */
export const idOf = (text: string | undefined): string | null => (text !== undefined && isId(text) ? text : null)

/** A pseudonym: a hash as text. */
export const isReference = (text: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(text)

/** The personal field of an event. Undefined if the event has none, or if its person was forgotten. */
export const readable = <P>(personal: P | Forgotten | null): P | undefined =>
  personal === null || personal === FORGOTTEN ? undefined : personal

const MAX_NAME = 500
const MAX_TYPE = 64

/** Returns the activity in an event, with all amounts within their limits. Undefined if it cannot be read, or if it is not an activity. */
export const bodyOf = (personal: ActivityFetchedPersonal | Forgotten | null): ActivityFetchedPersonal | undefined => {
  const body = readable(personal)
  if (body === undefined || !isId(body.activityId) || !isInstant(body.startDate) || !isInstant(body.startDateLocal))
    return undefined
  return {
    ...body,
    name: body.name.slice(0, MAX_NAME),
    sportType: body.sportType.slice(0, MAX_TYPE),
    visibility: body.visibility?.slice(0, MAX_TYPE) ?? null,
    utcOffsetS: within(body.utcOffsetS, -DAY_S, DAY_S),
    distanceDm: within(body.distanceDm, 0, MAX_DM),
    elevationDm: within(body.elevationDm, 0, MAX_DM),
  }
}

const DAY_S = 86_400

const within = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most)
