import { memberOf } from '../../json-member.ts'
import { parseStravaJson, stravaId } from './json.ts'

/** The body of a webhook of Strava. */
export interface StravaNotice {
  readonly objectType: 'activity' | 'athlete'
  readonly aspect: 'create' | 'update' | 'delete'
  readonly objectId: string
  readonly ownerId: string
  readonly subscriptionId: string
  /** Epoch seconds, as Strava sent them. */
  readonly eventTime: number
  /** The changed fields. All values are text. */
  readonly updates: Readonly<Record<string, string>>
}

const OBJECTS = ['activity', 'athlete'] as const
const ASPECTS = ['create', 'update', 'delete'] as const
const MOST_UPDATES = 32

/** Reads the text of a body. Undefined if it has another form than Strava documents. */
export const readNotice = (text: string): StravaNotice | undefined => {
  const body = parsed(text)
  const objectType = OBJECTS.find((each) => each === memberOf(body, 'object_type'))
  const aspect = ASPECTS.find((each) => each === memberOf(body, 'aspect_type'))
  const [objectId, ownerId] = [stravaId(memberOf(body, 'object_id')), stravaId(memberOf(body, 'owner_id'))]
  const [subscriptionId, eventTime] = [stravaId(memberOf(body, 'subscription_id')), memberOf(body, 'event_time')]
  const updates = updatesIn(memberOf(body, 'updates'))
  if (
    objectType === undefined ||
    aspect === undefined ||
    objectId === undefined ||
    ownerId === undefined ||
    subscriptionId === undefined ||
    updates === undefined ||
    typeof eventTime !== 'number' ||
    !Number.isSafeInteger(eventTime) ||
    eventTime < 0
  )
    return undefined
  return { objectType, aspect, objectId, ownerId, subscriptionId, eventTime, updates }
}

const parsed = (text: string): unknown => {
  try {
    return parseStravaJson(text)
  } catch {
    return undefined
  }
}

/** The updates with sorted names, so that equal updates have equal hashes. Strava sends text; a number or a boolean becomes text. */
const updatesIn = (value: unknown): StravaNotice['updates'] | undefined => {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) return undefined
  const entries = Object.entries(value)
  return entries.length > MOST_UPDATES || entries.some(([, each]) => typeof each === 'object')
    ? undefined
    : Object.fromEntries(
        entries
          .map(([name, each]) => [name, String(each).toWellFormed()] as const)
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      )
}
