// Generated from schemas/activities.avdl by `npm run codegen`. Do not edit.
import type { Event } from '../event.ts'

/** The person of the account. The subject is <user>~activities. */
export interface AccountOpenedPersonal {
  /** The verified address of the identity provider. */
  readonly email: string | null
}

/** The activity. The subject is <user>~strava~<epoch>. */
export interface ActivityFetchedPersonal {
  /** Digits. */
  readonly activityId: string
  readonly name: string
  /** sport_type, or type if Strava sent no sport_type. */
  readonly sportType: string
  readonly startDate: number
  /** The local time of the start, as if it were UTC. */
  readonly startDateLocal: number
  readonly utcOffsetS: number
  /** The local time is exactly 00:00:01: Strava hides the time of the start. */
  readonly hidden: boolean
  /** Decimetres. */
  readonly distanceDm: number
  /** Decimetres. */
  readonly elevationDm: number
  readonly movingS: number
  readonly elapsedS: number
  /** everyone, followers_only or only_me. Null if Strava sent none. */
  readonly visibility: string | null
}

/** An award that was earned. */
export interface AwardTold {
  /** The number of the part. The first part is 1. */
  readonly part: number
  readonly at: number
}

/** The progress with which the awards were earned. The subject is <user>~strava~<epoch>. */
export interface AwardsToldPersonal {
  /** Decimetres. One entry per award. */
  readonly progressDm: readonly number[]
}

/** The position of the page. The subject is <user>~strava~<epoch>. */
export interface BackfillPageFetchedPersonal {
  /** The start of the oldest activity of the page, in epoch seconds. Null if the page is empty. */
  readonly oldest: number | null
}

/** How the program got an activity. */
export type FetchedVia = 'webhook' | 'backfill' | 'resync' | 'import'

/** A part of a model. */
export interface ModelPart {
  readonly partName: string
  readonly meshFile: string
  readonly attachPoint: string
}

/** The position of the page. The subject is <user>~strava~<epoch>. */
export interface ResyncPageFetchedPersonal {
  /** The start of the oldest activity of the page, in epoch seconds. Null if the page is empty. */
  readonly oldest: number | null
}

/** A step of the saga that erases the data of a connection or of an account. */
export type SagaStep = 'revoke' | 'tell' | 'forget' | 'account' | 'remove'

/** The sports of milestones. */
export type Sport = 'RIDE' | 'RUN' | 'SWIM'

/** The athlete. The subject is <user>~strava~<epoch>. */
export interface StravaAthleteClaimedPersonal {
  /** Digits. */
  readonly athleteId: string
  readonly name: string | null
}

/** The athlete. The subject is <user>~strava~<epoch>. */
export interface StravaAthleteLinkedPersonal {
  /** Digits. */
  readonly athleteId: string
  readonly name: string | null
}

/** The ids and texts of the webhook. The subject is <user>~strava~<epoch>. */
export interface StravaWebhookReceivedPersonal {
  /** Digits. */
  readonly objectId: string
  /** Digits. */
  readonly ownerId: string
  readonly updates: readonly WebhookUpdate[]
}

/** What a milestone counts. */
export type TargetType = 'DISTANCE_METERS' | 'ELEVATION_METERS'

/** Whether a revocation is true: the token does not work any more (gone), or it works (valid). */
export type Verdict = 'gone' | 'valid'

/** The change that a webhook reports. */
export type WebhookAspect = 'create' | 'update' | 'delete'

/** The kind of object that a webhook is about. */
export type WebhookObject = 'activity' | 'athlete'

/** A changed field of a webhook. */
export interface WebhookUpdate {
  readonly name: string
  readonly value: string
}

/** An account was deleted: none of its items is left. Derived from SagaDue. */
export interface AccountDeletedData {
}

export type AccountDeletedPersonal = never

/** An account was deleted: none of its items is left. Derived from SagaDue. */
export type AccountDeleted = Event<'AccountDeleted', AccountDeletedData, AccountDeletedPersonal>

/** A person deletes their account. The saga that follows erases the data of the person step by step. */
export interface AccountDeletionRequestedData {
}

export type AccountDeletionRequestedPersonal = never

/** A person deletes their account. The saga that follows erases the data of the person step by step. */
export type AccountDeletionRequested = Event<'AccountDeletionRequested', AccountDeletionRequestedData, AccountDeletionRequestedPersonal>

/** A person has an account. The edge appends it with the first command of the person. */
export interface AccountOpenedData {
  /** 1 for the first account of the person, and one more after each deletion. */
  readonly number: number
}

/** A person has an account. The edge appends it with the first command of the person. */
export type AccountOpened = Event<'AccountOpened', AccountOpenedData, AccountOpenedPersonal>

