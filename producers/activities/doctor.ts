import type { StravaConfiguration } from './configuration.ts'
import type { StravaApplication } from './strava/client.ts'
import { failureOf } from './strava/failure.ts'
import { parseStravaJson } from './strava/json.ts'

const TIMEOUT_MS = 5_000

interface Check {
  readonly name: string
  check(): Promise<string> | string
}

/** The checks of `tributary doctor`. Empty if Strava is not configured. */
export const stravaChecks = ({ application, webhook }: StravaConfiguration): readonly Check[] => [
  ...(application === undefined ? [] : [{ name: 'Strava', check: () => checkApplication(application) }]),
  ...(webhook === undefined
    ? []
    : [
        {
          name: 'Strava webhook',
          check: () =>
            webhook.subscriptionId === undefined
              ? 'the edge answers the challenge at /webhooks/strava/:secret and accepts no events. Create the subscription, then set TRIBUTARY_STRAVA_SUBSCRIPTION_ID'
              : `the edge accepts events of the subscription ${webhook.subscriptionId} at /webhooks/strava/:secret`,
        },
      ]),
]

/** Sends a refresh token that cannot exist. Strava names the refresh token in its error if it accepts the application, and otherwise the application. */
const checkApplication = async ({ oauth, clientId, clientSecret }: StravaApplication): Promise<string> => {
  const form = { client_id: clientId, client_secret: clientSecret, grant_type: 'refresh_token', refresh_token: 'none' }
  const response = await fetch(`${oauth}/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw new Error(`${oauth} does not answer. Correct TRIBUTARY_STRAVA_OAUTH`, { cause })
  })
  const { detail } = failureOf(response.status, parsed(await response.text()))
  if (detail.includes('RefreshToken/')) return `${oauth} answers, and accepts the application ${clientId}`
  throw new Error(
    `${oauth} answers ${response.status}${detail && ` (${detail})`}. Correct TRIBUTARY_STRAVA_CLIENT_ID and TRIBUTARY_STRAVA_CLIENT_SECRET`,
  )
}

const parsed = (text: string): unknown => {
  try {
    return parseStravaJson(text)
  } catch {
    return undefined
  }
}
