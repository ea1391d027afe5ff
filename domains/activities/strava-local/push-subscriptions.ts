import { badRequest, json, pathNotFound, wrongSecret, type Answer } from './answer.ts'
import { idNumber } from './json.ts'
import type { Call, Route } from './router.ts'
import { APPLICATION, type LocalStrava } from './strava.ts'
import type { Subscription } from './webhooks.ts'

const refusedClient = ({ fields }: Call): Answer | undefined => {
  if (fields.get('client_id') !== APPLICATION.clientId) return badRequest('Application', 'client_id', 'invalid')
  return fields.get('client_secret') === APPLICATION.clientSecret ? undefined : wrongSecret()
}

const subscriptionBody = ({ callbackUrl, createdAtS }: Subscription) => {
  const createdAt = `${new Date(createdAtS * 1000).toISOString().slice(0, 19)}Z`
  return {
    id: idNumber(APPLICATION.subscriptionId),
    resource_state: 2,
    application_id: idNumber(APPLICATION.clientId),
    callback_url: callbackUrl,
    created_at: createdAt,
    updated_at: createdAt,
  }
}

const subscribe = async ({ webhooks, clock }: LocalStrava, { fields }: Call): Promise<Answer> => {
  if (webhooks.subscription !== undefined) return badRequest('PushSubscription', '', 'already exists')
  const callbackUrl = fields.get('callback_url') ?? ''
  if (!URL.canParse(callbackUrl)) return badRequest('PushSubscription', 'callback url', 'not verifiable')
  const error = await webhooks.challenge(callbackUrl, fields.get('verify_token') ?? '')
  if (error !== undefined) return badRequest('PushSubscription', 'callback url', error)
  webhooks.subscription = { callbackUrl, createdAtS: clock.seconds() }
  return json({ id: idNumber(APPLICATION.subscriptionId) }, 201)
}

/** The subscription endpoints. They authenticate the application and not an athlete, and do not count for the rate limits. */
export const pushSubscriptionRoutes = (strava: LocalStrava): readonly Route[] => [
  { method: 'POST', path: '/push_subscriptions', handle: (call) => refusedClient(call) ?? subscribe(strava, call) },
  {
    method: 'GET',
    path: '/push_subscriptions',
    handle: (call) => {
      const { subscription } = strava.webhooks
      return refusedClient(call) ?? json(subscription === undefined ? [] : [subscriptionBody(subscription)])
    },
  },
  {
    method: 'DELETE',
    path: '/push_subscriptions/{id}',
    handle: (call) => {
      const refused = refusedClient(call)
      if (refused !== undefined) return refused
      const exists = strava.webhooks.subscription !== undefined && call.params['id'] === APPLICATION.subscriptionId
      if (!exists) return pathNotFound()
      strava.webhooks.subscription = undefined
      return { status: 204 }
    },
  },
]
