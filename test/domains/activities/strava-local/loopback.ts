import { expect } from 'vitest'
import { stravaLocal } from '../../../../domains/activities/strava-local/service.ts'

export const START = '2026-05-01T10:07:00Z'
const REDIRECT = 'http://127.0.0.1:9/callback'

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON. Ids of 17 digits lose digits: compare `text` for them. */
  readonly body: Record<string, unknown>
}

const parse = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

const answered = async (response: Response): Promise<Answered> => {
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parse(text) }
}

/** A running service whose clock stands at `START`, with the calls that an application and a test make. */
export const startLoopback = async () => {
  const service = await stravaLocal.start({ port: 0 })
  const client = {
    id: service.variables['TRIBUTARY_STRAVA_CLIENT_ID'] ?? '',
    secret: service.variables['TRIBUTARY_STRAVA_CLIENT_SECRET'] ?? '',
  }
  const control = async (method: string, path: string, body?: unknown): Promise<Answered> => {
    const answer = await answered(
      await fetch(`${service.url}/control${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }),
    )
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${String(answer.body['message'])}`)
    return answer
  }
  const api = async (path: string, token: string): Promise<Answered> =>
    answered(
      await fetch(`${service.variables['TRIBUTARY_STRAVA_API']}${path}`, {
        headers: { authorization: `Bearer ${token}` },
      }),
    )
  const oauth = async (
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Answered> =>
    answered(
      await fetch(`${service.variables['TRIBUTARY_STRAVA_OAUTH']}${path}`, {
        method: 'POST',
        body: new URLSearchParams(fields),
        headers,
      }),
    )
  const token = (fields: Record<string, string>) =>
    oauth('/token', { client_id: client.id, client_secret: client.secret, ...fields })
  const refresh = (refreshToken: unknown) => token({ grant_type: 'refresh_token', refresh_token: String(refreshToken) })
  const authorizeUrl = (scope: string, state = 's1') =>
    `${service.variables['TRIBUTARY_STRAVA_OAUTH']}/authorize?${new URLSearchParams({
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope,
      state,
    }).toString()}`
  const athlete = async (body: unknown = {}): Promise<string> =>
    String((await control('POST', '/athletes', body)).body['id'])
  const grant = async (id: string, ...scopes: string[]): Promise<{ access: string; refresh: string }> => {
    const { body } = await control('POST', `/athletes/${id}/grant`, scopes.length === 0 ? {} : { scopes })
    return { access: String(body['access_token']), refresh: String(body['refresh_token']) }
  }
  const activity = async (id: string, body: unknown = {}): Promise<string> =>
    String((await control('POST', `/athletes/${id}/activities`, body)).body['id'])
  const setClock = (now: string) => control('PUT', '/clock', { now, isRunning: false })
  await setClock(START)
  return {
    ...service,
    client,
    redirect: REDIRECT,
    control,
    api,
    oauth,
    token,
    refresh,
    authorizeUrl,
    athlete,
    grant,
    activity,
    setClock,
    advance: (ms: number) => control('PUT', '/clock', { advanceMs: ms }),
  }
}

export type Loopback = Awaited<ReturnType<typeof startLoopback>>

/** Checks that an answer has Strava's error format with exactly one error. */
export const expectError = (
  answer: Answered,
  status: number,
  message: string,
  error: readonly [resource: string, field: string, code: string],
): void => {
  const [resource, field, code] = error
  expect({ status: answer.status, body: answer.body }).toEqual({
    status,
    body: { message, errors: [{ resource, field, code }] },
  })
}
