import { connections } from '../../projections/activities/keys.ts'
import { Problem } from '../http/problem.ts'
import { action, command, question, type ActionCall, type Route } from '../http/route.ts'
import { text } from '../http/schemas.ts'
import { openAccount, requireNotDeleting } from './account.ts'
import { claimAthlete, dropAbandoned, requireNotConnected, type GrantedAthlete } from './callback.ts'
import { CONNECT_SECONDS } from './connect-states.ts'
import { event, refused } from './params.ts'
import { grantedScopes, REQUESTED_SCOPES } from './scopes.ts'
import { demandStrava, type StravaEdge } from './strava-edge.ts'
import { statusAnswer, stravaStatus } from './strava-status.ts'
import type { StravaAnswer } from './strava/client.ts'

const COOKIE = 'strava_connect'
const CALLBACK = '/strava/callback'
/** Strava answers within 10 s, twice, and then the claim is folded. */
const CALLBACK_MS = 30_000

const wantsJson = ({ headers: { accept } }: ActionCall): boolean => accept?.includes('application/json') === true

const connect = (strava: StravaEdge | undefined): Route =>
  action({
    method: 'GET',
    url: '/strava/connect',
    operationId: 'connectStrava',
    summary: 'Connect with Strava: redirects to the consent of Strava, or answers its URL as JSON.',
    scope: 'write',
    admit: async (call) => {
      demandStrava(strava)
      return openAccount(call)
    },
    status: 200,
    redirects: { 302: 'To the consent of Strava.' },
    result: { type: 'object', required: ['url'], properties: { url: text } },
    perform: async (call) => {
      const { application, states, publicUrl } = demandStrava(strava)
      const { user, reader } = call.caller
      requireNotConnected(await connections.get(reader, user))
      await dropAbandoned(demandStrava(strava), call)
      const { state, cookie } = await states.create(user, call.now)
      const query = new URLSearchParams({
        client_id: application.clientId,
        redirect_uri: `${publicUrl ?? `http://${call.headers.host ?? 'localhost'}`}${CALLBACK}`,
        response_type: 'code',
        approval_prompt: 'auto',
        scope: REQUESTED_SCOPES.join(','),
        state,
      })
      const url = `${application.oauth}/authorize?${query.toString()}`
      const cookies = [{ name: COOKIE, value: cookie, maxAge: CONNECT_SECONDS }]
      return wantsJson(call) ? { status: 200, json: { url }, cookies } : { status: 302, location: url, cookies }
    },
  })

const parameter = { type: 'string', maxLength: 1_000 } as const

const callback = (strava: StravaEdge | undefined): Route =>
  action({
    method: 'GET',
    url: CALLBACK,
    operationId: 'finishConnectingStrava',
    summary: 'Strava sends the browser here after the consent. A client with a token can send the request itself.',
    scope: 'write',
    admit: async (call) => {
      demandStrava(strava)
      return openAccount(call)
    },
    query: {
      type: 'object',
      additionalProperties: true,
      properties: { state: parameter, code: parameter, scope: parameter, error: parameter },
    },
    status: 201,
    redirects: { 303: 'To the page of this server, after a browser has connected.' },
    result: stravaStatus.schema,
    answerMs: CALLBACK_MS,
    perform: async (call) => {
      const parts = demandStrava(strava)
      const { state = '', code = '', scope = '', error } = call.query as Readonly<Record<string, string | undefined>>
      const cookie = call.headers.authorization === undefined ? (call.cookie(COOKIE) ?? '') : undefined
      if (!(await parts.states.redeem(call.caller.user, { state, cookie })))
        throw new Problem(
          400,
          'state-invalid',
          'The state is unknown, was used before, is older than 10 minutes, or belongs to another person or browser. Start again: GET /strava/connect.',
        )
      if (error !== undefined) throw new Problem(403, 'strava-declined', 'You declined the connection at Strava.')
      requireNotConnected(await connections.get(call.caller.reader, call.caller.user))
      await claimAthlete(parts, call, await granted(parts, { code, scope }))
      const cookies = [{ name: COOKIE, value: '', maxAge: 0 }]
      return wantsJson(call) || call.headers.authorization !== undefined
        ? { status: 201, json: await statusAnswer(call), cookies }
        : { status: 303, location: '/docs', cookies }
    },
  })

