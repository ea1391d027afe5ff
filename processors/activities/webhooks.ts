import type { WebhookItem } from '../../projections/activities/items.ts'
import { webhooks } from '../../projections/activities/keys.ts'
import { refuse } from '../../projections/activities/refusals.ts'
import type { SportOf } from '../../projections/activities/sports.ts'
import { isoOf } from '../../projections/instant.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import type { StravaWebhookReceived } from '../../schemas/generated/activities.ts'
import { startWork, type Work } from '../folding/work.ts'
import { idOf, isReference, readable } from './bodies.ts'
import { isOpen } from './connections.ts'
import { HOUR_MS, secondOf } from './instants.ts'
import { checkRevocation } from './revocation.ts'
import { storeSync, syncOf } from './syncs.ts'
import { absentSince, removeWorkout } from './workouts.ts'

const RETENTION_S = 7 * 86_400

/**
 * Folds a webhook. Strava sends webhooks late, in any order and several times. So the fold only keeps the latest times of changes and deletes:
 * every order of the same webhooks gives the same items.
 */
export const stravaWebhookReceived =
  (sportOf: SportOf) =>
  (event: StravaWebhookReceived, get: Get): Result => {
    const { data, meta } = event
    if (![data.ref, data.updatesHash].every(isReference))
      return refuse('reference-invalid', 'A reference has 1 to 64 letters and digits.')
    if (data.epoch === 0 || !isOpen(get, meta.key, data.epoch)) return NOTHING
    const work = startWork(get)
    noteWebhook(work, event)
    const eventTime = receivedTime(event)
    if (data.objectType === 'athlete') checkRevocation(work, event, eventTime)
    else noteChange(work, event, eventTime, sportOf)
    return work.result()
  }

/** The time of the webhook. A time that is more than an hour ahead is wrong: then the time of receipt. */
const receivedTime = (event: StravaWebhookReceived): number => {
  const { data, meta } = event
  return data.eventTime * 1000 > meta.occurredAt + HOUR_MS ? secondOf(event) : data.eventTime
}

const noteWebhook = (work: Work, { data, meta }: StravaWebhookReceived): void => {
  const key = webhooks.key(meta.key, data)
  if (work.get<WebhookItem>(key) !== undefined) return
  work.put({
    ...key,
    userId: meta.key,
    receivedAtUtc: isoOf(meta.occurredAt),
    ttl: Math.floor(meta.occurredAt / 1000) + RETENTION_S,
  } satisfies WebhookItem)
}

const noteChange = (work: Work, event: StravaWebhookReceived, eventTime: number, sportOf: SportOf): void => {
  const { data, meta } = event
  const activityId = idOf(readable(event.personal)?.objectId)
  const before = syncOf(work.get, meta.key, { ...data, activityId })
  const latest = (time: number | null): number => Math.max(time ?? -Infinity, eventTime)
  const after =
    data.aspect === 'delete'
      ? { ...before, deleted: latest(before.deleted) }
      : { ...before, received: latest(before.received) }
  storeSync(work, event, after)
  if (absentSince(after) > -Infinity) removeWorkout(work, event, after, sportOf)
}
