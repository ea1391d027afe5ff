import { athleteKey, modelKey, stravaSubject } from '../../../projections/activities/keys.ts'
import type { Sport, TargetType } from '../../../projections/activities/items.ts'
import { FORGOTTEN, type Event, type EventMeta } from '../../../schemas/event.ts'
import type {
  AccountDeletionRequested,
  AccountOpened,
  ActivityFetched,
  ActivityFetchedPersonal,
  ActivityFetchFailed,
  AwardsTold,
  BackfillPageFetched,
  BackfillRequested,
  DeauthorisationChecked,
  MilestoneArchived,
  MilestoneCreated,
  MilestonesRecomputed,
  ModelPartDefined,
  ModelPublished,
  ModelRetired,
  ResyncPageFetched,
  StravaAthleteClaimed,
  StravaAthleteUnlinked,
  StravaTokenLost,
  StravaTokenRefreshed,
  AwardsDue,
  DeauthPresumed,
  ResyncDue,
  SagaDue,
  StepDone,
  StravaAthleteLinked,
  StravaAthleteReleased,
  StravaWebhookReceived,
} from '../../../schemas/generated/activities.ts'
import { eventOf } from '../../../testing/event.ts'

export const at = (iso: string): number => Date.parse(iso)
/** Tests begin at this time. */
export const MORNING = at('2026-05-20T08:00:00.000Z')
/** Epoch seconds of `MORNING`. Webhooks of tests have times after it. */
export const START_S = MORNING / 1000

/** The id of an activity and its pseudonym. */
export const idOf = (ref: string): string =>
  String(10_000_000_000_000_000n + BigInt([...ref].reduce((sum, c) => sum * 31 + c.charCodeAt(0), 7) % 1_000_000_007))
export const ATHLETE = '134815'
export const REF = 'mf2xi2dmmv2gk'

type Parts = {
  readonly key?: string
  readonly at?: number
  readonly epoch?: number
  readonly meta?: Partial<EventMeta>
}

const metaOf = ({ at: occurredAt = MORNING, meta }: Parts): Partial<EventMeta> => ({
  occurredAt,
  recordedAt: occurredAt,
  ...meta,
})
const strava = (parts: Parts, epoch = 1): Partial<EventMeta> => ({
  ...metaOf(parts),
  subjectId: stravaSubject(parts.key ?? 'ada', parts.epoch ?? epoch),
  ...parts.meta,
})

export const claimed = (
  parts: Parts & { user?: string; ref?: string; athleteId?: string; version?: number } = {},
): StravaAthleteClaimed => {
  const { user = 'ada', ref = REF, athleteId = ATHLETE, epoch = 1, version = 1 } = parts
  return eventOf('StravaAthleteClaimed', {
    key: athleteKey(ref),
    data: {
      userId: user,
      epoch,
      scopes: ['read', 'activity:read_all'],
      secretRef: `${stravaSubject(user, epoch)}/strava`,
      secretVersion: version,
      expiresAt: MORNING + 6 * 3_600_000,
    },
    personal: { athleteId, name: 'Ada L.' },
    meta: strava({ ...parts, key: user }),
  })
}

type Webhook = Parts & { ref?: string; aspect?: 'create' | 'update' | 'delete'; time?: number; hash?: string }

/** A webhook of an activity. `time` counts seconds from `START_S`. */
export const webhook = (parts: Webhook = {}): StravaWebhookReceived => {
  const { key = 'ada', ref = 'r1', aspect = 'create', time = 100, epoch = 1, hash = 'a1b2c3d4e5' } = parts
  return eventOf('StravaWebhookReceived', {
    key,
    data: { objectType: 'activity', aspect, ref, eventTime: START_S + time, epoch, updatesHash: hash },
    personal: { objectId: idOf(ref), ownerId: ATHLETE, updates: [] },
    meta: strava({ at: MORNING + time * 1000, ...parts }),
  })
}

export const deauthorised = (parts: Parts & { time?: number } = {}): StravaWebhookReceived => {
  const { key = 'ada', time = 500, epoch = 1 } = parts
  return eventOf('StravaWebhookReceived', {
    key,
    data: {
      objectType: 'athlete',
      aspect: 'update',
      ref: REF,
      eventTime: START_S + time,
      epoch,
      updatesHash: 'deauth',
    },
    personal: { objectId: ATHLETE, ownerId: ATHLETE, updates: [{ name: 'authorized', value: 'false' }] },
    meta: strava({ at: MORNING + Math.max(time, 0) * 1000, ...parts }),
  })
}

type Fetched = Parts &
  Partial<
    Pick<ActivityFetchedPersonal, 'sportType' | 'distanceDm' | 'elevationDm' | 'hidden' | 'utcOffsetS' | 'name'>
  > & {
    ref?: string
    asked?: number
    start?: string
    local?: string
    via?: 'webhook' | 'backfill' | 'resync' | 'import'
    forgotten?: true
  }

/** The answer to a fetch. `asked` counts seconds from `START_S`. */
export const fetched = (parts: Fetched = {}): ActivityFetched => {
  const { key = 'ada', ref = 'r1', asked = 100, epoch = 1, via = 'webhook', start = '2026-05-20T06:00:00.000Z' } = parts
  const { sportType = 'Ride', distanceDm = 100_000, elevationDm = 0, hidden = false, utcOffsetS = 7200 } = parts
  const occurredAt = parts.at ?? MORNING + asked * 1000
  const local = parts.local === undefined ? at(start) + utcOffsetS * 1000 : at(parts.local)
  return eventOf('ActivityFetched', {
    key,
    data: { ref, epoch, asked: START_S + asked, requestedAt: occurredAt, via },
    personal: parts.forgotten
      ? FORGOTTEN
      : {
          activityId: idOf(ref),
          name: parts.name ?? 'Morning ride',
          sportType,
          startDate: at(start),
          startDateLocal: local,
          utcOffsetS,
          hidden,
          distanceDm,
          elevationDm,
          movingS: 3600,
          elapsedS: 3700,
          visibility: 'everyone',
        },
    meta: strava({ ...parts, at: occurredAt }),
  })
}

