import { hash } from 'node:crypto'
import { sameHash } from '../http/auth.ts'
import { readCookie } from '../http/cookies.ts'
import { requireOrigin, type OurOrigins } from '../http/origin.ts'
import { Problem } from '../http/problem.ts'
import type { OpenSession, PresentedRequest, Scheme } from '../http/scheme.ts'
import { SESSION_COOKIE, type Sessions } from './sessions.ts'

export interface SessionParts extends OurOrigins {
  readonly sessions: Sessions
}

/**
 * Authenticates a request by the cookie of a session, if the request has no `Authorization`. A request that changes something also needs an
 * `Origin` of ours and the session's CSRF token, because browsers send the cookie with requests of other sites, too.
 */
export const sessionScheme = (parts: SessionParts): Scheme => ({
  name: 'session',
  description:
    'The cookie that POST /auth/session sets. A request that changes something also needs X-CSRF-Token and an Origin of this server.',
  openapi: { type: 'apiKey', in: 'cookie', name: `__Host-${SESSION_COOKIE}` },
  credentialsIn: (request) =>
    request.authorization === undefined ? readCookie(SESSION_COOKIE, request, parts.publicUrl) : undefined,
  async recognise(id, _now, request) {
    if (isChange(request)) requireOrigin(request, parts, true)
    const session = await findSession(parts.sessions, id)
    if (isChange(request)) requireCsrfToken(request, session.csrfToken)
    return { user: session.user, email: session.email, session }
  },
})

const isChange = ({ method }: PresentedRequest): boolean => method !== 'GET' && method !== 'HEAD'

const findSession = async (sessions: Sessions, id: string): Promise<OpenSession> => {
  const session = await sessions.find(id)
  if (session === undefined)
    throw new Problem(401, 'session-ended', 'The session is unknown or has ended. Sign in again.', {
      headers: { 'www-authenticate': 'Bearer' },
    })
  return { ...session, id, csrfToken: csrfTokenOf(id) }
}

/** The CSRF token of a session. It is derived from the id, so the server need not store it. The id cannot be computed from it. */
export const csrfTokenOf = (id: string): string => hash('sha256', `csrf\n${id}`, 'base64url')

const requireCsrfToken = ({ headers }: PresentedRequest, token: string): void => {
  const sent = headers['x-csrf-token']
  if (typeof sent === 'string' && sameHash(token, sent)) return
  throw new Problem(
    403,
    'csrf-refused',
    'A request with the cookie of a session that changes something needs the header X-CSRF-Token with the csrfToken of GET /auth/session.',
  )
}
