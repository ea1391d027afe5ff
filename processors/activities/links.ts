import type { ConnectionItem, GoneProfileItem, ProfileItem, SagaItem } from '../../projections/activities/items.ts'
import {
  athleteKey,
  athletePartition,
  connections,
  goneProfiles,
  profiles,
  sagas,
  stravaSubject,
} from '../../projections/activities/keys.ts'
import { refuse } from '../../projections/activities/refusals.ts'
import { userPartition } from '../../projections/access/keys.ts'
import { isoOf, msOf } from '../../projections/instant.ts'
import { bare } from '../../projections/item.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import type {
  StravaAthleteLinked,
  StravaAthleteUnlinked,
  StravaTokenLost,
  StravaTokenRefreshed,
} from '../../schemas/generated/activities.ts'
import { startWork, type Work } from '../folding/work.ts'
import { idOf, isReference, readable } from './bodies.ts'
import { isPerson, noConnection, openConnection, refusedFor, wrongLogKey } from './connections.ts'
import { DAY_MS, dueAfter } from './instants.ts'
import { armBackfill, armResync, armResyncTimer } from './listings.ts'
import { forgetRefusedLink, releaseClaim, startErasure } from './saga.ts'

/** The claim succeeded. A link that cannot be used, such as a second one, is released again, and its data is forgotten. */
export const stravaAthleteLinked = (event: StravaAthleteLinked, get: Get): Result => {
  const { data, meta } = event
  const { key: user } = meta
  if (!isPerson(user) || !isReference(data.ref)) return wrongLogKey(user)
  const connection = get<ConnectionItem>(connections.key(user)) ?? noConnection(get, user)
  const current = openConnection(get, user)
  const work = startWork(get)
  if (current?.epoch === data.epoch && current.ref === data.ref) linkAgain(work, event, current)
  else if (data.epoch > connection.lastEpoch) {
    const isFree = current === undefined || current.epoch === 0
    const isUsable = isFree && refusedFor(get, user) === undefined && get<SagaItem>(sagas.key(user)) === undefined
    if (isUsable) link(work, event, bare(connection))
    else reject(work, event, current)
  }
  return work.result()
}

/**
 * Releases the athlete, and forgets the data of the link. Its number is never used again, because its key is destroyed. If the athlete is the one
 * of the current link, the current link claims it again.
 */
const reject = (work: Work, event: StravaAthleteLinked, current: ConnectionItem | undefined): void => {
  const { data, meta } = event
  if (current?.ref === data.ref) claimAgain(work, event, current)
  else releaseClaim(work, meta.key, data)
  forgetRefusedLink(work, event, data.epoch)
  const gone = work.get<GoneProfileItem>(goneProfiles.key(meta.key))
  const isGone = gone !== undefined && work.get<ProfileItem>(profiles.key(meta.key)) === undefined
  if (isGone) return work.put({ ...gone, epoch: data.epoch } satisfies GoneProfileItem)
  const connection = work.get<ConnectionItem>(connections.key(meta.key)) ?? noConnection(work.get, meta.key)
  work.put({ ...connection, lastEpoch: data.epoch } satisfies ConnectionItem)
}

const claimAgain = (work: Work, { meta: { key: user } }: StravaAthleteLinked, current: ConnectionItem): void => {
  const { ref, epoch, scopes, secretRef, secretVersion, expiresAtUtc, athleteId, athleteName } = current
  const link = { epoch, scopes, secretRef, secretVersion, expiresAt: msOf(expiresAtUtc) }
  work.derive({
    purpose: `claimed:${ref}:${epoch}`,
    event: {
      type: 'StravaAthleteClaimed',
      key: athleteKey(ref),
      data: { userId: user, ...link },
      ...(athleteId !== null && { personal: { athleteId, name: athleteName }, subjectId: stravaSubject(user, epoch) }),
    },
  })
}

