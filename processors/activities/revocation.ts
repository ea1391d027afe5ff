import type { ConnectionItem } from '../../projections/activities/items.ts'
import { msOf } from '../../projections/instant.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import type {
  DeauthorisationChecked,
  DeauthPresumed,
  StravaWebhookReceived,
} from '../../schemas/generated/activities.ts'
import { startWork, type Work } from '../folding/work.ts'
import { openConnection } from './connections.ts'
import { DAY_MS, dueAfter } from './instants.ts'
import { startErasure } from './saga.ts'
import { queueOf } from './syncs.ts'

/** If the check of a revocation gets no answer for this time, the revocation counts as true. */
const CHECK_MS = 2 * DAY_MS

/**
 * A webhook reports that the athlete revoked the access. Anybody could have sent it, because Strava does not sign webhooks. So the program checks
 * the token before it erases data. Until then the edge hides all data from Strava. A revocation from before the link, or one that was refuted, is
 * ignored.
 */
export const checkRevocation = (work: Work, event: StravaWebhookReceived, eventTime: number): void => {
  const { key: user } = event.meta
  const connection = openConnection(work.get, user)
  if (connection === undefined || !isNew(connection, eventTime)) return
  const checking = { first: connection.checking?.first ?? eventTime, last: eventTime }
  work.put({ ...connection, status: 'REVOKING', checking } satisfies ConnectionItem)
  work.ask({
    name: 'check',
    at: dueAfter(event),
    kind: 'check',
    body: { epoch: connection.epoch, asked: eventTime },
    queue: queueOf(user),
    priority: 1,
  })
  if (connection.checking !== undefined) return
  work.arm({
    name: 'presumed',
    at: dueAfter(event, CHECK_MS),
    event: { type: 'DeauthPresumed', key: user, data: { epoch: connection.epoch, asked: eventTime, version: null } },
  })
}

const isNew = ({ linkedAtUtc, checking, refuted }: ConnectionItem, eventTime: number): boolean =>
  eventTime >= Math.floor(msOf(linkedAtUtc) / 1000) &&
  eventTime > Math.max(checking?.last ?? -Infinity, refuted ?? -Infinity)

/** The result of the check. */
export const deauthorisationChecked = (event: DeauthorisationChecked, get: Get): Result => {
  const { data, meta } = event
  const connection = openConnection(get, meta.key)
  if (connection?.checking === undefined || connection.epoch !== data.epoch) return NOTHING
  const work = startWork(get)
  if (data.verdict === 'gone') startErasure(work, event, { connection, revoke: false, kind: 'erasure' })
  else if (data.asked >= connection.checking.last) {
    const { checking, ...rest } = connection
    work.put({ ...rest, status: 'CONNECTED', refuted: checking.last } satisfies ConnectionItem)
    work.ask({ name: 'check', at: null })
    work.arm({ name: 'presumed', at: null })
  }
  return work.result()
}

/** Nobody answered in time: the connection counts as revoked. */
export const deauthPresumed = (event: DeauthPresumed, get: Get): Result => {
  const { data, meta } = event
  const connection = openConnection(get, meta.key)
  const work = startWork(get)
  if (connection === undefined || connection.epoch !== data.epoch) return NOTHING
  const { status, checking, secretVersion } = connection
  const isCurrent =
    data.version === null
      ? checking !== undefined && checking.first === data.asked
      : status === 'REAUTH_REQUIRED' && secretVersion === data.version
  if (isCurrent) startErasure(work, event, { connection, revoke: false, kind: 'erasure' })
  return work.result()
}
