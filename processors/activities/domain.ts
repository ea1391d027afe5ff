import { isOwner, logKeyOf } from '../../projections/activities/keys.ts'
import { SPORT_MAP, sportsOf, type SportMap } from '../../projections/activities/sports.ts'
import { activitiesTable } from '../../projections/activities/table.ts'
import { NOTHING, projection, type Domain } from '../../projections/projection.ts'
import type { ActivitiesEvent } from '../../schemas/generated/activities.ts'
import type { CommonEvent } from '../../schemas/generated/common.ts'
import { accessFolds } from '../folding/tokens.ts'
import { accountDeletionRequested, accountOpened } from './account.ts'
import { stravaAthleteClaimed, stravaAthleteReleased } from './athletes.ts'
import { awardsDue, awardsTold } from './awards.ts'
import { activityFetched, activityFetchFailed } from './fetched.ts'
import { activitiesPersonalItems, personForgotten } from './forgotten.ts'
import { stravaAthleteLinked, stravaAthleteUnlinked, stravaTokenLost, stravaTokenRefreshed } from './links.ts'
import { backfillPageFetched, backfillRequested, resyncDue, resyncPageFetched } from './listings.ts'
import { milestoneArchived, milestoneCreated, milestonesRecomputed } from './milestones.ts'
import { modelPartDefined, modelPublished, modelRetired } from './models.ts'
import { deauthorisationChecked, deauthPresumed } from './revocation.ts'
import { sagaDue, stepDone } from './saga.ts'
import { stravaWebhookReceived } from './webhooks.ts'

/** The version of the folds without the sport map. Raise it as `foldVersion` of a domain. */
const FOLDS = 1

/** The events whose log key is an athlete or a model. */
const KEYED_BY_OTHERS = [
  'StravaAthleteClaimed',
  'StravaAthleteReleased',
  'ModelPublished',
  'ModelPartDefined',
  'ModelRetired',
] as const satisfies readonly ActivitiesEvent['type'][]

/** The domain with a sport map. A changed map is another fold version, so the milestones are computed again by a rebuild. */
export const activitiesWith = (map: SportMap): Domain => {
  const sportOf = sportsOf(map)
  const activities = projection<ActivitiesEvent | CommonEvent>('activities', {
    AccountOpened: accountOpened,
    AccountDeletionRequested: accountDeletionRequested,
    AccountDeleted: () => NOTHING,
    AuditNoted: () => NOTHING,
    StravaAthleteClaimed: stravaAthleteClaimed,
    StravaAthleteReleased: stravaAthleteReleased,
    StravaAthleteLinked: stravaAthleteLinked,
    StravaAthleteUnlinked: stravaAthleteUnlinked,
    StravaTokenRefreshed: stravaTokenRefreshed,
    StravaTokenLost: stravaTokenLost,
    StravaWebhookReceived: stravaWebhookReceived(sportOf),
    ActivityFetched: activityFetched(sportOf),
    ActivityFetchFailed: activityFetchFailed(sportOf),
    BackfillRequested: backfillRequested,
    BackfillPageFetched: backfillPageFetched,
    ResyncDue: resyncDue,
    ResyncPageFetched: resyncPageFetched,
    DeauthorisationChecked: deauthorisationChecked,
    DeauthPresumed: deauthPresumed,
    SagaDue: sagaDue,
    StepDone: stepDone,
    ModelPublished: modelPublished,
    ModelPartDefined: modelPartDefined,
    ModelRetired: modelRetired,
    MilestoneCreated: milestoneCreated(sportOf),
    MilestoneArchived: milestoneArchived,
    MilestonesRecomputed: milestonesRecomputed(sportOf),
    AwardsDue: awardsDue,
    AwardsTold: awardsTold,
    ...accessFolds,
    PersonForgotten: personForgotten,
  })
  return {
    name: 'activities',
    topic: 'activities.events',
    table: activitiesTable,
    partitions: { keyIn: logKeyOf, example: 'USER#ada or MODEL#rocket' },
    foldVersion: FOLDS * 100 + map.version,
    keyedByPeople: Object.keys(activities.folds).filter((type) => !KEYED_BY_OTHERS.some((other) => other === type)),
    personal: activitiesPersonalItems,
    // The key contains the id of the athlete. Each event that changes the item also changes the claim.
    withoutTombstone: isOwner,
    asks: { fetch: {}, backfill: {}, resync: {}, check: {}, revoke: { changes: true } },
    projections: [activities],
  }
}

export const activities: Domain = activitiesWith(SPORT_MAP)
