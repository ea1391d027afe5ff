import { badRequest, json, pathNotFound, wrongSecret, type Answer } from './answer.ts'
import { counted } from './counted.ts'
import { isCallbackUrl } from './delivery.ts'
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
  if (!isCallbackUrl(callbackUrl)) return badRequest('PushSubscription', 'callback url', 'not verifiable')
  const error = await webhooks.challenge(callbackUrl, fields.get('verify_token') ?? '')
  if (error !== undefined) return badRequest('PushSubscription', 'callback url', error)
  webhooks.subscription = { callbackUrl, createdAtS: clock.seconds() }
  return json({ id: idNumber(APPLICATION.subscriptionId) }, 201)
}

const listSubscription = ({ webhooks: { subscription } }: LocalStrava): Answer =>
  json(subscription === undefined ? [] : [subscriptionBody(subscription)])

const unsubscribe = ({ webhooks }: LocalStrava, { params }: Call): Answer => {
  if (webhooks.subscription === undefined || params['id'] !== APPLICATION.subscriptionId) return pathNotFound()
  webhooks.subscription = undefined
  return { status: 204 }
}

type Endpoint = (strava: LocalStrava, call: Call) => Answer | Promise<Answer>

/** The endpoints of the subscription authenticate the application and not an athlete. Their calls count for the rate limits. */
export const pushSubscriptionRoutes = (strava: LocalStrava): readonly Route[] => {
  const route = (method: string, path: string, endpoint: Endpoint): Route => ({
    method,
    path,
    isLimited: true,
    handle: (call) => refusedClient(call) ?? counted(strava, () => call.forced ?? endpoint(strava, call)),
  })
  return [
    route('POST', '/push_subscriptions', subscribe),
    route('GET', '/push_subscriptions', listSubscription),
    route('DELETE', '/push_subscriptions/{id}', unsubscribe),
  ]
}
