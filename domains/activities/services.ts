import { stravaAskHandlers } from '../../producers/activities/asks/handlers.ts'
import type { StravaConfiguration } from '../../producers/activities/configuration.ts'
import { stravaChecks } from '../../producers/activities/doctor.ts'
import { activitiesEdgeWith } from '../../producers/activities/edge.ts'
import { createRefs } from '../../producers/activities/refs.ts'
import { createStravaCalls } from '../../producers/activities/strava-calls.ts'
import { createStravaClient, type StravaApplication } from '../../producers/activities/strava/client.ts'
import { STRAVA_WINDOWS } from '../../producers/activities/strava/limits.ts'
import { createTokenKeeper } from '../../producers/activities/tokens.ts'
import type { AskHandlers } from '../../projections/ask.ts'
import { configurableEdge, type ConfiguredEdge, type Outside } from '../record.ts'
import { STRAVA_VARIABLES, stravaConfiguration } from './variables.ts'

/** The edge and the asks of activities, with Strava. */
export const activitiesServices = configurableEdge(STRAVA_VARIABLES, (values, mistakes): ConfiguredEdge => {
  const configuration = stravaConfiguration(values, mistakes)
  return { ...servicesOf(configuration), checks: stravaChecks(configuration) }
})

const servicesOf = (configuration: StravaConfiguration): Omit<ConfiguredEdge, 'checks'> => {
  const { application } = configuration
  return {
    edge: (outside) => activitiesEdgeWith(configuration, outside),
    ...(application && { asks: (outside) => handlersOf(application, outside) }),
  }
}

const handlersOf = (
  application: StravaApplication,
  { secrets, budget: budgetOf, clock, failed }: Outside,
): AskHandlers => {
  const client = createStravaClient(application)
  const budget = budgetOf('strava', STRAVA_WINDOWS)
  const keeper = createTokenKeeper({ secrets, strava: client, clock })
  const calls = createStravaCalls({ keeper, budget, clock, failed })
  return stravaAskHandlers({ client, calls, budget, secrets, refs: createRefs(secrets) })
}
