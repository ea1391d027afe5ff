import type { Secrets } from '../../processors/engine/ports/secrets.ts'
import { Problem } from '../http/problem.ts'
import type { ConnectStates } from './connect-states.ts'
import type { Refs } from './refs.ts'
import type { StravaApplication, StravaClient } from './strava/client.ts'

/** The functions that the routes of a configured Strava use. */
export interface StravaEdge {
  readonly application: Pick<StravaApplication, 'oauth' | 'clientId'>
  readonly client: Pick<StravaClient, 'exchange' | 'athlete'>
  readonly secrets: Secrets
  readonly states: ConnectStates
  readonly refs: () => Promise<Refs>
  /** The origin of this server, without a slash at the end. Undefined: it is not configured, and the server is on loopback. */
  readonly publicUrl: string | undefined
}

export const demandStrava = (strava: StravaEdge | undefined): StravaEdge => {
  if (strava !== undefined) return strava
  throw new Problem(
    404,
    'strava-not-configured',
    'This server is not connected to Strava. Set TRIBUTARY_STRAVA_CLIENT_ID and TRIBUTARY_STRAVA_CLIENT_SECRET.',
  )
}
