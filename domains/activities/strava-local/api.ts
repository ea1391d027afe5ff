import { activityBody } from './activity.ts'
import {
  activityNotFound,
  badRequest,
  inactive,
  invalidToken,
  json,
  missingActivityScope,
  type Answer,
} from './answer.ts'
import type { Athlete } from './athletes.ts'
import { counted, withLimitHeaders } from './counted.ts'
import { idNumber } from './json.ts'
import type { Call, Route } from './router.ts'
import type { LocalStrava } from './strava.ts'
import type { Grant } from './tokens.ts'

const MAX_PER_PAGE = 200
const DEFAULT_PER_PAGE = 30

/** An athlete as the API returns it. State 3 has more fields and needs the scope `profile:read_all`. */
export const athleteBody = (athlete: Athlete, state: 2 | 3): Readonly<Record<string, unknown>> => {
  const createdAt = `${new Date(athlete.createdAtS * 1000).toISOString().slice(0, 19)}Z`
  return {
    id: idNumber(athlete.id),
    username: null,
    resource_state: state,
    firstname: athlete.firstname,
    lastname: athlete.lastname,
    bio: null,
    city: null,
    state: null,
    country: null,
    sex: null,
    premium: false,
    summit: false,
    created_at: createdAt,
    updated_at: createdAt,
    badge_type_id: 0,
    weight: null,
    profile_medium: 'avatar/athlete/medium.png',
    profile: 'avatar/athlete/large.png',
    friend: null,
    follower: null,
    ...(state === 3 && { date_preference: '%m/%d/%Y', measurement_preference: 'meters', ftp: null, clubs: [] }),
  }
}

const canReadActivities = ({ scopes }: Grant): boolean => scopes.has('activity:read') || scopes.has('activity:read_all')

/** Returns a whole number of the query, `otherwise` if it is absent, or undefined if it is not a whole number. */
const wholeNumber = <T>(query: URLSearchParams, name: string, otherwise: T): number | T | undefined => {
  const text = query.get(name)
  if (text === null || text === '') return otherwise
  return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined
}

const listActivities = (strava: LocalStrava, { query }: Call, grant: Grant, athlete: Athlete): Answer => {
  if (!canReadActivities(grant)) return missingActivityScope()
  const before = wholeNumber(query, 'before', Infinity)
  const after = wholeNumber(query, 'after', -Infinity)
  const page = wholeNumber(query, 'page', 1)
  const perPage = wholeNumber(query, 'per_page', DEFAULT_PER_PAGE)
  if (before === undefined) return badRequest('Application', 'before', 'invalid')
  if (after === undefined) return badRequest('Application', 'after', 'invalid')
  if (page === undefined || page < 1) return badRequest('Application', 'page', 'invalid')
  if (perPage === undefined || perPage < 1) return badRequest('Application', 'per_page', 'invalid')
  // A time in milliseconds is far in the future, so this is also the answer to the usual mistake.
  if (after > strava.clock.seconds()) return badRequest('Application', 'after', 'future')
  const limit = Math.min(perPage, MAX_PER_PAGE)
  const activities = strava.athletes.list(athlete, {
    before,
    after,
    skip: (page - 1) * limit,
    limit,
    oldestFirst: after !== -Infinity,
    withOnlyMe: grant.scopes.has('activity:read_all'),
  })
  return json(activities.map((activity) => activityBody(activity, 2)))
}

const oneActivity = (strava: LocalStrava, { params }: Call, grant: Grant, athlete: Athlete): Answer => {
  if (!canReadActivities(grant)) return missingActivityScope()
  const activity = strava.athletes.activity(params['id'] ?? '')
  if (activity === undefined || activity.athlete !== athlete.id) return activityNotFound()
  if (activity.visibility === 'only_me' && !grant.scopes.has('activity:read_all')) return missingActivityScope()
  return json(activityBody(activity, 3))
}

/** The answer of an endpoint to an athlete whose token works. */
type Endpoint = (call: Call, grant: Grant, athlete: Athlete) => Answer

/** Checks the token, and counts the call. A call without a token that works counts for no application. */
const authorized = (strava: LocalStrava, call: Call, endpoint: Endpoint): Answer | Promise<Answer> => {
  const access = /^Bearer (.+)$/.exec(call.headers.authorization ?? '')?.[1] ?? call.fields.get('access_token') ?? ''
  const grant = strava.tokens.grantOf(access)
  const athlete = grant === undefined ? undefined : strava.athletes.get(grant.athlete)
  if (grant === undefined || athlete === undefined) return withLimitHeaders(strava, invalidToken())
  return counted(strava, () => {
    if (strava.settings.application === 'inactive') return inactive()
    return call.forced ?? endpoint(call, grant, athlete)
  })
}

export const apiRoutes = (strava: LocalStrava): readonly Route[] => {
  const get = (path: string, endpoint: Endpoint): Route => ({
    method: 'GET',
    path,
    isLimited: true,
    handle: (call) => authorized(strava, call, endpoint),
  })
  return [
    get('/athlete', (_call, { scopes }, athlete) => json(athleteBody(athlete, scopes.has('profile:read_all') ? 3 : 2))),
    get('/athlete/activities', (call, grant, athlete) => listActivities(strava, call, grant, athlete)),
    get('/activities/{id}', (call, grant, athlete) => oneActivity(strava, call, grant, athlete)),
  ]
}
