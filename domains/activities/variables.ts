import type { StravaConfiguration } from '../../producers/activities/configuration.ts'
import { formed, secret, url, variable, type Values } from '../../producers/variables.ts'

const digits = formed(/^[1-9]\d{0,18}$/, 'is not a number as Strava shows it, such as 120475')
const random = formed(
  /^[A-Za-z0-9_-]{16,256}$/,
  'is not 16 to 256 letters, digits, _ and -. Create one with: openssl rand -hex 32',
)

/** The new base of the API. Strava ends the old one, https://www.strava.com/api/v3, on 2027-06-01. */
const API = 'https://www.api-v3.strava.com'
const OAUTH = 'https://www.strava.com/oauth'
const NOT_CONFIGURED = 'the Strava routes answer 404 `strava-not-configured`'

export const STRAVA_VARIABLES = {
  TRIBUTARY_STRAVA_CLIENT_ID: {
    ...variable(digits, undefined),
    about: 'The client id of the Strava application ([activities](activities.md)).',
    unset: NOT_CONFIGURED,
  },
  TRIBUTARY_STRAVA_CLIENT_SECRET: {
    ...secret(formed(/^[A-Za-z0-9_-]{8,256}$/, 'is not a client secret as Strava shows it')),
    about: 'The client secret of the Strava application.',
    unset: NOT_CONFIGURED,
  },
  TRIBUTARY_STRAVA_WEBHOOK_SECRET: {
    ...secret(random),
    about: 'The last segment of the webhook address, `/webhooks/strava/:secret`.',
    unset: 'the webhook answers 404 `strava-not-configured`',
  },
  TRIBUTARY_STRAVA_VERIFY_TOKEN: {
    ...secret(random),
    about: 'The `verify_token` with which the webhook subscription is created.',
    unset: 'the webhook answers 404 `strava-not-configured`',
  },
  TRIBUTARY_STRAVA_SUBSCRIPTION_ID: {
    ...variable(digits, undefined),
    about: 'The id of the webhook subscription. The edge accepts only events of this subscription.',
    unset: 'the webhook answers the challenge, and answers events 503 `subscription-not-configured`',
  },
  TRIBUTARY_STRAVA_API: { ...variable(url, API), about: 'Base URL of the API of Strava.' },
  TRIBUTARY_STRAVA_OAUTH: {
    ...variable(url, OAUTH),
    about: 'Base URL of `authorize`, `token` and `revoke` of Strava.',
  },
} as const

/** Reads the configuration of Strava. Adds a sentence to `mistakes` for each variable that lacks another one. */
export const stravaConfiguration = (
  {
    TRIBUTARY_STRAVA_CLIENT_ID: clientId,
    TRIBUTARY_STRAVA_CLIENT_SECRET: clientSecret,
    TRIBUTARY_STRAVA_WEBHOOK_SECRET: webhookSecret,
    TRIBUTARY_STRAVA_VERIFY_TOKEN: verifyToken,
    TRIBUTARY_STRAVA_SUBSCRIPTION_ID: subscriptionId,
    TRIBUTARY_STRAVA_API: api = API,
    TRIBUTARY_STRAVA_OAUTH: oauth = OAUTH,
  }: Values<typeof STRAVA_VARIABLES>,
  mistakes: string[],
): StravaConfiguration => {
  requirePair(mistakes, [
    ['TRIBUTARY_STRAVA_CLIENT_ID', clientId],
    ['TRIBUTARY_STRAVA_CLIENT_SECRET', clientSecret],
  ])
  requirePair(mistakes, [
    ['TRIBUTARY_STRAVA_WEBHOOK_SECRET', webhookSecret],
    ['TRIBUTARY_STRAVA_VERIFY_TOKEN', verifyToken],
  ])
  return {
    ...(clientId !== undefined &&
      clientSecret !== undefined && { application: { api, oauth, clientId, clientSecret } }),
    ...(webhookSecret !== undefined &&
      verifyToken !== undefined && { webhook: { secret: webhookSecret, verifyToken, subscriptionId } }),
  }
}

type Given = readonly [name: string, value: string | undefined]

const requirePair = (mistakes: string[], [first, second]: readonly [Given, Given]): void => {
  if ((first[1] === undefined) === (second[1] === undefined)) return
  const [given, missing] = first[1] === undefined ? [second, first] : [first, second]
  mistakes.push(`${given[0]} is set, but ${missing[0]} is not. Set both, or unset ${given[0]}.`)
}
