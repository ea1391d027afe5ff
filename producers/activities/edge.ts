import { accessRefusals } from '../../projections/access/refusals.ts'
import { activitiesRefusals } from '../../projections/activities/refusals.ts'
import type { Secrets } from '../../processors/engine/ports/secrets.ts'
import { access } from '../access/access.ts'
import type { UserSessions } from '../access/sessions.ts'
import type { DomainEdge } from '../http/domain.ts'
import { accountRoutes } from './account-routes.ts'
import { activityRoutes } from './activity-routes.ts'
import { auditNotes } from './audit-notes.ts'
import { auditRoutes } from './audit-routes.ts'
import type { StravaConfiguration } from './configuration.ts'
import { createConnectStates } from './connect-states.ts'
import { milestoneRoutes } from './milestone-routes.ts'
import { modelRoutes } from './model-routes.ts'
import { createRefs, type Refs } from './refs.ts'
import type { StravaEdge } from './strava-edge.ts'
import { stravaRoutes } from './strava-routes.ts'
import { createStravaClient } from './strava/client.ts'
import { stravaWebhook } from './webhook.ts'

const NAME = 'activities'
const AUDIT = 'activities-audit'

export interface ActivitiesOutside {
  readonly secrets: Secrets
  readonly sessions: UserSessions
  readonly publicUrl: string | undefined
  readonly failed: (error: unknown) => void
}

/** The edge of the activities domain. Without the configuration of Strava, the Strava routes answer 404. */
export const activitiesEdgeWith = (
  { application, webhook }: StravaConfiguration,
  { secrets, sessions, publicUrl, failed }: ActivitiesOutside,
): Pick<DomainEdge, 'name' | 'routes' | 'access' | 'refusals' | 'webhooks' | 'derives' | 'noted'> => {
  const readRefs = createRefs(secrets)
  let refs: Refs | undefined
  const loadRefs = async (): Promise<Refs> => (refs ??= await readRefs())
  const strava: StravaEdge | undefined = application && {
    application,
    client: createStravaClient(application),
    secrets,
    states: createConnectStates(sessions),
    refs: loadRefs,
    publicUrl,
  }
  return {
    name: NAME,
    derives: true,
    routes: [
      ...stravaRoutes(strava),
      ...activityRoutes,
      ...milestoneRoutes,
      ...modelRoutes,
      ...accountRoutes(sessions),
      ...auditRoutes(AUDIT),
    ],
    access,
    refusals: [accessRefusals, activitiesRefusals],
    webhooks: [stravaWebhook(webhook, loadRefs)],
    noted: auditNotes(NAME, () => {
      // The first notes have no hash of the address. They do not wait for the key store.
      loadRefs().catch(failed)
      return refs
    }),
  }
}
