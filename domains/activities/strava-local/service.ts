import type { LocalService } from '../../record.ts'
import { controlRoutes } from './control.ts'
import { createLoad } from './load.ts'
import { listen } from './server.ts'
import { APPLICATION, createLocalStrava } from './strava.ts'

/** Every run makes the same tokens in the same order. */
const SEED = 1

/** A stand-in for Strava on loopback. docs/strava-local.md describes it. */
export const stravaLocal: LocalService = {
  name: 'strava-local',
  about: 'run a stand-in for Strava on this machine',
  port: 18_090,
  start: async ({ port }) => {
    const strava = createLocalStrava(SEED)
    const load = createLoad(strava)
    const { url, stop } = await listen(strava, controlRoutes(strava, load), port)
    return {
      url,
      stop: async () => {
        load.stop()
        strava.webhooks.stop()
        await stop()
      },
      variables: {
        TRIBUTARY_STRAVA_CLIENT_ID: APPLICATION.clientId,
        TRIBUTARY_STRAVA_CLIENT_SECRET: APPLICATION.clientSecret,
        TRIBUTARY_STRAVA_WEBHOOK_SECRET: APPLICATION.webhookSecret,
        TRIBUTARY_STRAVA_VERIFY_TOKEN: APPLICATION.verifyToken,
        TRIBUTARY_STRAVA_SUBSCRIPTION_ID: APPLICATION.subscriptionId,
        TRIBUTARY_STRAVA_API: `${url}/api/v3`,
        TRIBUTARY_STRAVA_OAUTH: `${url}/oauth`,
      },
    }
  },
}