/** A fetch of an activity got no activity. The fold decides whether it is tried again. */
export interface ActivityFetchFailedData {
  readonly ref: string
  readonly epoch: number
  /** As in ActivityFetched. */
  readonly asked: number
  /** The HTTP status of Strava's answer. 0: no answer. 410: the program did not call, because the connection of the ask has ended. */
  readonly status: number
  /** The number of this attempt, from the body of the ask. The first attempt is 1. */
  readonly attempt: number
  /** The scope that the token lacks, if Strava refused the call for this reason. */
  readonly scope: string | null
}

export type ActivityFetchFailedPersonal = never

/** A fetch of an activity got no activity. The fold decides whether it is tried again. */
export type ActivityFetchFailed = Event<'ActivityFetchFailed', ActivityFetchFailedData, ActivityFetchFailedPersonal>

/** An activity, as Strava described it at one time. */
export interface ActivityFetchedData {
  /** The pseudonym of the activity: a keyed hash of its id. */
  readonly ref: string
  /** The link of the person whose token fetched the activity. 0: the activity was imported from a file. */
  readonly epoch: number
  /** The event_time in epoch seconds for which the fetch was requested. For lists and imports: the time of the request in seconds. */
  readonly asked: number
  /** When the program sent the request. */
  readonly requestedAt: number
  readonly via: FetchedVia
}

/** An activity, as Strava described it at one time. */
export type ActivityFetched = Event<'ActivityFetched', ActivityFetchedData, ActivityFetchedPersonal>

/** The audit of a request. The edge appends it after the answer. */
export interface AuditNotedData {
  /** Such as AUTH_LOGIN. */
  readonly eventType: string
  /** Such as OK, or the code of the refusal. */
  readonly result: string
  readonly requestId: string
  readonly method: string
  /** The template of the route, without values. */
  readonly path: string
  /** A keyed hash of the caller's address. */
  readonly ipHash: string | null
}

export type AuditNotedPersonal = never

/** The audit of a request. The edge appends it after the answer. */
export type AuditNoted = Event<'AuditNoted', AuditNotedData, AuditNotedPersonal>

/** Further awards are to be minted, because one event mints at most 40. Appended by a timer. */
export interface AwardsDueData {
  /** The number of awards that the milestones of the person had before. */
  readonly cursor: number
}

export type AwardsDuePersonal = never

/** Further awards are to be minted, because one event mints at most 40. Appended by a timer. */
export type AwardsDue = Event<'AwardsDue', AwardsDueData, AwardsDuePersonal>

/** The awards of a milestone, without data from Strava, so that they survive the erasure of this data. Derived by the fold that minted them. */
export interface AwardsToldData {
  readonly milestoneId: string
  /** The version of the milestone after the awards. */
  readonly version: number
  /** At most 90. */
  readonly awards: readonly AwardTold[]
  /** When the last part was earned. */
  readonly completedAt: number | null
}

/** The awards of a milestone, without data from Strava, so that they survive the erasure of this data. Derived by the fold that minted them. */
export type AwardsTold = Event<'AwardsTold', AwardsToldData, AwardsToldPersonal>

/** A page of the list of all activities arrived. Its activities precede it in the log. */
export interface BackfillPageFetchedData {
  readonly epoch: number
  readonly run: number
  /** The number of the page. The first page is 1. */
  readonly page: number
  /** The activities of the page that no earlier page of the run contained. */
  readonly count: number
  /** True if the page is the last one. */
  readonly done: boolean
}

/** A page of the list of all activities arrived. Its activities precede it in the log. */
export type BackfillPageFetched = Event<'BackfillPageFetched', BackfillPageFetchedData, BackfillPageFetchedPersonal>

/** A person requests that all activities are fetched again. */
export interface BackfillRequestedData {
  /** The number of the run: one more than the last run of the person. */
  readonly run: number
}

export type BackfillRequestedPersonal = never

/** A person requests that all activities are fetched again. */
export type BackfillRequested = Event<'BackfillRequested', BackfillRequestedData, BackfillRequestedPersonal>

/** A revocation could not be checked for two days, or a lost token was not replaced for seven days. Appended by a timer. */
export interface DeauthPresumedData {
  readonly epoch: number
  /** The event_time of the first revocation that was to be checked. Null: the token was lost. */
  readonly asked: number | null
  /** The version of the secret that was lost. Null: a revocation was to be checked. */
  readonly version: number | null
}

export type DeauthPresumedPersonal = never

/** A revocation could not be checked for two days, or a lost token was not replaced for seven days. Appended by a timer. */
export type DeauthPresumed = Event<'DeauthPresumed', DeauthPresumedData, DeauthPresumedPersonal>

/** The result of the check after Strava reported a revocation. */
export interface DeauthorisationCheckedData {
  readonly epoch: number
  /** The event_time of the revocation, from the body of the ask. */
  readonly asked: number
  readonly verdict: Verdict
}