/** Exchanges the code for tokens, and reads the athlete and the scopes. */
const granted = async (
  { client }: StravaEdge,
  { code, scope }: { readonly code: string; readonly scope: string },
): Promise<GrantedAthlete> => {
  // Some answers of Strava name the scopes only in the callback, some only with the tokens.
  if (scope !== '') demandScopes(scope)
  const tokens = resultOf(await client.exchange(code))
  const scopes = demandScopes(scope === '' ? (tokens.scope ?? '') : scope)
  const { athleteId, name } = tokens.athlete ?? resultOf(await client.athlete(tokens.access))
  return { tokens, athleteId, name, scopes }
}

const demandScopes = (list: string): readonly string[] => {
  const scopes = grantedScopes(list)
  if (scopes !== undefined) return scopes
  throw new Problem(
    409,
    'scope-declined',
    'You did not allow this program to read your activities. Connect again and leave the boxes of the consent checked.',
  )
}

const resultOf = <T>(answer: StravaAnswer<T>): T => {
  if ('result' in answer) return answer.result
  const { status, detail } = answer.failure
  throw new Problem(
    502,
    'strava-unavailable',
    `Strava did not confirm the connection (${status === 0 ? 'no answer' : `status ${status}`}${detail && `, ${detail}`}). Connect again.`,
  )
}

const status = (strava: StravaEdge | undefined): Route =>
  question({
    method: 'GET',
    url: '/strava/status',
    operationId: 'getStravaStatus',
    summary: 'Get the state of your connection with Strava, and the progress of the backfill.',
    admit: async (call) => {
      demandStrava(strava)
      return requireNotDeleting(call)
    },
    result: stravaStatus.schema,
    answer: statusAnswer,
  })

const notConnected = () => refused('not-connected', 'You are not connected with Strava. Connect: GET /strava/connect.')

const disconnect = (strava: StravaEdge | undefined): Route =>
  command({
    method: 'DELETE',
    url: '/strava/connection',
    operationId: 'disconnectStrava',
    summary: 'Disconnect from Strava: erases everything that came from Strava. Your awards stay.',
    admit: async (call) => {
      demandStrava(strava)
      return openAccount(call)
    },
    status: 200,
    result: { type: 'object', required: ['status'], properties: { status: { type: 'string', enum: ['REVOKING'] } } },
    decide: async ({ caller: { reader, user } }) => {
      const connection = await connections.get(reader, user)
      if (connection === undefined || connection.status === 'NONE' || connection.status === 'REVOKED')
        throw notConnected()
      return { draft: event('StravaAthleteUnlinked', { epoch: connection.epoch }) }
    },
    answer: async () => ({ status: 'REVOKING' }),
  })

const backfill = (strava: StravaEdge | undefined): Route =>
  action({
    method: 'POST',
    url: '/strava/backfill',
    operationId: 'backfillStrava',
    summary: 'Fetch all your activities again. GET /strava/status shows the progress.',
    admit: async (call) => {
      demandStrava(strava)
      return openAccount(call)
    },
    status: 202,
    result: stravaStatus.schema,
    perform: async (call) => {
      const connection = await connections.get(call.caller.reader, call.caller.user)
      if (connection?.status !== 'CONNECTED') throw notConnected()
      await call.append({ draft: event('BackfillRequested', { run: connection.backfill.run + 1 }) })
      return { status: 202, json: await statusAnswer(call) }
    },
  })

/** The routes of the connection with Strava. Undefined: Strava is not configured, and the routes answer 404. */
export const stravaRoutes = (strava: StravaEdge | undefined): readonly Route[] =>
  [connect, callback, status, disconnect, backfill].map((route) => route(strava))
