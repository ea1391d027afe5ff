import type { Key } from '../item.ts'

export type Sport = 'RIDE' | 'RUN' | 'SWIM'
export type TargetType = 'DISTANCE_METERS' | 'ELEVATION_METERS'

export type ProfileItem = Key & {
  readonly userId: string
  /** Null if the identity provider gave none, or if the person was forgotten. */
  readonly email: string | null
  readonly createdAtUtc: string
  /** DELETING: reads answer 404, and the folds refuse commands. */
  readonly status: 'ACTIVE' | 'DELETING'
  /** 1 for the first account of the person, and one more after each deletion. */
  readonly number: number
}

/** Remains of an account that was deleted. It stays if the person opens an account again. */
export type GoneProfileItem = Key & {
  readonly deletedAtUtc: string
  /** The number of the deleted account. */
  readonly number: number
  /** The number of the last link. The links up to it are closed. */
  readonly epoch: number
}

/** The progress of a list of activities that is fetched page by page. */
export type Listing = {
  readonly run: number
  /** The number of pages that have arrived. */
  readonly page: number
  /** The start of the oldest listed activity, in epoch seconds. Null before the first page, and if the person was forgotten. */
  readonly before: number | null
  readonly done: boolean
}

export type Backfill = Listing & { readonly fetched: number }

export type Resync = Listing & {
  /** The pseudonyms of activities that the list lacks and whose fetch is not armed yet. */
  readonly missing: readonly string[]
  /** The number of missing activities whose fetch is armed. */
  readonly handled: number
}

export type ConnectionStatus = 'NONE' | 'CONNECTED' | 'REAUTH_REQUIRED' | 'REVOKING' | 'REVOKED'

/** The connection of a person with Strava. NONE: the person has imported activities and no connection. */
export type ConnectionItem = Key & {
  readonly status: ConnectionStatus
  /** Digits. Null if the person was forgotten. */
  readonly athleteId: string | null
  readonly athleteName: string | null
  /** The pseudonym of the athlete. */
  readonly ref: string
  readonly scopes: readonly string[]
  /** Scopes that a call needed and the token lacks. */
  readonly missingScopes: readonly string[]
  /** The number of the link. 0: there was no link. */
  readonly epoch: number
  /** Events of this link and of earlier ones change nothing any more. */
  readonly closedEpoch: number
  /** The highest number of a link of the person, also of links that were rejected. The next link has the next number. */
  readonly lastEpoch: number
  readonly secretRef: string
  readonly secretVersion: number
  readonly expiresAtUtc: string
  readonly linkedAtUtc: string
  readonly backfill: Backfill
  readonly resync: Resync
  /** True if there are activities that were imported from a file, under the link 0. */
  readonly imported?: true
  /** The event times of the first and of the last revocation that is being checked, in epoch seconds. */
  readonly checking?: { readonly first: number; readonly last: number }
  /** The event_time of the last revocation that was refuted. */
  readonly refuted?: number
  /** `STRAVA#ATHLETE#<id>` and `USER#<user>`. */
  readonly GSI1PK?: string
  readonly GSI1SK?: string
}

/** The state of the synchronisation of an activity. Times are event times of webhooks, in epoch seconds. */
export type SyncItem = Key & {
  /** The pseudonym of the activity. */
  readonly ref: string
  /** Digits. Null if the person was forgotten. */
  readonly activityId: string | null
  readonly epoch: number
  /** The latest create or update. */
  readonly received: number | null
  /** The latest delete. */
  readonly deleted: number | null
  /** The latest request whose answer contained the activity. */
  readonly applied: number | null
  /** The latest request that Strava answered with 404 until the program gave up. */
  readonly gaveUp: number | null
  /** The latest request that Strava refused for another reason, such as a missing scope. */
  readonly denied: number | null
  /** The number of failed attempts since the last change of `received`. */
  readonly attempts: number
  /** How many of these attempts Strava answered with 404. */
  readonly notFound: number
  /** When the first of these attempts failed without an answer. */
  readonly failingSinceUtc?: string
  readonly gaveUpAtUtc?: string
}

/** An activity. If it was deleted, only its id stays. */
export type WorkoutItem = Key & { readonly activityId: string; readonly ref: string; readonly epoch: number } & (
    | { readonly isDeleted: true }
    | {
        readonly isDeleted: false
        readonly name: string
        readonly sportType: string
        readonly startDateUtc: string
        /** The local time of the start, without a zone. */
        readonly startDateLocal: string
        readonly utcOffsetS: number
        /** Strava hides the time of the start. */
        readonly hidden: boolean
        /** Metres with one decimal. */
        readonly distanceMeters: number
        /** Metres with one decimal. */
        readonly totalElevationGain: number
        readonly movingTimeS: number
        readonly elapsedTimeS: number
        readonly visibility: string | null
        /** The event_time for which the activity was fetched, in epoch seconds. */
        readonly eventTime: number
        readonly fetchedAtUtc: string
        /** The page of the ledger that contains the activity, such as `2026-05` or `2026-05#02`. */
        readonly _page: string
      }
  )

