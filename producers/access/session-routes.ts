import { hashToken } from './pat.ts'
import { csrfTokenOf } from './session-scheme.ts'
import { SESSION_COOKIE, sessionId, type Session, type Sessions } from './sessions.ts'
import { Problem } from '../http/problem.ts'
import { action, question, type Reply, type Route } from '../http/route.ts'
import { credentialsOf } from '../http/scheme.ts'
import { bool, text } from '../http/schemas.ts'

/** A session ends 12 hours after its start. */
export const SESSION_MS = 12 * 3_600_000

const sessionAnswer = {
  type: 'object',
  required: ['userId', 'expiresAtUtc', 'csrfToken'],
  properties: { userId: text, expiresAtUtc: text, csrfToken: text },
} as const

const viewOf = ({ user, expiresAt }: Session, id: string) => ({
  userId: user,
  expiresAtUtc: new Date(expiresAt).toISOString(),
  csrfToken: csrfTokenOf(id),
})

const ended: Reply = { status: 200, json: { ended: true }, cookies: [{ name: SESSION_COOKIE, value: '', maxAge: 0 }] }

/** The routes by which a person signs in, in a browser, and signs out. Every domain has these routes, on the same paths. */
export const sessionRoutes = (sessions: Sessions): readonly Route[] => [
  action({
    method: 'POST',
    url: '/auth/session',
    operationId: 'openSession',
    summary: 'Sign in: send a token in Authorization, and get the cookie of a new session.',
    scope: 'read',
    status: 201,
    result: sessionAnswer,
    async perform({ caller, headers, cookie, now, randomBytes }) {
      const token = credentialsOf('Bearer', headers.authorization ?? '')
      if (token === undefined) throw bearerMissing()
      const { user, patId, email = null } = caller
      const session: Session = {
        user,
        token: patId === null ? null : { domain: caller.domain, hash: hashToken(token) },
        email,
        openedAt: now,
        expiresAt: now + SESSION_MS,
      }
      // The id is always new. A session whose id an attacker chose or knows never becomes the session of the person.
      const id = sessionId(session.token?.domain ?? null, randomBytes(32))
      const previous = cookie(SESSION_COOKIE)
      if (previous !== undefined) await sessions.end(previous)
      await sessions.open(id, session)
      return {
        status: 201,
        json: viewOf(session, id),
        cookies: [{ name: SESSION_COOKIE, value: id, maxAge: SESSION_MS / 1000 }],
      }
    },
  }),
  question({
    method: 'GET',
    url: '/auth/session',
    operationId: 'getSession',
    summary: 'Get your session and its CSRF token.',
    result: sessionAnswer,
    async answer({ caller: { session } }) {
      if (session === undefined) throw sessionMissing()
      return viewOf(session, session.id)
    },
  }),
  action({
    method: 'POST',
    url: '/auth/logout',
    operationId: 'endSession',
    summary: 'Sign out: end your session.',
    scope: 'read',
    status: 200,
    result: { type: 'object', required: ['ended'], properties: { ended: bool } },
    async perform({ cookie }) {
      const id = cookie(SESSION_COOKIE)
      if (id !== undefined) await sessions.end(id)
      return ended
    },
  }),
]

const CHALLENGE = { headers: { 'www-authenticate': 'Bearer' } }

const bearerMissing = (): Problem =>
  new Problem(
    401,
    'token-missing',
    'To sign in, send Authorization: Bearer <token>. A cookie is not enough.',
    CHALLENGE,
  )

const sessionMissing = (): Problem =>
  new Problem(
    401,
    'session-missing',
    'The request does not use the cookie of a session. Sign in with POST /auth/session, then send the cookie without Authorization.',
    CHALLENGE,
  )
