import { VISIBILITIES, type Activity, type Generator } from './activity.ts'
import { announceActivity, endGrant } from './announcing.ts'
import { activityNotFound, json } from './answer.ts'
import type { Athlete } from './athletes.ts'
import { choiceOf, flagOf, idOf, membersOf, numberOf, secondsOf, textOf, textsOf, type Members } from './fields.ts'
import type { Call, Route } from './router.ts'
import type { LocalStrava } from './strava.ts'

const YEAR_S = 365 * 86_400

const generatorOf = (strava: LocalStrava, members: Members): Generator => {
  const untilS = secondsOf(members, 'until', strava.clock.seconds())
  return {
    seed: numberOf(members, 'seed', 1),
    count: numberOf(members, 'count', 0),
    fromS: secondsOf(members, 'from', untilS - YEAR_S),
    untilS,
    onlyMeShare: numberOf(members, 'onlyMeShare', 0),
    hiddenShare: numberOf(members, 'hiddenShare', 0),
  }
}

const createAthlete = (strava: LocalStrava, members: Members): Athlete => {
  const id = idOf(members, 'id')
  return strava.athletes.create({
    firstname: textOf(members, 'firstname', 'Ada'),
    lastname: textOf(members, 'lastname', 'Loopback'),
    createdAtS: strava.clock.seconds(),
    generator: generatorOf(strava, membersOf(members['generated'])),
    ...(id !== undefined && { id }),
  })
}

/** Reads the members of an activity. Absent members keep the value of `base`. */
const activityOf = (base: Activity, members: Members): Activity => ({
  ...base,
  name: textOf(members, 'name', base.name),
  sportType: textOf(members, 'sport_type', base.sportType),
  startS: secondsOf(members, 'start', base.startS),
  utcOffsetS: numberOf(members, 'utc_offset', base.utcOffsetS),
  isStartHidden: flagOf(members, 'hide_start', base.isStartHidden),
  distance: numberOf(members, 'distance', base.distance),
  elevation:
    members['elevation'] === null
      ? null
      : base.elevation === null && members['elevation'] === undefined
        ? null
        : numberOf(members, 'elevation', base.elevation ?? 0),
  movingS: numberOf(members, 'moving_time', base.movingS),
  elapsedS: numberOf(members, 'elapsed_time', base.elapsedS),
  visibility: choiceOf(members, 'visibility', VISIBILITIES, base.visibility),
})

const newActivity = (strava: LocalStrava, athlete: Athlete, members: Members): Activity =>
  activityOf(
    {
      id: idOf(members, 'id') ?? strava.athletes.nextActivityId(),
      athlete: athlete.id,
      name: 'Morning Ride',
      sportType: 'Ride',
      startS: strava.clock.seconds(),
      utcOffsetS: 0,
      isStartHidden: false,
      distance: 10_000,
      elevation: 100,
      movingS: 1_800,
      elapsedS: 2_000,
      visibility: 'everyone',
    },
    members,
  )

const athleteOf = (strava: LocalStrava, { params }: Call): Athlete => {
  const athlete = strava.athletes.get(params['id'] ?? '')
  if (athlete === undefined)
    throw new Error(`There is no athlete ${params['id']}. Create the athlete with POST /control/athletes.`)
  return athlete
}

const describe = (strava: LocalStrava, athlete: Athlete): Readonly<Record<string, unknown>> => {
  const grant = strava.tokens.grantOfAthlete(athlete.id)
  return {
    id: athlete.id,
    firstname: athlete.firstname,
    lastname: athlete.lastname,
    generated: athlete.generator.count,
    isLinked: grant !== undefined,
    scopes: grant === undefined ? [] : [...grant.scopes],
  }
}

/** Control routes of athletes and activities. Ids in control requests and answers are strings. */
export const controlAthleteRoutes = (strava: LocalStrava): readonly Route[] => [
  {
    method: 'POST',
    path: '/control/athletes',
    handle: ({ body }) => {
      const members = membersOf(body)
      const many = numberOf(members, 'athletes', 1)
      const ids = Array.from({ length: many }, () => createAthlete(strava, members).id)
      return json({ id: ids[0], ids }, 201)
    },
  },
  {
    method: 'GET',
    path: '/control/athletes',
    handle: () => json([...strava.athletes.all()].map((athlete) => describe(strava, athlete))),
  },
  { method: 'GET', path: '/control/athletes/{id}', handle: (call) => json(describe(strava, athleteOf(strava, call))) },
  {
    method: 'POST',
    path: '/control/athletes/{id}/grant',
    handle: (call) => {
      const scopes = textsOf(membersOf(call.body), 'scopes') ?? ['read', 'activity:read_all']
      const { access, refresh, expiresAt } = strava.tokens.grant(athleteOf(strava, call).id, scopes)
      return json({ access_token: access, refresh_token: refresh, expires_at: expiresAt }, 201)
    },
  },
  {
    method: 'POST',
    path: '/control/athletes/{id}/revoke',
    handle: (call) => {
      const grant = strava.tokens.grantOfAthlete(athleteOf(strava, call).id)
      if (grant === undefined) throw new Error(`The athlete ${call.params['id']} has not authorized the application.`)
      endGrant(strava, grant, true)
      return json({})
    },
  },
  {
    method: 'POST',
    path: '/control/athletes/{id}/activities',
    handle: (call) => {
      const activity = newActivity(strava, athleteOf(strava, call), membersOf(call.body))
      const before = strava.athletes.activity(activity.id)
      if (before !== undefined) throw new Error(`The activity ${activity.id} exists already. Choose another id.`)
      strava.athletes.put(activity)
      announceActivity(strava, undefined, activity)
      return json({ id: activity.id }, 201)
    },
  },
  {
    method: 'PATCH',
    path: '/control/activities/{id}',
    handle: ({ params, body }) => {
      const before = strava.athletes.activity(params['id'] ?? '')
      if (before === undefined) return activityNotFound()
      const after = activityOf(before, membersOf(body))
      strava.athletes.put(after)
      announceActivity(strava, before, after)
      return json({ id: before.id })
    },
  },
  {
    method: 'DELETE',
    path: '/control/activities/{id}',
    handle: ({ params }) => {
      const before = strava.athletes.activity(params['id'] ?? '')
      if (before === undefined) return activityNotFound()
      strava.athletes.remove(before.id)
      announceActivity(strava, before, undefined)
      return json({})
    },
  },
]
