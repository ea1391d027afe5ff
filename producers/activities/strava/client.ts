import type { ReportedUse } from '../../../projections/ask.ts'
import { memberOf, textMember } from '../../json-member.ts'
import type { ActivityFetchedPersonal } from '../../../schemas/generated/activities.ts'
import { readActivity } from './activity.ts'
import { failureOf, type StravaFailure } from './failure.ts'
import { parseStravaJson, stravaId } from './json.ts'
import { useAtLimit, useIn } from './limits.ts'

/** The application that is registered with Strava, and the addresses of Strava. */
export interface StravaApplication {
  /** The URL in front of `/athlete` and `/activities`. */
  readonly api: string
  /** The URL in front of `/authorize`, `/token` and `/revoke`. */
  readonly oauth: string
  readonly clientId: string
  readonly clientSecret: string
}

/** The answer of Strava to one request: the result, or the reason why there is none. */
export type StravaAnswer<T> = ({ readonly result: T } | { readonly failure: StravaFailure }) & {
  /** The use of the rate limits, as the answer reports it. */
  readonly use: readonly ReportedUse[]
}

export interface Athlete {
  readonly athleteId: string
  readonly name: string
}

/** The tokens of an athlete. `expiresAt`: epoch milliseconds. */
export interface TokenPair {
  readonly access: string
  readonly refresh: string
  readonly expiresAt: number
}

/** The tokens of a new connection. `athlete` and `scope` are absent if the answer does not contain them. */
export interface GrantedTokens extends TokenPair {
  readonly athlete: Athlete | undefined
  readonly scope: string | undefined
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/** Calls Strava. No call throws: a broken connection is a failure of the kind `unavailable`. */
export interface StravaClient {
  athlete(access: string, options?: CallOptions): Promise<StravaAnswer<Athlete>>
  activity(access: string, id: string, options?: CallOptions): Promise<StravaAnswer<ActivityFetchedPersonal>>
  /** The activities that began before this time, the latest first. At most `PAGE_SIZE`. `beforeS`: epoch seconds. */
  activities(
    access: string,
    beforeS: number,
    options?: CallOptions,
  ): Promise<StravaAnswer<readonly ActivityFetchedPersonal[]>>
  /** Exchanges the code of the callback for tokens. */
  exchange(code: string): Promise<StravaAnswer<GrantedTokens>>
  refresh(refreshToken: string, options?: CallOptions): Promise<StravaAnswer<TokenPair>>
  /** Revokes an access or refresh token, and with it the other token of the pair. */
  revoke(token: string, options?: CallOptions): Promise<StravaAnswer<true>>
}

/** The largest page that Strava returns. */
export const PAGE_SIZE = 200

const TIMEOUT_MS = 10_000

export const createStravaClient = (
  { api, oauth, clientId, clientSecret }: StravaApplication,
  { timeoutMs = TIMEOUT_MS, fetch: send = fetch }: { readonly timeoutMs?: number; readonly fetch?: typeof fetch } = {},
): StravaClient => {
  const call = async <T>(
    url: string,
    init: RequestInit,
    read: (body: unknown) => T | undefined,
    signal?: AbortSignal,
  ) => {
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      const response = await send(url, {
        ...init,
        redirect: 'error',
        signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      })
      return answerOf(response, await response.text(), read)
    } catch (error) {
      return unavailable(0, timeout.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(error))
    }
  }
  const get = <T>(path: string, access: string, read: (body: unknown) => T | undefined, { signal }: CallOptions = {}) =>
    call(`${api}${path}`, { headers: { authorization: `Bearer ${access}`, accept: 'application/json' } }, read, signal)
  const token = <T>(
    form: Readonly<Record<string, string>>,
    read: (body: unknown) => T | undefined,
    options?: CallOptions,
  ) =>
    call(
      `${oauth}/token`,
      { method: 'POST', body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret, ...form }) },
      read,
      options?.signal,
    )
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
  return {
    athlete: (access, options) => get('/athlete', access, readAthlete, options),
    activity: (access, id, options) => get(`/activities/${id}`, access, readActivity, options),
    activities: (access, beforeS, options) =>
      get(`/athlete/activities?before=${beforeS}&per_page=${PAGE_SIZE}`, access, readActivities, options),
    exchange: (code) => token({ grant_type: 'authorization_code', code }, readGranted),
    refresh: (refreshToken, options) =>
      token({ grant_type: 'refresh_token', refresh_token: refreshToken }, readTokens, options),
    revoke: (revoked, { signal } = {}) =>
      call(
        `${oauth}/revoke`,
        { method: 'POST', headers: { authorization: basic }, body: new URLSearchParams({ token: revoked }) },
        () => true as const,
        signal,
      ),
  }
}

const answerOf = <T>(
  { ok, status, headers }: Response,
  text: string,
  read: (body: unknown) => T | undefined,
): StravaAnswer<T> => {
  const [use, body] = [useIn(headers), parsed(text)]
  if (!ok) {
    const failure = failureOf(status, body)
    return { failure, use: failure.kind === 'rate-limited' ? useAtLimit(use) : use }
  }
  const result = read(body)
  return result === undefined
    ? { ...unavailable(status, 'the answer has another form than documented'), use }
    : { result, use }
}

const unavailable = (status: number, detail: string) => ({
  failure: { kind: 'unavailable', status, detail } as const,
  use: [],
})

const parsed = (text: string): unknown => {
  try {
    return parseStravaJson(text)
  } catch {
    return undefined
  }
}

/** The code of a network error such as ECONNRESET, which `fetch` has as the cause of its error. */
const reasonOf = (error: unknown): string =>
  textMember(memberOf(error, 'cause'), 'code') || textMember(error, 'name') || 'no connection'

const readAthlete = (body: unknown): Athlete | undefined => {
  const athleteId = stravaId(memberOf(body, 'id'))
  const name = [textMember(body, 'firstname'), textMember(body, 'lastname')].filter((each) => each !== '').join(' ')
  return athleteId === undefined ? undefined : { athleteId, name: name.slice(0, MOST_NAME).toWellFormed() }
}

const MOST_NAME = 200

/** Undefined if the body is not a list of at most `PAGE_SIZE`, or if one of its activities cannot be read. */
const readActivities = (body: unknown): readonly ActivityFetchedPersonal[] | undefined => {
  if (!Array.isArray(body) || body.length > PAGE_SIZE) return undefined
  const activities = body.map(readActivity).filter((activity) => activity !== undefined)
  return activities.length === body.length ? activities : undefined
}

const readTokens = (body: unknown): TokenPair | undefined => {
  const [access, refresh, expiresAtS] = [
    textMember(body, 'access_token'),
    textMember(body, 'refresh_token'),
    memberOf(body, 'expires_at'),
  ]
  return access === '' || refresh === '' || typeof expiresAtS !== 'number' || !Number.isFinite(expiresAtS)
    ? undefined
    : { access, refresh, expiresAt: Math.trunc(expiresAtS) * 1000 }
}

const readGranted = (body: unknown): GrantedTokens | undefined => {
  const tokens = readTokens(body)
  const scope = textMember(body, 'scope')
  return (
    tokens && { ...tokens, athlete: readAthlete(memberOf(body, 'athlete')), scope: scope === '' ? undefined : scope }
  )
}