const linkOf = ({ data, meta, personal }: StravaAthleteLinked) => {
  const athlete = readable(personal)
  const athleteId = idOf(athlete?.athleteId)
  return {
    status: 'CONNECTED',
    ref: data.ref,
    scopes: data.scopes.slice(0, MAX_SCOPES).map((scope) => scope.slice(0, MAX_TEXT)),
    missingScopes: [],
    epoch: data.epoch,
    secretRef: data.secretRef.slice(0, MAX_TEXT),
    secretVersion: data.secretVersion,
    expiresAtUtc: isoOf(data.expiresAt),
    linkedAtUtc: isoOf(meta.occurredAt),
    athleteId,
    athleteName: athlete?.name?.slice(0, MAX_TEXT) ?? null,
    ...(athleteId !== null && { GSI1PK: athletePartition(athleteId), GSI1SK: userPartition(meta.key) }),
  } as const
}

const MAX_SCOPES = 20
const MAX_TEXT = 200

const link = (work: Work, event: StravaAthleteLinked, before: ConnectionItem): void => {
  const { refuted: _, ...rest } = before
  const run = before.backfill.run + 1
  const backfill = { run, page: 0, before: null, done: false, fetched: 0 }
  const connection: ConnectionItem = { ...rest, ...linkOf(event), lastEpoch: event.data.epoch, backfill }
  work.put(connection)
  armBackfill(work, event, connection)
  armResyncTimer(work, event, connection)
}

/** The person has linked the same athlete again, after its token was lost. Nothing was erased. */
const linkAgain = (work: Work, event: StravaAthleteLinked, before: ConnectionItem): void => {
  if (event.data.secretVersion <= before.secretVersion) return
  const { checking, refuted, ...rest } = before
  const last = checking?.last ?? refuted
  const connection: ConnectionItem = { ...rest, ...linkOf(event), ...(last !== undefined && { refuted: last }) }
  work.put(connection)
  work.ask({ name: 'check', at: null })
  work.arm({ name: 'presumed', at: null })
}

export const stravaAthleteUnlinked = (event: StravaAthleteUnlinked, get: Get): Result => {
  const refused = refusedFor(get, event.meta.key)
  if (refused !== undefined) return refused
  const connection = openConnection(get, event.meta.key)
  if (connection === undefined || connection.epoch === 0 || connection.epoch !== event.data.epoch)
    return refuse('not-connected', 'There is no connection with Strava.')
  const work = startWork(get)
  startErasure(work, event, { connection, revoke: true, kind: 'erasure' })
  return work.result()
}

export const stravaTokenRefreshed = ({ data, meta }: StravaTokenRefreshed, get: Get): Result => {
  const before = openConnection(get, meta.key)
  if (before === undefined || before.epoch !== data.epoch || data.version <= before.secretVersion) return NOTHING
  const work = startWork(get)
  const isBack = before.status === 'REAUTH_REQUIRED'
  work.put({
    ...before,
    ...(isBack && { status: 'CONNECTED' }),
    secretRef: data.secretRef.slice(0, MAX_TEXT),
    secretVersion: data.version,
    expiresAtUtc: isoOf(data.expiresAt),
  } satisfies ConnectionItem)
  if (isBack) work.arm({ name: 'presumed', at: null })
  return work.result()
}

/** If the person does not connect again for this time, the connection counts as revoked. */
const REAUTH_MS = 7 * DAY_MS

/** Strava refused the refresh token. Nothing is erased yet. The calls are armed again, and wait until the person connects again. */
export const stravaTokenLost = (event: StravaTokenLost, get: Get): Result => {
  const { data, meta } = event
  const before = openConnection(get, meta.key)
  if (before === undefined || before.epoch !== data.epoch || data.version < before.secretVersion) return NOTHING
  const work = startWork(get)
  armBackfill(work, event, before)
  armResync(work, event, before)
  if (before.status !== 'CONNECTED') return work.result()
  work.put({ ...before, status: 'REAUTH_REQUIRED', secretVersion: data.version } satisfies ConnectionItem)
  work.arm({
    name: 'presumed',
    at: dueAfter(event, REAUTH_MS),
    event: { type: 'DeauthPresumed', key: meta.key, data: { epoch: data.epoch, asked: null, version: data.version } },
  })
  return work.result()
}