export type PresentWorkout = Extract<WorkoutItem, { isDeleted: false }>

/**
 * An activity in the ledger: the id, the start in epoch seconds, the local day, the UTC offset in seconds, whether the start is hidden, the
 * sport, the distance and the elevation in decimetres. A list needs less space than a map.
 */
export type LedgerEntry = readonly [
  activityId: string,
  startS: number,
  localDay: string,
  utcOffsetS: number,
  hidden: boolean,
  sportType: string,
  distanceDm: number,
  elevationDm: number,
]

/** The index of the ledger of all activities that are present. Months are in UTC. */
export type LedgerItem = Key & {
  readonly epoch: number
  readonly first: string
  readonly last: string
  /** The number of pages of each month. A month without activities is absent. */
  readonly months: Months
}

export type Months = { readonly [month: string]: number }

/** One page of the activities of a month, in the order of their starts. */
export type LedgerPageItem = Key & { readonly epoch: number; readonly entries: readonly LedgerEntry[] }

/** The milestones of a person. */
export type MilestonesItem = Key & {
  /** The milestones that are not archived, in the order of their creation. */
  readonly active: readonly string[]
  readonly all: readonly string[]
}

export type MilestoneItem = Key & {
  readonly milestoneId: string
  readonly modelId: string
  readonly sport: Sport
  readonly targetType: TargetType
  /** Whole metres. */
  readonly totalTarget: number
  readonly partsTotal: number
  readonly periodStartAtUtc: string
  readonly createdAtUtc: string
  /** The link whose activities the numbers contain. */
  readonly epoch: number
  /** Metres with one decimal. It falls if an activity is deleted or changed. */
  readonly progressValue: number
  /** The highest progress. Only an erasure sets it to 0. */
  readonly highWaterProgress: number
  readonly percentComplete: number
  /** The number of awards. */
  readonly partsAwardedCount: number
  /** The number of thresholds that the progress passes now. */
  readonly partsEarned: number
  readonly status: 'ACTIVE' | 'COMPLETED'
  readonly completedAtUtc?: string
  readonly archivedAtUtc?: string
  readonly version: number
  /** One character per part: `.` no award, `m` minted, `t` told, which means that the event AwardsTold of this award was folded. */
  readonly _awards: string
  /** The version that follows from events without data from Strava. After an erasure, the version continues from it. */
  readonly _toldVersion: number
  /** True if an event AwardsTold reported the completion. */
  readonly _toldCompleted?: true
}

export type ModelPart = { readonly partName: string; readonly meshFile: string; readonly attachPoint: string }

/** The parts of the model when the milestone was created. */
export type MilestonePartsItem = Key & { readonly parts: readonly ModelPart[] }

export type AwardItem = Key &
  ModelPart & {
    readonly partIndex: number
    readonly awardedAtUtc: string
    /** Metres with one decimal. Null after an erasure. */
    readonly progressValueAtAward: number | null
    readonly epoch: number
    /** True if the event AwardsTold of this award was folded. */
    readonly told?: true
  }

/** The state of the saga that erases the data of a connection or of an account. */
export type SagaItem = Key & {
  readonly kind: 'erasure' | 'account'
  readonly step: 'revoke' | 'tell' | 'forget' | 'account' | 'remove'
  readonly epoch: number
  /** The number of items that earlier events of the step handled. */
  readonly cursor: number
  readonly startedAtUtc: string
}

/** A webhook that was received, for people to read. */
export type WebhookItem = Key & { readonly userId: string; readonly receivedAtUtc: string; readonly ttl: number }

/** The claim of an athlete. The partition contains the pseudonym of the athlete. */
export type ClaimItem = Key & {
  /** Null if the claim was released. */
  readonly userId: string | null
  readonly epoch: number
  /** Digits. Null if the person was forgotten. With it, the fold finds the OWNER item. */
  readonly athleteId: string | null
  /** Short forms of the ids of the last applied events, so that a repeated event is ignored. */
  readonly _heard: readonly string[]
}

/** The owner of an athlete. The partition contains the id of the athlete, so that the edge finds it for a webhook. */
export type OwnerItem = Key & {
  readonly userId: string
  readonly epoch: number
  /** The pseudonym of the athlete. */
  readonly ref: string
}

export type ModelItem = Key & {
  readonly modelId: string
  readonly name: string
  readonly partsTotal: number
  readonly status: 'PUBLISHED' | 'RETIRED'
  readonly isActive: boolean
  readonly publishedAtUtc: string
  /** `MODELS` and the id: the models are listed by the index. */
  readonly GSI1PK: string
  readonly GSI1SK: string
  readonly _heard: readonly string[]
}

export type ModelPartItem = Key & ModelPart & { readonly partIndex: number }
