import { fraction } from '../../../simulation/random.ts'
import { floatNumber, idNumber } from './json.ts'

export const VISIBILITIES = ['everyone', 'followers_only', 'only_me'] as const

/** An activity as Strava stores it, with its real start. */
export interface Activity {
  readonly id: string
  readonly athlete: string
  readonly name: string
  readonly sportType: string
  /** Epoch seconds. */
  readonly startS: number
  readonly utcOffsetS: number
  readonly isStartHidden: boolean
  /** Metres, with one decimal. */
  readonly distance: number
  /** Metres. Null: the activity has no elevation. */
  readonly elevation: number | null
  readonly movingS: number
  readonly elapsedS: number
  readonly visibility: (typeof VISIBILITIES)[number]
}

/** Activities that are computed from a seed and never stored. Activity `n` starts in part `n` of the time from `fromS` to `untilS`. */
export interface Generator {
  readonly seed: number
  readonly count: number
  readonly fromS: number
  readonly untilS: number
  /** The share of the activities that only the athlete sees. */
  readonly onlyMeShare: number
  /** The share of the activities with a hidden start. */
  readonly hiddenShare: number
}

/** Weights of the generated sports: [sport, weight, kilometres at most, metres per second, has elevation]. */
const SPORTS: readonly (readonly [string, number, number, number, boolean])[] = [
  ['Ride', 40, 120, 7, true],
  ['Run', 30, 25, 3, true],
  ['VirtualRide', 10, 60, 8, true],
  ['TrailRun', 5, 30, 2.4, true],
  ['GravelRide', 5, 90, 6, true],
  ['Swim', 5, 4, 0.8, false],
  ['Walk', 5, 12, 1.4, true],
]
const WEIGHTS = SPORTS.reduce((sum, [, weight]) => sum + weight, 0)

const sportAt = (share: number): (typeof SPORTS)[number] => {
  let left = share * WEIGHTS
  for (const sport of SPORTS) {
    left -= sport[1]
    if (left < 0) return sport
  }
  return ['Workout', 0, 1, 1, false]
}

/** The id of generated activity `n` of an athlete: 17 digits that contain the index of the athlete and `n`. */
export const generatedId = (athleteIndex: number, n: number): string =>
  `1${String(athleteIndex).padStart(10, '0')}${String(n).padStart(6, '0')}`

/** The index of the athlete and the number of the activity in an id that `generatedId` made. */
export const partsOfId = (id: string): { readonly athleteIndex: number; readonly n: number } | undefined => {
  const match = /^1(\d{10})(\d{6})$/.exec(id)
  return match === null ? undefined : { athleteIndex: Number(match[1]), n: Number(match[2]) }
}

/** Returns generated activity `n`. The result depends only on the arguments. */
export const generateActivity = (
  athlete: { readonly id: string; readonly index: number; readonly generator: Generator },
  n: number,
): Activity => {
  const { seed, count, fromS, untilS, onlyMeShare, hiddenShare } = athlete.generator
  const at = (purpose: number) => fraction(seed, athlete.index, n, purpose)
  const [sportType, , kilometres, speed, climbs] = sportAt(at(1))
  const distance = Math.round((0.05 + 0.95 * at(2)) * kilometres * 10_000) / 10
  const movingS = Math.round(distance / speed)
  return {
    id: generatedId(athlete.index, n),
    athlete: athlete.id,
    name: `${sportType} ${n + 1}`,
    sportType,
    startS: Math.floor(fromS + ((n + at(3)) * (untilS - fromS)) / count),
    utcOffsetS: Math.floor(fraction(seed, athlete.index) * 24) * 3_600 - 36_000,
    isStartHidden: at(4) < hiddenShare,
    distance,
    elevation: climbs ? Math.round(distance * 0.012 * at(5) * 10) / 10 : null,
    movingS,
    elapsedS: movingS + Math.floor(at(6) * 900),
    visibility: at(7) < onlyMeShare ? 'only_me' : 'everyone',
  }
}

const DAY_S = 86_400
const dateTime = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

/** The start that the API shows, in epoch seconds. A hidden start is midnight + 1 second of the local day, also in `start_date`. */
const shownStart = (activity: Activity): { readonly utc: number; readonly local: number } => {
  const local = activity.startS + activity.utcOffsetS
  const hidden = local - (((local % DAY_S) + DAY_S) % DAY_S) + 1
  return activity.isStartHidden ? { utc: hidden, local: hidden } : { utc: activity.startS, local }
}

/** The time by which lists are filtered and ordered. */
export const orderTime = (activity: Activity, hiddenOrder: 'shown' | 'start'): number =>
  hiddenOrder === 'shown' ? shownStart(activity).utc : activity.startS

/** The deprecated `type`, which knows fewer sports than `sport_type`. */
const OLD_TYPES: Readonly<Record<string, string>> = {
  GravelRide: 'Ride',
  MountainBikeRide: 'Ride',
  EMountainBikeRide: 'EBikeRide',
  TrailRun: 'Run',
  VirtualRow: 'Rowing',
}

const timezone = (utcOffsetS: number): string => {
  const minutes = Math.abs(utcOffsetS) / 60
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  return `(GMT${utcOffsetS < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}) Etc/Local`
}

/** An activity as the API returns it: in lists with `resource_state` 2, alone with 3 and more fields. */
export const activityBody = (activity: Activity, state: 2 | 3): Readonly<Record<string, unknown>> => {
  const start = shownStart(activity)
  return {
    resource_state: state,
    athlete: { id: idNumber(activity.athlete), resource_state: 1 },
    name: activity.name,
    distance: floatNumber(activity.distance),
    moving_time: activity.movingS,
    elapsed_time: activity.elapsedS,
    total_elevation_gain: activity.elevation === null ? null : floatNumber(activity.elevation),
    type: OLD_TYPES[activity.sportType] ?? activity.sportType,
    sport_type: activity.sportType,
    workout_type: null,
    id: idNumber(activity.id),
    external_id: null,
    upload_id: null,
    start_date: dateTime(start.utc),
    start_date_local: dateTime(start.local),
    timezone: timezone(activity.utcOffsetS),
    utc_offset: floatNumber(activity.utcOffsetS),
    achievement_count: 0,
    kudos_count: 0,
    comment_count: 0,
    athlete_count: 1,
    photo_count: 0,
    trainer: activity.sportType.startsWith('Virtual'),
    commute: false,
    manual: activity.elevation === null,
    private: activity.visibility === 'only_me',
    visibility: activity.visibility,
    flagged: false,
    gear_id: null,
    average_speed: activity.movingS === 0 ? 0 : Math.round((activity.distance / activity.movingS) * 1000) / 1000,
    has_heartrate: false,
    ...(state === 3 && { description: null, calories: 0, photos: { primary: null, count: 0 } }),
  }
}
