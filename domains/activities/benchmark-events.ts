import { createRandom, type Random } from '../../producers/demo/random.ts'
import { stravaSubject } from '../../projections/activities/keys.ts'
import type { Event, EventMeta } from '../../schemas/event.ts'
import type {
  ActivityFetched,
  MilestoneCreated,
  MilestonesRecomputed,
  StravaAthleteLinked,
} from '../../schemas/generated/activities.ts'

/** The size of a load: each person connects Strava, creates milestones, and then has activities in the order of time. */
export interface ActivitiesLoad {
  readonly events: number
  readonly users: number
  readonly seed?: number
}

const FIRST = Date.UTC(2006, 0, 1)
const YEARS_MS = 20 * 365.25 * 86_400_000
const MILESTONES = ['RIDE', 'RUN', 'SWIM'] as const
const TYPES = ['Ride', 'GravelRide', 'EBikeRide', 'VirtualRide', 'Run', 'TrailRun', 'Swim', 'Walk'] as const
const OPENING = 1 + MILESTONES.length

export function* activityEvents({ events, users, seed = 1 }: ActivitiesLoad): Generator<Event> {
  const random = createRandom(seed)
  const perUser = Math.max(1, events / users - OPENING)
  for (let index = 0; index < events; index += 1) {
    const [user, nth] = [index % users, Math.floor(index / users)]
    const at = Math.floor(FIRST + Math.max(0, nth - OPENING) * (YEARS_MS / perUser))
    const place = { index, user: benchUser(user), at }
    if (nth === 0) yield linked(place)
    else if (nth < OPENING) yield milestone(place, MILESTONES[nth - 1] ?? 'RIDE')
    else yield activity(place, random)
  }
}

export const benchUser = (user: number): string => `user-${String(user).padStart(6, '0')}`

interface Place {
  readonly index: number
  readonly user: string
  readonly at: number
}

const metaOf = ({ index, user, at }: Place, subjectId: string | null): EventMeta => ({
  eventId: `00000000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`,
  key: user,
  occurredAt: at,
  recordedAt: at + 40,
  source: 'bench',
  correlationId: null,
  causationId: null,
  actorId: user,
  subjectId,
  request: null,
})

const linked = (place: Place): StravaAthleteLinked => ({
  type: 'StravaAthleteLinked',
  meta: metaOf(place, stravaSubject(place.user, 1)),
  data: {
    ref: `athlete${place.index}`,
    epoch: 1,
    scopes: ['read', 'activity:read_all'],
    secretRef: 'strava',
    secretVersion: 1,
    expiresAt: place.at + 21_600_000,
  },
  personal: { athleteId: String(100_000_000 + place.index), name: 'Bench' },
})

/** The first milestone of a person, which `recomputed` computes again, is `m-RIDE`. */
const milestone = (place: Place, sport: (typeof MILESTONES)[number]): MilestoneCreated => ({
  type: 'MilestoneCreated',
  meta: metaOf(place, place.user),
  data: {
    milestoneId: `m-${sport}`,
    modelId: 'rocket',
    sport,
    targetType: 'DISTANCE_METERS',
    totalTarget: 100_000_000,
    partsTotal: 12,
    parts: Array.from({ length: 12 }, (_, at) => ({ partName: `Part ${at + 1}`, meshFile: 'p.glb', attachPoint: 'a' })),
    periodStart: FIRST,
  },
  personal: null,
})

const activity = (place: Place, random: Random): ActivityFetched => {
  const { index, user, at } = place
  return {
    type: 'ActivityFetched',
    meta: metaOf(place, stravaSubject(user, 1)),
    data: { ref: `activity${index}`, epoch: 1, asked: Math.floor(at / 1000), requestedAt: at, via: 'backfill' },
    personal: {
      activityId: String(10_000_000_000_000_000n + BigInt(index)),
      name: 'Morning activity',
      sportType: random.pick(TYPES),
      startDate: at,
      startDateLocal: at + 3_600_000,
      utcOffsetS: 3_600,
      hidden: false,
      distanceDm: random.whole(10_000, 900_000),
      elevationDm: random.whole(0, 9_000),
      movingS: random.whole(600, 20_000),
      elapsedS: random.whole(20_000, 30_000),
      visibility: 'everyone',
    },
  }
}

/** The activity after the last one of a load. */
export const nextActivity = (index: number, user: string): ActivityFetched =>
  activity({ index, user, at: FIRST + YEARS_MS + index }, createRandom(index))

export const recomputed = (index: number, user: string): MilestonesRecomputed => ({
  type: 'MilestonesRecomputed',
  meta: metaOf({ index, user, at: FIRST + YEARS_MS + index }, user),
  data: { milestoneIds: ['m-RIDE'] },
  personal: null,
})
