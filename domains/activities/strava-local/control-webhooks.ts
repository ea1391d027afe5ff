import { json } from './answer.ts'
import { isCallbackUrl } from './delivery.ts'
import { choiceOf, idOf, membersOf, numberOf, textOf, type Members } from './fields.ts'
import type { Load } from './load.ts'
import type { Route } from './router.ts'
import { APPLICATION, type LocalStrava } from './strava.ts'
import { RELEASE_ORDERS, type Delivery, type WebhookEvent } from './webhooks.ts'

const updatesOf = (members: Members): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(membersOf(members['updates'])).map(([name, value]) => [name, String(value)]))

/** An event that no activity caused: a forged or late one, or one with wrong members. */
const eventOf = (strava: LocalStrava, members: Members): WebhookEvent => ({
  objectType: textOf(members, 'object_type', 'activity'),
  objectId: idOf(members, 'object_id') ?? '1',
  aspect: textOf(members, 'aspect_type', 'create'),
  ownerId: idOf(members, 'owner_id') ?? '1',
  eventTime: numberOf(members, 'event_time', strava.clock.seconds()),
  updates: updatesOf(members),
  subscriptionId: idOf(members, 'subscription_id') ?? APPLICATION.subscriptionId,
})

const deliveryBody = ({ number, event, state, attempts }: Delivery) => ({
  number,
  state,
  event: {
    object_type: event.objectType,
    object_id: event.objectId,
    aspect_type: event.aspect,
    owner_id: event.ownerId,
    event_time: event.eventTime,
    subscription_id: event.subscriptionId,
    updates: event.updates,
  },
  attempts,
})

const logRoutes = (strava: LocalStrava): readonly Route[] => [
  {
    method: 'GET',
    path: '/control/webhooks',
    handle: ({ query }) => {
      const owner = query.get('owner')
      const deliveries = strava.webhooks.log().filter(({ event }) => owner === null || event.ownerId === owner)
      return json({ totals: strava.webhooks.totals(), deliveries: deliveries.map(deliveryBody) })
    },
  },
  {
    method: 'GET',
    path: '/control/webhooks/settled',
    handle: async () => {
      await strava.webhooks.settled()
      return json(strava.webhooks.totals())
    },
  },
]

/** Control routes of the subscription, of webhooks and of the load. */
export const controlWebhookRoutes = (strava: LocalStrava, load: Load): readonly Route[] => [
  ...logRoutes(strava),
  {
    method: 'PUT',
    path: '/control/subscription',
    handle: ({ body }) => {
      const callbackUrl = textOf(membersOf(body), 'callback_url', '')
      if (!isCallbackUrl(callbackUrl)) throw new Error(`"callback_url" must be an http:// URL, not "${callbackUrl}".`)
      strava.webhooks.subscription = { callbackUrl, createdAtS: strava.clock.seconds() }
      return json({ id: APPLICATION.subscriptionId })
    },
  },
  {
    method: 'DELETE',
    path: '/control/subscription',
    handle: () => {
      strava.webhooks.subscription = undefined
      return json({})
    },
  },
  {
    method: 'POST',
    path: '/control/webhooks',
    handle: ({ body }) => {
      strava.webhooks.send(eventOf(strava, membersOf(body)))
      return json({}, 201)
    },
  },
  {
    method: 'POST',
    path: '/control/webhooks/release',
    handle: ({ body }) => {
      const members = membersOf(body)
      const order = choiceOf(members, 'order', RELEASE_ORDERS, 'sent')
      const released = strava.webhooks.release(order, numberOf(members, 'seed', 1), numberOf(members, 'copies', 1))
      return json({ released })
    },
  },
  {
    method: 'POST',
    path: '/control/load',
    handle: ({ body }) => {
      const members = membersOf(body)
      load.start({ perSecond: numberOf(members, 'perSecond', 100), count: numberOf(members, 'count', 1_000) })
      return json(load.state(), 201)
    },
  },
  { method: 'GET', path: '/control/load', handle: () => json(load.state()) },
  {
    method: 'DELETE',
    path: '/control/load',
    handle: () => {
      load.stop()
      return json(load.state())
    },
  },
]
