import type { Event } from '../../schemas/event.ts'
import type { AuditNotedData } from '../../schemas/generated/activities.ts'
import { eventMeta } from '../http/event-meta.ts'
import { NOTE_SOURCE, type AnsweredRequest, type Note, type NotedAnswer } from '../http/notes.ts'
import { derivedId } from '../ids.ts'
import type { Refs } from './refs.ts'

/** The audited requests, by method and route, with the type of their audit. */
const AUDITED: Readonly<Record<string, string>> = {
  'POST /auth/session': 'AUTH_LOGIN',
  'POST /auth/logout': 'AUTH_LOGOUT',
  'POST /v1/tokens': 'TOKEN_CREATE',
  'DELETE /v1/tokens/:id': 'TOKEN_REVOKE',
  'GET /strava/connect': 'STRAVA_CONNECT_STARTED',
  'GET /strava/callback': 'STRAVA_CONNECT',
  'DELETE /strava/connection': 'STRAVA_DISCONNECT',
  'POST /strava/backfill': 'STRAVA_BACKFILL',
  'POST /milestones': 'MILESTONE_CREATE',
  'POST /milestones/:id/recompute': 'MILESTONE_RECOMPUTE',
  'DELETE /milestones/:id': 'MILESTONE_ARCHIVE',
  'POST /models': 'MODEL_PUBLISH',
  'DELETE /models/:id': 'MODEL_RETIRE',
  'DELETE /account': 'ACCOUNT_DELETE',
}

/** Returns the function that audits the requests that change something. `refs`: undefined until the pepper was read. Then there is no hash of the address. */
export const auditNotes =
  (domain: string, refs: () => Refs | undefined): Note =>
  (request, answer) => {
    const { caller, method, route } = request
    const eventType = AUDITED[`${method} ${route}`]
    // A token of another domain signs in to that domain. A JWT signs in to all domains.
    if (eventType === undefined || caller === null || (caller.patId !== null && caller.domain !== domain))
      return undefined
    return eventOf(request, answer, { user: caller.user, eventType, refs: refs() })
  }

const eventOf = (
  { id: requestId, method, route: path, ip, now }: AnsweredRequest,
  { status, code }: NotedAnswer,
  { user, eventType, refs }: { readonly user: string; readonly eventType: string; readonly refs: Refs | undefined },
): Event => {
  const data: AuditNotedData = {
    eventType,
    result: code ?? (status < 400 ? 'OK' : String(status)),
    requestId,
    method,
    path,
    ipHash: refs?.of('ip', ip) ?? null,
  }
  const eventId = derivedId('audit', requestId)
  return {
    type: 'AuditNoted',
    meta: eventMeta({ eventId, user, now, source: NOTE_SOURCE, correlationId: requestId }),
    data,
    personal: null,
  }
}
