import { COMMON_INTERNAL, matching, within, words, type AppendRules } from '../append-rules.ts'
import { newMilestone } from './milestone-routes.ts'
import { newModel } from './model-routes.ts'
import { idSchema } from './params.ts'

const OF_STRAVA = 'It is the answer of Strava to a call of the program.'
const BY_TIMER = 'A timer of the program appends it.'
const DERIVED = 'It is derived from other events.'

const { partsTotal, name, parts } = newModel.properties
const { partName, meshFile, attachPoint } = parts.items.properties

export const activitiesAppendRules: AppendRules = {
  internal: {
    ...COMMON_INTERNAL,
    StravaWebhookReceived: 'The edge appends it for an event of Strava.',
    StravaAthleteClaimed: 'The edge appends it when a person connects: GET /strava/connect.',
    StravaAthleteLinked: DERIVED,
    StravaAthleteReleased: DERIVED,
    StravaTokenRefreshed: OF_STRAVA,
    StravaTokenLost: OF_STRAVA,
    ActivityFetched: OF_STRAVA,
    ActivityFetchFailed: OF_STRAVA,
    BackfillPageFetched: OF_STRAVA,
    ResyncPageFetched: OF_STRAVA,
    DeauthorisationChecked: OF_STRAVA,
    StepDone: 'It is the answer to a call of the program.',
    ResyncDue: BY_TIMER,
    DeauthPresumed: BY_TIMER,
    AwardsDue: BY_TIMER,
    SagaDue: BY_TIMER,
    AwardsTold: DERIVED,
    AccountDeleted: DERIVED,
    AuditNoted: 'The edge appends it after an answer.',
  },
  key: /^(?:athlete:[a-z2-7]{26}|model:[A-Za-z0-9][A-Za-z0-9_.-]{0,63}|[A-Za-z0-9][A-Za-z0-9_.@+-]{0,127})$/,
  fields: {
    milestoneId: matching(idSchema),
    milestoneIds: matching(idSchema),
    modelId: matching(idSchema),
    totalTarget: within(newMilestone.properties.totalTarget),
    partsTotal: within(partsTotal),
    part: within(partsTotal),
    name: words(name),
    partName: words(partName),
    meshFile: words(meshFile),
    attachPoint: words(attachPoint),
  },
}