export const failed = (
  parts: Parts & { ref?: string; asked?: number; status?: number; attempt?: number; scope?: string } = {},
): ActivityFetchFailed => {
  const { key = 'ada', ref = 'r1', asked = 100, epoch = 1, status = 404, attempt = 1, scope = null } = parts
  return eventOf('ActivityFetchFailed', {
    key,
    data: { ref, epoch, asked: START_S + asked, status, attempt, scope },
    meta: { ...metaOf(parts), subjectId: null },
  })
}

const partsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    partName: `Part ${index + 1}`,
    meshFile: `${index + 1}.glb`,
    attachPoint: `p${index + 1}`,
  }))

export const created = (
  parts: Parts & {
    id?: string
    sport?: Sport
    targetType?: TargetType
    total?: number
    partsTotal?: number
    from?: string
  } = {},
): MilestoneCreated => {
  const {
    key = 'ada',
    id = 'm1',
    sport = 'RIDE',
    targetType = 'DISTANCE_METERS',
    total = 100_000,
    partsTotal = 12,
  } = parts
  return eventOf('MilestoneCreated', {
    key,
    data: {
      milestoneId: id,
      modelId: 'rocket',
      sport,
      targetType,
      totalTarget: total,
      partsTotal,
      parts: partsOf(partsTotal),
      periodStart: at(parts.from ?? '2026-05-01T00:00:00.000Z'),
    },
    meta: metaOf(parts),
  })
}

const simple =
  <E extends Event>(type: E['type'], defaults: E['data'], key = 'ada') =>
  (parts: Parts & { data?: Partial<E['data']>; personal?: E['personal'] } = {}): E =>
    eventOf<E>(type, {
      key: parts.key ?? key,
      data: { ...(defaults as object), ...(parts.data as object | undefined) } as E['data'],
      ...(parts.personal !== undefined && { personal: parts.personal }),
      meta: metaOf(parts),
    })

export const archived = simple<MilestoneArchived>('MilestoneArchived', { milestoneId: 'm1' })
export const recomputed = simple<MilestonesRecomputed>('MilestonesRecomputed', { milestoneIds: ['m1'] })
export const told = simple<AwardsTold>('AwardsTold', {
  milestoneId: 'm1',
  version: 2,
  awards: [{ part: 1, at: MORNING }],
  completedAt: null,
})
export const checked = simple<DeauthorisationChecked>('DeauthorisationChecked', {
  epoch: 1,
  asked: START_S + 500,
  verdict: 'gone',
})
export const unlinked = simple<StravaAthleteUnlinked>('StravaAthleteUnlinked', { epoch: 1 })
export const tokenLost = simple<StravaTokenLost>('StravaTokenLost', { epoch: 1, version: 1, reason: 'invalid' })
export const tokenRefreshed = simple<StravaTokenRefreshed>('StravaTokenRefreshed', {
  epoch: 1,
  secretRef: 'ada~strava~1/strava',
  version: 2,
  expiresAt: MORNING + 12 * 3_600_000,
})
export const backfillRequested = simple<BackfillRequested>('BackfillRequested', { run: 2 })
export const backfillPage = simple<BackfillPageFetched>('BackfillPageFetched', {
  epoch: 1,
  run: 1,
  page: 1,
  count: 0,
  done: true,
})
export const resyncPage = simple<ResyncPageFetched>('ResyncPageFetched', {
  epoch: 1,
  run: 1,
  page: 1,
  done: true,
  missing: [],
})
export const accountOpened = simple<AccountOpened>('AccountOpened', { number: 1 })
export const accountDeletionRequested = simple<AccountDeletionRequested>('AccountDeletionRequested', {})
export const modelPublished = simple<ModelPublished>(
  'ModelPublished',
  { modelId: 'rocket', name: 'Rocket', partsTotal: 12, parts: partsOf(12) },
  modelKey('rocket'),
)
export const modelPartDefined = simple<ModelPartDefined>(
  'ModelPartDefined',
  { modelId: 'rocket', part: 3, partName: 'Fin', meshFile: 'fin.glb', attachPoint: 'p3' },
  modelKey('rocket'),
)
export const modelRetired = simple<ModelRetired>('ModelRetired', { modelId: 'rocket' }, modelKey('rocket'))

/** The event that the fold of `claimed` derives. */
export const linked = (parts: Parameters<typeof claimed>[0] = {}): StravaAthleteLinked => {
  const { data, meta, personal } = claimed(parts)
  const { userId, ...link } = data
  return eventOf('StravaAthleteLinked', {
    key: userId,
    data: { ref: parts.ref ?? REF, ...link },
    personal,
    meta: { ...meta, key: userId },
  })
}
export const athleteReleased = simple<StravaAthleteReleased>(
  'StravaAthleteReleased',
  { userId: 'ada', epoch: 1 },
  athleteKey(REF),
)
export const awardsDue = simple<AwardsDue>('AwardsDue', { cursor: 40 })
export const resyncDue = simple<ResyncDue>('ResyncDue', { run: 1, cursor: 0 })
export const sagaDue = simple<SagaDue>('SagaDue', { step: 'tell', cursor: 0 })
export const stepDone = simple<StepDone>('StepDone', { step: 'revoke', epoch: 1, result: '200' })
export const deauthPresumed = simple<DeauthPresumed>('DeauthPresumed', {
  epoch: 1,
  asked: START_S + 500,
  version: null,
})