export type DeauthorisationCheckedPersonal = never

/** The result of the check after Strava reported a revocation. */
export type DeauthorisationChecked = Event<'DeauthorisationChecked', DeauthorisationCheckedData, DeauthorisationCheckedPersonal>

/** A milestone was archived. It keeps its awards. */
export interface MilestoneArchivedData {
  readonly milestoneId: string
}

export type MilestoneArchivedPersonal = never

/** A milestone was archived. It keeps its awards. */
export type MilestoneArchived = Event<'MilestoneArchived', MilestoneArchivedData, MilestoneArchivedPersonal>

/** A person set themselves a milestone. */
export interface MilestoneCreatedData {
  readonly milestoneId: string
  readonly modelId: string
  readonly sport: Sport
  readonly targetType: TargetType
  /** Whole metres. */
  readonly totalTarget: number
  readonly partsTotal: number
  /** The parts of the model when the milestone was created. A fold cannot read the model, which has another key. */
  readonly parts: readonly ModelPart[]
  /** Activities count from this instant on. */
  readonly periodStart: number
}

export type MilestoneCreatedPersonal = never

/** A person set themselves a milestone. */
export type MilestoneCreated = Event<'MilestoneCreated', MilestoneCreatedData, MilestoneCreatedPersonal>

/** The progress of milestones was computed again from all activities. */
export interface MilestonesRecomputedData {
  /** At most 20. */
  readonly milestoneIds: readonly string[]
}

export type MilestonesRecomputedPersonal = never

/** The progress of milestones was computed again from all activities. */
export type MilestonesRecomputed = Event<'MilestonesRecomputed', MilestonesRecomputedData, MilestonesRecomputedPersonal>

/** A part of a model was changed. Keyed by the model. */
export interface ModelPartDefinedData {
  readonly modelId: string
  /** The first part is 1. */
  readonly part: number
  readonly partName: string
  readonly meshFile: string
  readonly attachPoint: string
}

export type ModelPartDefinedPersonal = never

/** A part of a model was changed. Keyed by the model. */
export type ModelPartDefined = Event<'ModelPartDefined', ModelPartDefinedData, ModelPartDefinedPersonal>

/** A model was published with its parts. Keyed by the model. */
export interface ModelPublishedData {
  readonly modelId: string
  readonly name: string
  readonly partsTotal: number
  readonly parts: readonly ModelPart[]
}

export type ModelPublishedPersonal = never

/** A model was published with its parts. Keyed by the model. */
export type ModelPublished = Event<'ModelPublished', ModelPublishedData, ModelPublishedPersonal>

/** A model was retired: no new milestone can use it. Keyed by the model. */
export interface ModelRetiredData {
  readonly modelId: string
}

export type ModelRetiredPersonal = never

/** A model was retired: no new milestone can use it. Keyed by the model. */
export type ModelRetired = Event<'ModelRetired', ModelRetiredData, ModelRetiredPersonal>

/** The activities of the last weeks are to be compared with Strava's list. Appended by a timer. */
export interface ResyncDueData {
  readonly run: number
  /** The number of missing activities that earlier events of the run handled. 0: the list is to be fetched. */
  readonly cursor: number
}

export type ResyncDuePersonal = never

/** The activities of the last weeks are to be compared with Strava's list. Appended by a timer. */
export type ResyncDue = Event<'ResyncDue', ResyncDueData, ResyncDuePersonal>

/** A page of the list of the last weeks arrived. Changed and new activities precede it in the log. */
export interface ResyncPageFetchedData {
  readonly epoch: number
  readonly run: number
  /** The number of the page. The first page is 1. */
  readonly page: number
  /** True if the page is the last one. */
  readonly done: boolean
  /** Activities that the program has and the page lacks. At most 80. */
  readonly missing: readonly string[]
}

/** A page of the list of the last weeks arrived. Changed and new activities precede it in the log. */
export type ResyncPageFetched = Event<'ResyncPageFetched', ResyncPageFetchedData, ResyncPageFetchedPersonal>

/** The next part of a step of the saga is to be done. Appended by a timer. */
export interface SagaDueData {
  readonly step: SagaStep
  /** The number of items that earlier events of the step handled. */
  readonly cursor: number
}

export type SagaDuePersonal = never

/** The next part of a step of the saga is to be done. Appended by a timer. */
export type SagaDue = Event<'SagaDue', SagaDueData, SagaDuePersonal>

/** A step of the saga ended. */
export interface StepDoneData {
  readonly step: SagaStep
  /** The link whose data is erased. For the step account: 0. */
  readonly epoch: number
  /** Such as 200, 401 or done. */
  readonly result: string
}

export type StepDonePersonal = never

/** A step of the saga ended. */
export type StepDone = Event<'StepDone', StepDoneData, StepDonePersonal>

