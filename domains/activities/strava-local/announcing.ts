import type { Activity } from './activity.ts'
import { APPLICATION, type LocalStrava } from './strava.ts'
import type { Grant } from './tokens.ts'

/** Whether the application may see an activity. Strava sends events of activities only for scopes that can read them. */
const isVisible = ({ scopes }: Grant, activity: Activity | undefined): boolean => {
  if (activity === undefined) return false
  if (scopes.has('activity:read_all')) return true
  return scopes.has('activity:read') && activity.visibility !== 'only_me'
}

/** The changes that Strava announces: title, type and privacy. Privacy only with the scope `activity:read_all`. */
const updatesOf = (before: Activity, after: Activity, { scopes }: Grant): Readonly<Record<string, string>> => {
  const isPrivate = (activity: Activity) => activity.visibility === 'only_me'
  return {
    ...(before.name !== after.name && { title: after.name }),
    ...(before.sportType !== after.sportType && { type: after.sportType }),
    ...(scopes.has('activity:read_all') &&
      isPrivate(before) !== isPrivate(after) && { private: String(isPrivate(after)) }),
  }
}

const send = (
  strava: LocalStrava,
  event: { objectType: string; objectId: string; aspect: string; ownerId: string; updates?: Record<string, string> },
): void =>
  strava.webhooks.send({
    updates: {},
    ...event,
    eventTime: strava.clock.seconds(),
    subscriptionId: APPLICATION.subscriptionId,
  })

/**
 * Sends the event of a change, if the athlete has authorized the application. An activity that the application can no longer see is
 * announced as deleted, and one that it sees again as created.
 */
export const announceActivity = (
  strava: LocalStrava,
  before: Activity | undefined,
  after: Activity | undefined,
): void => {
  const activity = after ?? before
  const grant = activity === undefined ? undefined : strava.tokens.grantOfAthlete(activity.athlete)
  if (activity === undefined || grant === undefined) return
  const base = { objectType: 'activity', objectId: activity.id, ownerId: activity.athlete }
  const wasVisible = isVisible(grant, before)
  if (!isVisible(grant, after)) {
    if (wasVisible) send(strava, { ...base, aspect: 'delete' })
    return
  }
  if (!wasVisible || before === undefined || after === undefined) {
    send(strava, { ...base, aspect: 'create' })
    return
  }
  const updates = updatesOf(before, after, grant)
  if (Object.keys(updates).length > 0) send(strava, { ...base, aspect: 'update', updates })
}

/** Ends the grant of an athlete, and sends the event of the revocation. */
export const endGrant = (strava: LocalStrava, grant: Grant, isAnnounced: boolean): void => {
  strava.tokens.end(grant)
  if (!isAnnounced) return
  const { athlete } = grant
  send(strava, {
    objectType: 'athlete',
    objectId: athlete,
    aspect: 'update',
    ownerId: athlete,
    updates: { authorized: 'false' },
  })
}
