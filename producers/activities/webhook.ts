import { hash, timingSafeEqual } from 'node:crypto'
import type { StravaWebhookReceivedData, StravaWebhookReceivedPersonal } from '../../schemas/generated/activities.ts'
import type { Event } from '../../schemas/event.ts'
import { owners, stravaSubject } from '../../projections/activities/keys.ts'
import { eventMeta } from '../http/event-meta.ts'
import { Problem } from '../http/problem.ts'
import type { Webhook, WebhookCall } from '../http/webhook.ts'
import { derivedId } from '../ids.ts'
import { memberOf } from '../json-member.ts'
import type { WebhookConfiguration } from './configuration.ts'
import type { Refs } from './refs.ts'
import { readNotice, type StravaNotice } from './strava/webhook-body.ts'

const SOURCE = 'strava'
/** In bytes. A notice of Strava has less than 1 KiB. */
const BODY_LIMIT = 16 * 1024
/** Strava waits 2 s for the answer. */
const APPEND_MS = 1_500

/** Receives the events of Strava. The secret path segment authenticates Strava, because Strava signs nothing. */
export const stravaWebhook = (configuration: WebhookConfiguration | undefined, refs: () => Promise<Refs>): Webhook => ({
  url: '/webhooks/strava/:secret',
  operationId: 'receiveStravaEvent',
  summary: 'Receive an event of Strava.',
  source: SOURCE,
  bodyLimit: BODY_LIMIT,
  appendMs: APPEND_MS,
  authenticate: ({ params }) => {
    if (!isSame(memberOf(params, 'secret'), demandConfigured(configuration).secret)) throw notFound()
  },
  challenge: ({ query }) => {
    const { verifyToken } = demandConfigured(configuration)
    const challenge = memberOf(query, 'hub.challenge')
    if (
      memberOf(query, 'hub.mode') !== 'subscribe' ||
      typeof challenge !== 'string' ||
      !isSame(memberOf(query, 'hub.verify_token'), verifyToken)
    )
      throw new Problem(
        403,
        'challenge-refused',
        'hub.mode must be subscribe, and hub.verify_token must be the value of TRIBUTARY_STRAVA_VERIFY_TOKEN.',
      )
    return { 'hub.challenge': challenge }
  },
  eventsOf: async (call) => {
    const { subscriptionId } = demandConfigured(configuration)
    if (subscriptionId === undefined)
      throw new Problem(
        503,
        'subscription-not-configured',
        'Set TRIBUTARY_STRAVA_SUBSCRIPTION_ID to the id that Strava returned when the subscription was created.',
        { retryAfter: 60 },
      )
    const notice = readNotice(call.text)
    if (notice === undefined)
      throw new Problem(400, 'webhook-malformed', 'The body does not have the form that Strava documents for an event.')
    if (notice.subscriptionId !== subscriptionId) throw notFound()
    return isRelevant(notice) ? eventsOf(notice, call, await refs()) : []
  },
})

const demandConfigured = (configuration: WebhookConfiguration | undefined): WebhookConfiguration => {
  if (configuration !== undefined) return configuration
  throw new Problem(
    404,
    'strava-not-configured',
    'This server accepts no events of Strava. Set TRIBUTARY_STRAVA_WEBHOOK_SECRET and TRIBUTARY_STRAVA_VERIFY_TOKEN.',
  )
}

const notFound = (): Problem => new Problem(404, 'webhook-not-found', 'There is no webhook here for such an event.')

/** The comparison takes the same time wherever the texts differ. */
const isSame = (given: unknown, expected: string): boolean =>
  typeof given === 'string' && timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))

/** Strava documents only one event of an athlete: the revocation. */
const isRelevant = ({ objectType, updates }: StravaNotice): boolean =>
  objectType === 'activity' || updates['authorized'] === 'false'

/** Returns the event of a notice, or none if nobody has linked the athlete. */
const eventsOf = async (notice: StravaNotice, call: WebhookCall, refs: Refs): Promise<readonly Event[]> => {
  const owner = await owners.get(call.reader, notice.ownerId)
  if (owner === undefined) return []
  const { objectType, aspect, objectId, ownerId, eventTime, updates } = notice
  const { userId, epoch } = owner
  const ref = refs.of(objectType, objectId)
  const updatesHash = refs.of('updates', JSON.stringify(Object.entries(updates)))
  const data: StravaWebhookReceivedData = { objectType, aspect, ref, eventTime, epoch, updatesHash }
  const personal: StravaWebhookReceivedPersonal = {
    objectId,
    ownerId,
    updates: Object.entries(updates).map(([name, value]) => ({ name, value })),
  }
  const meta = eventMeta({
    eventId: derivedId(SOURCE, objectType, ref, aspect, String(eventTime), updatesHash),
    user: userId,
    subject: stravaSubject(userId, epoch),
    now: call.now,
    source: SOURCE,
    correlationId: call.correlationId,
  })
  return [
    {
      type: 'StravaWebhookReceived',
      meta: { ...meta, occurredAt: Math.min(eventTime * 1000, call.now), actorId: null },
      data,
      personal,
    },
  ]
}
