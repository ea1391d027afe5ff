import type { StravaApplication } from './strava/client.ts'

/** The configuration of the webhook of Strava. */
export interface WebhookConfiguration {
  /** The last segment of the webhook's URL. */
  readonly secret: string
  readonly verifyToken: string
  /** The subscription whose events are accepted. Undefined until the subscription was created. */
  readonly subscriptionId: string | undefined
}

/** The parts of Strava that are configured. */
export interface StravaConfiguration {
  readonly application?: StravaApplication
  readonly webhook?: WebhookConfiguration
}
