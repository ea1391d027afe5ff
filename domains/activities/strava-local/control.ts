import { json } from './answer.ts'
import { controlAthleteRoutes } from './control-athletes.ts'
import { controlWebhookRoutes } from './control-webhooks.ts'
import { FAULT_KINDS, type Fault } from './faults.ts'
import { choiceOf, flagOf, membersOf, numberOf, secondsOf, textOf, textsOf, type Members } from './fields.ts'
import { answerConsent } from './oauth.ts'
import type { Load } from './load.ts'
import type { Route } from './router.ts'
import { applySettings } from './settings.ts'
import type { Consent, LocalStrava } from './strava.ts'

const consentOf = (strava: LocalStrava, members: Members): Consent => {
  const athlete = textOf(members, 'athlete', '')
  if (strava.athletes.get(athlete) === undefined)
    throw new Error(`There is no athlete "${athlete}". Create the athlete with POST /control/athletes.`)
  const scopes = textsOf(members, 'scopes')
  return { athlete, isDenied: flagOf(members, 'deny', false), ...(scopes !== undefined && { scopes }) }
}

const clockBody = ({ clock }: LocalStrava) =>
  json({ now: new Date(clock.now()).toISOString(), isRunning: clock.isRunning() })

/** Changes the clock by `now` (an ISO instant), `advanceMs` and `isRunning`. */
const changeClock = ({ clock }: LocalStrava, members: Members): void => {
  const now = members['now'] === undefined ? clock.now() : secondsOf(members, 'now', 0) * 1000
  clock.set({
    now: now + numberOf(members, 'advanceMs', 0),
    isRunning: flagOf(members, 'isRunning', clock.isRunning()),
  })
}

const faultOf = (members: Members): Fault => {
  const method = textOf(members, 'method', '')
  return {
    kind: choiceOf(members, 'kind', FAULT_KINDS, 'status'),
    path: textOf(members, 'path', '/activities/*'),
    status: numberOf(members, 'status', 500),
    ms: numberOf(members, 'ms', 0),
    ...(method !== '' && { method }),
    ...(members['body'] !== undefined && { body: members['body'] }),
  }
}

const consentRoutes = (strava: LocalStrava): readonly Route[] => [
  {
    method: 'PUT',
    path: '/control/consent',
    handle: ({ body }) => {
      strava.consent = consentOf(strava, membersOf(body))
      return json({})
    },
  },
  {
    method: 'DELETE',
    path: '/control/consent',
    handle: () => {
      strava.consent = undefined
      return json({})
    },
  },
  {
    method: 'POST',
    path: '/control/consent',
    handle: ({ body }) => {
      const members = membersOf(body)
      const fields = new Map(new URL(textOf(members, 'url', '')).searchParams)
      const answer = answerConsent(strava, fields, consentOf(strava, members))
      return answer.status === 302 ? json({ location: answer.headers?.['Location'] }) : answer
    },
  },
]

/** The control API. docs/strava-local.md describes each route. */
export const controlRoutes = (strava: LocalStrava, load: Load): readonly Route[] => [
  ...consentRoutes(strava),
  ...controlAthleteRoutes(strava),
  ...controlWebhookRoutes(strava, load),
  { method: 'GET', path: '/control/clock', handle: () => clockBody(strava) },
  {
    method: 'PUT',
    path: '/control/clock',
    handle: ({ body }) => {
      changeClock(strava, membersOf(body))
      return clockBody(strava)
    },
  },
  { method: 'GET', path: '/control/settings', handle: () => json(strava.settings) },
  {
    method: 'PUT',
    path: '/control/settings',
    handle: ({ body }) => {
      applySettings(strava.settings, membersOf(body))
      return json(strava.settings)
    },
  },
  { method: 'GET', path: '/control/faults', handle: () => json(strava.faults.left()) },
  {
    method: 'POST',
    path: '/control/faults',
    handle: ({ body }) => {
      const members = membersOf(body)
      strava.faults.add(faultOf(members), numberOf(members, 'count', 1))
      return json(strava.faults.left(), 201)
    },
  },
  {
    method: 'DELETE',
    path: '/control/faults',
    handle: () => {
      strava.faults.clear()
      return json({})
    },
  },
  {
    method: 'GET',
    path: '/control/counters',
    handle: () => json({ usage: strava.limits.usage(), windows: strava.counters.read() }),
  },
  {
    method: 'PUT',
    path: '/control/usage',
    handle: ({ body }) => {
      const members = membersOf(body)
      const { quarter, day } = strava.limits.usage()
      strava.limits.setUsage({ quarter: numberOf(members, 'quarter', quarter), day: numberOf(members, 'day', day) })
      return json(strava.limits.usage())
    },
  },
  {
    method: 'DELETE',
    path: '/control/counters',
    handle: () => {
      strava.counters.clear()
      return json({})
    },
  },
]