/** A person linked an athlete. Keyed by the athlete: the first claim in the log wins. */
export interface StravaAthleteClaimedData {
  readonly userId: string
  /** The number of the link: one more than the last one, or the same one if the same athlete is linked again after its token was lost. */
  readonly epoch: number
  readonly scopes: readonly string[]
  /** Names the secret with the tokens. */
  readonly secretRef: string
  /** The version of the secret. */
  readonly secretVersion: number
  /** When the access token expires. */
  readonly expiresAt: number
}

/** A person linked an athlete. Keyed by the athlete: the first claim in the log wins. */
export type StravaAthleteClaimed = Event<'StravaAthleteClaimed', StravaAthleteClaimedData, StravaAthleteClaimedPersonal>

/** The claim of an athlete succeeded. Derived from StravaAthleteClaimed. */
export interface StravaAthleteLinkedData {
  /** The pseudonym of the athlete: a keyed hash of its id. */
  readonly ref: string
  readonly epoch: number
  readonly scopes: readonly string[]
  readonly secretRef: string
  readonly secretVersion: number
  readonly expiresAt: number
}

/** The claim of an athlete succeeded. Derived from StravaAthleteClaimed. */
export type StravaAthleteLinked = Event<'StravaAthleteLinked', StravaAthleteLinkedData, StravaAthleteLinkedPersonal>

/** The claim of an athlete ended, and another person can link the athlete. Derived. Keyed by the athlete. */
export interface StravaAthleteReleasedData {
  readonly userId: string
  readonly epoch: number
}

export type StravaAthleteReleasedPersonal = never

/** The claim of an athlete ended, and another person can link the athlete. Derived. Keyed by the athlete. */
export type StravaAthleteReleased = Event<'StravaAthleteReleased', StravaAthleteReleasedData, StravaAthleteReleasedPersonal>

/** A person disconnected Strava. */
export interface StravaAthleteUnlinkedData {
  readonly epoch: number
}

export type StravaAthleteUnlinkedPersonal = never

/** A person disconnected Strava. */
export type StravaAthleteUnlinked = Event<'StravaAthleteUnlinked', StravaAthleteUnlinkedData, StravaAthleteUnlinkedPersonal>

/** Strava refused the refresh token. The person must connect again. */
export interface StravaTokenLostData {
  readonly epoch: number
  /** The version of the secret that Strava refused. */
  readonly version: number
  readonly reason: string
}

export type StravaTokenLostPersonal = never

/** Strava refused the refresh token. The person must connect again. */
export type StravaTokenLost = Event<'StravaTokenLost', StravaTokenLostData, StravaTokenLostPersonal>

/** The tokens were replaced. The log contains no token. */
export interface StravaTokenRefreshedData {
  readonly epoch: number
  readonly secretRef: string
  /** The new version of the secret. */
  readonly version: number
  readonly expiresAt: number
}

export type StravaTokenRefreshedPersonal = never

/** The tokens were replaced. The log contains no token. */
export type StravaTokenRefreshed = Event<'StravaTokenRefreshed', StravaTokenRefreshedData, StravaTokenRefreshedPersonal>

/** Strava reported a change. The edge appends it before it answers. */
export interface StravaWebhookReceivedData {
  /** An event of an athlete always reports that the athlete revoked the access. */
  readonly objectType: WebhookObject
  readonly aspect: WebhookAspect
  /** The pseudonym of the activity or the athlete. */
  readonly ref: string
  /** event_time as Strava sent it, in epoch seconds. The fold replaces a time that is more than an hour ahead by the time of receipt. */
  readonly eventTime: number
  /** The link of the owner when the webhook arrived. */
  readonly epoch: number
  /** A keyed hash of the updates. */
  readonly updatesHash: string
}

/** Strava reported a change. The edge appends it before it answers. */
export type StravaWebhookReceived = Event<'StravaWebhookReceived', StravaWebhookReceivedData, StravaWebhookReceivedPersonal>

/** The events that schemas/activities.avdl declares. */
export type ActivitiesEvent =
  | AccountDeleted
  | AccountDeletionRequested
  | AccountOpened
  | ActivityFetchFailed
  | ActivityFetched
  | AuditNoted
  | AwardsDue
  | AwardsTold
  | BackfillPageFetched
  | BackfillRequested
  | DeauthPresumed
  | DeauthorisationChecked
  | MilestoneArchived
  | MilestoneCreated
  | MilestonesRecomputed
  | ModelPartDefined
  | ModelPublished
  | ModelRetired
  | ResyncDue
  | ResyncPageFetched
  | SagaDue
  | StepDone
  | StravaAthleteClaimed
  | StravaAthleteLinked
  | StravaAthleteReleased
  | StravaAthleteUnlinked
  | StravaTokenLost
  | StravaTokenRefreshed
  | StravaWebhookReceived
